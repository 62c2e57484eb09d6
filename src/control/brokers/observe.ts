/** Reads all that decisions about one Kafka cluster depend on, from caches. */
import { isBeingDeleted, keyOf, nameOfKey } from '../../kube/object.ts';
import type { AnyObject, KubeObject } from '../../kube/object.ts';
import { kafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import type { KafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { kafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import type { KafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { kafka } from '../../resources/strimzi/kafka.ts';
import type { Kafka } from '../../resources/strimzi/kafka.ts';
import { strimziPodSet } from '../../resources/strimzi/strimzi-pod-set.ts';
import { MANAGED_BY } from '../kernel/field-manager.ts';
import { read } from '../kernel/read.ts';
import { hasLabelSet } from '../kernel/targets.ts';
import type { Watched } from '../kernel/watches.ts';
import { policiesSeen } from '../shared/name-policy.ts';
import type { Acted } from './act.ts';
import { portsOfNode } from './expose/ports.ts';
import { POOL_LABEL, anchorName, kafkaOf, podSelector, podSetName } from './model/names.ts';
import type { NameSight, OthersGrant, Promised } from './expose/grants.ts';
import { watchedNamespace } from './entities/home.ts';
import { isManaged } from './front/kafka.ts';
import { isOfUser } from './watches.ts';
import type { KafkaViews } from './watches.ts';

export type KafkaCaches = Pick<Watched<KafkaViews>, 'views' | 'undiscovered' | 'versionOf'>;

export interface Observed {
  namespace: string;
  name: string;
  /** Undefined if there is none, or none that can be read. */
  kafka: Kafka | undefined;
  /** Whether there is one, it asks to be run by this operator, and it stays. */
  isManaged: boolean;
  /** In the order of their names. */
  pools: readonly KafkaNodePool[];
  /** Resources that cannot be read, and why: nobody can tell what they want. */
  unreadable: readonly { object: KubeObject; problem: string }[];
  anchor: KafkaAnchor | undefined;
  podSets: readonly AnyObject[];
  /** In which pod sets are written. */
  podSetVersion: string;
  /** Of Kafka's nodes alone: other pods have the cluster's label, too. */
  pods: readonly AnyObject[];
  /** Sets and pods of nodes that another operator has made, by kind and name. */
  foreign: readonly string[];
  claims: readonly AnyObject[];
  services: readonly AnyObject[];
  /** DNS records of this cluster; undefined where nobody has installed their kind. */
  dnsEndpoints: readonly AnyObject[] | undefined;
  /** Ports of nodes that other Kafka clusters have. */
  otherHostPorts: ReadonlySet<number>;
  /** Names that other Kafka clusters have, and what policies say about this one's. */
  names: NameSight;
  /** With what they hold, by name. */
  secrets: ReadonlyMap<string, AnyObject>;
  /** The Secrets of its users, without what they hold. */
  users: readonly AnyObject[];
  /** Whether it is not known yet which kinds there are. */
  undiscovered: boolean;
  acted: Acted | undefined;
  /** What is in the ConfigMap that it has its logging from; undefined if there is none. */
  externalLogging: string | undefined;
  /** An id for a cluster that has none. */
  newClusterId: string;
  now: number;
}

type Brought = Pick<Observed, 'acted' | 'externalLogging' | 'newClusterId' | 'now'> & {
  /** By key: names that are about to be written down for a Kafka, so that none is given twice. */
  promised?: ReadonlyMap<string, Promised>;
};

export function observeKafka(
  { views, undiscovered, versionOf }: KafkaCaches,
  { namespace, name }: { namespace: string; name: string },
  { promised, ...brought }: Brought,
): Observed {
  const key = keyOf({ namespace, name });
  const unreadable: { object: KubeObject; problem: string }[] = [];
  const own = (view: { find(index: string, value: string): AnyObject[] } | undefined) =>
    (view?.find('kafka', key) ?? []).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const found = views.kafkas?.get(key);
  const reading = found && read(kafka, found);
  if (found && reading?.problem !== undefined) unreadable.push({ object: found, problem: reading.problem });
  const pools = own(views.nodePools)
    .filter((pool) => !isBeingDeleted(pool))
    .flatMap((object) => {
      const { resource, problem } = read(kafkaNodePool, object);
      if (problem !== undefined) unreadable.push({ object, problem });
      return resource ?? [];
    });
  const anchor = views.anchors?.get(keyOf({ namespace, name: anchorName(name) }));
  const anchored = anchor && read(kafkaAnchor, anchor);
  if (anchor && anchored?.problem !== undefined)
    unreadable.push({ object: anchor, problem: anchored.problem });
  const podSets = own(views.podSets).filter((set) => isNode(set, name) || isNamedLikeOurs(set, name, pools));
  const pods = own(views.pods).filter((pod) => isNode(pod, name));
  const secrets = own(views.secrets).flatMap(({ metadata }) => views.secrets.get(keyOf(metadata)) ?? []);
  return {
    namespace,
    name,
    kafka: reading?.resource,
    isManaged: found !== undefined && isManaged(found) && !isBeingDeleted(found),
    pools,
    unreadable,
    anchor: anchored?.resource,
    podSets: podSets.filter((set) => !isOfAnother(set)),
    podSetVersion: `${strimziPodSet.group}/${versionOf('podSets') ?? strimziPodSet.versions.at(-1)}`,
    pods: pods.filter((pod) => !isOfAnother(pod)),
    foreign: [...podSets, ...pods]
      .filter(isOfAnother)
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    claims: own(views.claims),
    services: own(views.services),
    dnsEndpoints: views.dnsEndpoints && own(views.dnsEndpoints),
    otherHostPorts: hostPortsOfOthers(views, key, anchor),
    users: usersOf(views, reading?.resource),
    secrets: new Map(secrets.map((secret) => [secret.metadata.name, secret])),
    // Without policies all else goes on, and nobody is granted names.
    undiscovered: [...undiscovered].some((kind) => kind !== 'namePolicies'),
    names: namesSeen({ views, undiscovered }, namespace, key, promised),
    ...brought,
  };
}

/** What other clusters wrote down, also of Kafkas that are gone; and what their pods have, whoever runs those. */
function hostPortsOfOthers(
  { anchors, pods }: Pick<KafkaViews, 'anchors' | 'pods'>,
  key: string,
  own: AnyObject | undefined,
): Set<number> {
  const others = (anchors?.list() ?? []).filter(({ metadata }) => metadata.uid !== own?.metadata.uid);
  const foreign = pods.list().filter((pod) => !kafkaOf(pod).includes(key));
  return new Set([...others.flatMap(portsWritten), ...foreign.flatMap(portsOfNode)]);
}

/** Not read as a whole: all anchors are looked at for each Kafka. */
function portsWritten({ spec }: AnyObject): number[] {
  const { ports } = (spec ?? {}) as { ports?: { port?: number }[] };
  return Array.isArray(ports) ? ports.flatMap(({ port }) => port ?? []) : [];
}

function usersOf({ secrets }: KafkaViews, home: Kafka | undefined): AnyObject[] {
  const namespace = home && watchedNamespace(home, 'userOperator');
  if (namespace === undefined) return [];
  return secrets.find('kafka', keyOf({ namespace, name: home!.metadata.name })).filter(isOfUser);
}

function namesSeen(
  { views, undiscovered }: Pick<KafkaCaches, 'views' | 'undiscovered'>,
  namespace: string,
  key: string,
  promised: Brought['promised'],
): NameSight {
  return {
    others: [...namesOfOthers(views, key), ...promisedTo(key, promised)],
    ...policiesSeen(views.namePolicies?.list() ?? [], undiscovered.has('namePolicies')),
    namespaceLabels: views.namespaces.get(namespace)?.metadata.labels ?? {},
  };
}

/** Of Kafkas that are still there: an anchor outlives its own, and then nobody claims its names. */
function namesOfOthers({ anchors, kafkas }: KafkaViews, own: string): OthersGrant[] {
  const written = (anchors?.list() ?? []).flatMap((anchor) => read(kafkaAnchor, anchor).resource ?? []);
  return written.flatMap(({ metadata: { namespace }, spec: { kafka: of, names } }) => {
    const key = keyOf({ namespace, name: of.name });
    const { uid } = kafkas?.get(key)?.metadata ?? {};
    if (key === own || uid === undefined || uid !== of.uid) return [];
    return names.map(({ name: _, ...grant }) => ({ ...grant, kafka: { namespace, name: of.name } }));
  });
}

const promisedTo = (own: string, promised: Brought['promised'] = new Map()): OthersGrant[] =>
  [...promised].flatMap(([key, { grants }]) => {
    const { namespace = '', name } = nameOfKey(key);
    return key === own ? [] : grants.map((grant) => ({ ...grant, kafka: { namespace, name } }));
  });

/** Whether an object is about the nodes of a Kafka. */
const isNode = (object: AnyObject, cluster: string) => hasLabelSet(object, podSelector(cluster));

/** Our own sets do without the label that says what they are about. */
const isNamedLikeOurs = ({ metadata }: AnyObject, cluster: string, pools: readonly KafkaNodePool[]) =>
  metadata.labels?.[POOL_LABEL] !== undefined ||
  pools.some((pool) => podSetName(cluster, pool.metadata.name) === metadata.name);

const [MANAGED_BY_LABEL, OURS] = Object.entries(MANAGED_BY)[0]!;

const isOfAnother = ({ metadata }: AnyObject) => (metadata.labels?.[MANAGED_BY_LABEL] ?? OURS) !== OURS;
