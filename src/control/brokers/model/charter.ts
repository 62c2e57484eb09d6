/**
 * What must never be forgotten of a cluster: its id, and which node ids there are. It is written down (in a KafkaAnchor) before anything
 * that depends on it is made, because a second id would be a second cluster, and a reused one somebody else's data.
 */
import type { NetworkKind, Role } from './cluster.ts';

export interface Charter {
  clusterId: string;
  /** Counts who is in charge: what an older one wrote is void. */
  epoch: number;
  nodes: readonly CharterNode[];
  /** What joins its Kubernetes clusters: nodes are known by names of it. */
  network?: NetworkKind | undefined;
  /** By name: the Kubernetes clusters that may have something of it, and what the network calls them. */
  targets: Readonly<Record<string, CharterTarget>>;
  /** Ports of nodes that are the cluster's as long as it is there, by what they are for. */
  hostPorts: Readonly<Record<string, number>>;
  /** Addresses of load balancers, by what they are for: clients may have been told. */
  addresses: Readonly<Record<string, readonly string[]>>;
  /** What brokers are called outside, by listener: theirs as long as it asks for them. */
  names: Readonly<Record<string, NameGrant>>;
  /** The restart that was begun, written down before the pod was deleted. */
  inFlight?: InFlight | undefined;
  /** How it is known which controllers vote; undefined while that may still be chosen. */
  quorum?: 'static' | DynamicQuorum | undefined;
}

/** Voters are in the metadata log and may change (KIP-853), instead of in the configuration of every node. */
export interface DynamicQuorum {
  /** The voters that the log begins with: each of their disks is formatted with all of them. */
  initial: readonly InitialVoter[];
  /** The change that was begun, written down before Kafka was asked for it. */
  change?: VoterChange | undefined;
}

/** A controller with one certain disk: with another one it has forgotten its vote, and is another voter. */
export interface Voter {
  id: number;
  directoryId: string;
}

export interface InitialVoter extends Voter {
  host: string;
  /** Whether its disk has been in use, or its node is gone: whoever has the id now joins as anybody else does. */
  used: boolean;
}

export interface VoterChange extends Voter {
  do: 'add' | 'remove';
  /** In ms since 1970. */
  since: number;
}

export interface CharterNode {
  id: number;
  pool: string;
  /** The Kubernetes cluster that it is in. */
  target: string;
  roles: readonly Role[];
  /** Whether it is to go once it is empty. */
  leaving: boolean;
  /** Whether it is to stay and to be no broker any more, once it is empty. */
  retiring?: boolean;
  /** Names of volumes that had data once: an empty one of these has lost it, and is not formatted again. */
  formatted: readonly string[];
}

/** A Kubernetes cluster that may have something of the Kafka. */
export interface CharterTarget {
  /** Undefined where there is no network. */
  networkId?: string | undefined;
}

/** The names of the brokers of one listener. */
export interface NameGrant {
  /** With `$(id)` in it. */
  pattern: string;
  /** Where clients begin, if that is not by the pattern. */
  bootstrap?: string;
  /** Since when they are granted; undefined for those that were, and that policies no longer allow. */
  since?: string;
  /** How many they are. */
  count: number;
}

/** A restart that was begun. */
export interface InFlight {
  node: number;
  podUid: string;
  /** In ms since 1970. */
  since: number;
  why: string;
  /** Another one that is not over either: its node may wait for this one, which was down when it was restarted. */
  earlier?: Omit<InFlight, 'earlier'> | undefined;
}

/** Whether a node is to have no replicas any more: it goes, or it is to be no broker. */
export const isEmptied = ({ leaving, retiring = false }: CharterNode): boolean => leaving || retiring;

/** Whether a node is a broker, as far as is known: one that was found by its disk may have been anything. */
export const mayBeBroker = ({ roles }: CharterNode): boolean =>
  roles.includes('broker') || roles.length === 0;

/** Whether the cluster has ever run. */
export const hasRun = ({ nodes }: Pick<Charter, 'nodes'>): boolean =>
  nodes.some(({ formatted }) => formatted.length > 0);

/** The same, where the volumes of one node may be formatted again. */
export const withoutData = (charter: Charter, node: number | undefined): Charter =>
  node === undefined
    ? charter
    : {
        ...charter,
        nodes: charter.nodes.map((one) => (one.id === node ? { ...one, formatted: [] } : one)),
        quorum: withUsed(charter.quorum, (id) => id === node),
      };

/** The same, where disks of initial voters have been in use. */
export const withUsed = (quorum: Charter['quorum'], isUsed: (id: number) => boolean): Charter['quorum'] =>
  quorum === undefined || quorum === 'static'
    ? quorum
    : { ...quorum, initial: quorum.initial.map((one) => ({ ...one, used: one.used || isUsed(one.id) })) };

/** The same, where a change of voters is begun, or none is. */
export function withChange(charter: Charter, change: VoterChange | undefined): Charter {
  const quorum = dynamicQuorumOf(charter);
  return quorum ? { ...charter, quorum: { initial: quorum.initial, ...(change && { change }) } } : charter;
}

export const dynamicQuorumOf = ({ quorum }: Pick<Charter, 'quorum'>): DynamicQuorum | undefined =>
  quorum === 'static' ? undefined : quorum;
