/** How it is known which controllers of a Kafka vote: chosen when it is made, and kept. Pure. */
import { createHash } from 'node:crypto';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import type { Fault } from '../faults.ts';
import { refusal } from '../front/node-faults.ts';
import { dynamicQuorumOf, hasRun } from '../model/charter.ts';
import type { Charter, CharterNode, InitialVoter } from '../model/charter.ts';
import type { BrokerCluster, ClusterQuorum } from '../model/cluster.ts';
import { CONTROL_PLANE_PORT } from '../model/names.ts';
import { hostOfNode } from '../stretch/network.ts';

export const QUORUM_ANNOTATION = 'isthmus.dev/quorum';
const PATH = ['metadata', 'annotations', QUORUM_ANNOTATION];
const KINDS = ['static', 'dynamic'];

export const isDynamic = ({ metadata }: Pick<Kafka, 'metadata'>): boolean =>
  metadata.annotations[QUORUM_ANNOTATION] === 'dynamic';

/** Whoever loses its disk with its pod is another voter each time: of one or two controllers no majority would be left. */
export const forgetfulFaults = (quorum: Charter['quorum'], pools: readonly string[]): Fault[] =>
  dynamicQuorumOf({ quorum })
    ? pools.map((pool) => ({ ...refusal('NotSupported', ['spec', 'storage'], `KafkaNodePool "${pool}": controllers that come and go (${QUORUM_ANNOTATION}: dynamic) vote with the disk that they have; give them persistent volumes`), pool })) // prettier-ignore
    : [];

/** Nodes, and what gives them their names. */
interface Asked {
  kafka: Kafka;
  charter: Charter;
  nodes: readonly CharterNode[];
  network: BrokerCluster['network'];
  targets: Charter['targets'];
}

export interface ChosenQuorum {
  /** To be written down. */
  quorum: Charter['quorum'];
  /** For nodes; undefined where their voters are all controllers, and stay the same. */
  ofCluster: ClusterQuorum | undefined;
  faults: Fault[];
}

const isController = ({ roles }: CharterNode) => roles.includes('controller');

export function chosenQuorum(asked: Asked): ChosenQuorum {
  const { kafka, charter, nodes } = asked;
  const written = kafka.metadata.annotations[QUORUM_ANNOTATION];
  const controllers = nodes.filter(isController);
  const quorum: Charter['quorum'] =
    charter.quorum ?? (isDynamic(kafka) ? firstQuorum(asked, controllers) : 'static');
  const faults = [...spellingFaults(written), ...changeFaults(charter, written), ...earlyFaults(charter, controllers)]; // prettier-ignore
  const dynamic = dynamicQuorumOf({ quorum });
  const ofCluster = dynamic && {
    controllers: controllers.map((node) => ({
      id: node.id,
      host: hostOf(asked, node),
      leaving: node.leaving,
    })),
    initial: dynamic.initial,
  };
  return { quorum, ofCluster, faults };
}

function hostOf({ kafka, network, targets }: Asked, { id, pool, target }: CharterNode): string {
  const { namespace, name } = kafka.metadata;
  return hostOfNode({ namespace, name, network }, { name: pool, networkId: targets[target]?.networkId }, id);
}

/** All disks of the first voters are formatted with the ids of all of them, so these are known before there is any disk. */
function firstQuorum(asked: Asked, controllers: readonly CharterNode[]) {
  const { clusterId } = asked.charter;
  const initial = controllers.map((node): InitialVoter => {
    const hash = createHash('sha256').update(`${clusterId} ${node.id}`).digest();
    const directoryId = hash.subarray(0, 16).toString('base64url');
    return { id: node.id, directoryId, host: hostOf(asked, node), used: false };
  });
  return { initial };
}

const spellingFaults = (written: string | undefined): Fault[] =>
  written === undefined || KINDS.includes(written)
    ? []
    : [refusal('Invalid', PATH, `quorum ${JSON.stringify(written)} is not known; use one of ${KINDS.join(', ')}`)]; // prettier-ignore

function changeFaults({ quorum }: Charter, written = 'static'): Fault[] {
  if (quorum === undefined || !KINDS.includes(written)) return [];
  const had = quorum === 'static' ? 'static' : 'dynamic';
  if (had === written) return [];
  const message =
    had === 'static'
      ? `its controllers are in the configuration of every node, as it was made; remove ${QUORUM_ANNOTATION}. To have controllers that come and go, make a new Kafka with ${QUORUM_ANNOTATION}: dynamic from the start, and mirror the data to it`
      : `its controllers are in its metadata log, as it was made; put ${QUORUM_ANNOTATION}: dynamic back`;
  return [refusal('ChangeNotPossible', PATH, message)];
}

/** Disks that were formatted with different sets of first voters would be two clusters. */
function earlyFaults(charter: Charter, controllers: readonly CharterNode[]): Fault[] {
  const dynamic = dynamicQuorumOf(charter);
  if (!dynamic || hasRun(charter)) return [];
  const ids = (some: readonly { id: number }[]) => some.map(({ id }) => id).join(', ');
  if (ids(dynamic.initial) === ids(controllers)) return [];
  const message = `it begins with controllers ${ids(dynamic.initial)}, and no node of it was ready yet; take the change of controllers back until it is Ready`;
  return [refusal('ChangeNotPossible', ['spec'], message)];
}

/** The servers at which nodes ask who leads. */
export const bootstrapServers = ({ controllers }: ClusterQuorum): string =>
  controllers.map(({ host }) => `${host}:${CONTROL_PLANE_PORT}`).join(',');

/**
 * How the disk of a controller is to be formatted, in the words of Kafka's own tool; undefined for all others. The log of a first voter
 * begins with all of them; whoever comes later copies the log, and is made a voter then.
 */
export function formatFlag({ initial }: ClusterQuorum, node: number): string {
  if (!initial.some(({ id, used }) => id === node && !used)) return '--no-initial-controllers';
  const voters = initial.map(
    ({ id, host, directoryId }) => `${id}@${host}:${CONTROL_PLANE_PORT}:${directoryId}`,
  );
  return `--initial-controllers=${voters.join(',')}`;
}

/** On pods: the controllers that their configuration named when they were made. */
export const CONTROLLERS_ANNOTATION = 'isthmus.dev/controllers';

export const controllersAnnotation = (quorum: ClusterQuorum | undefined): Record<string, string> =>
  quorum ? { [CONTROLLERS_ANNOTATION]: quorum.controllers.map(({ id }) => id).join(',') } : {};

/** As many of the controllers that stay as a node has to know by its configuration. */
const ENOUGH = 2;

/** Whether a node would not find the others after its next start, or after an election, because those it was told of go. */
export function knowsTooFew(
  quorum: ClusterQuorum | undefined,
  annotations: Readonly<Record<string, string>>,
): boolean {
  const told = annotations[CONTROLLERS_ANNOTATION]?.split(',');
  if (!quorum || !told) return false;
  const staying = quorum.controllers.filter(({ leaving }) => !leaving).map(({ id }) => String(id));
  const known = told.filter((id) => staying.includes(id));
  return known.length < Math.min(ENOUGH, staying.length, told.length);
}
