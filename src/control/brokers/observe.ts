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
import type { View, Watched } from '../kernel/watches.ts';
import { createHostIndex } from '../shared/host-index.ts';
import { policiesSeen } from '../shared/name-policy.ts';
import { addPublished } from '../shared/published-names.ts';
import { LOCAL } from '../kernel/plan.ts';
import { serviceExport } from '../../resources/multicluster/service-export.ts';
import type { Acted } from './act.ts';
import type { Fault } from './faults.ts';
import { STRETCH_FINALIZER } from './stretch/anchor.ts';
import { isInPlace, podNetworksOf, targetsOfPools } from './stretch/sight.ts';
import type { TargetSights } from './stretch/sight.ts';
import { portsOfNode, portsWritten, refusedPorts } from './expose/ports.ts';
import { POOL_LABEL, anchorName, kafkaOf, podSelector, podSetName } from './model/names.ts';
import type { NameSight } from './expose/grants.ts';
import { promisedToOthers } from './expose/promised.ts';
import type { OthersGrant, Promises } from './expose/promised.ts';
import { watchedNamespace } from './entities/home.ts';
import { isManaged } from './front/kafka.ts';
import { isOfUser } from './watches.ts';
import type { KafkaViews } from './watches.ts';

export type KafkaCaches = Pick<Watched<KafkaViews>, 'views' | 'undiscovered' | 'versionOf'> & {
  /** What is seen of a Kafka in other clusters; left out where none can be joined. */
  sightsOf?: ((name: { namespace: string; name: string }) => TargetSights | undefined) | undefined;
};

export interface Observed {
  namespace: string;
  name: string;
  /** Undefined if there is none, or none that can be read. */
  kafka: Kafka | undefined;
  /** Whether there is one, it asks to be run by this operator, and it stays. */
  isManaged: boolean;
  /** Whether it is on its way out, and waits for other clusters to be clean. */
  isLeaving: boolean;
  /** Other Kubernetes clusters, by name; undefined where none can be joined. */
  targets: TargetSights | undefined;
  /** By cluster: what stands in the way there. */
  targetFaults: ReadonlyMap<string, readonly Fault[]>;
  /** In which ServiceExports are written; undefined if the cluster does not have the kind. */
  exportVersion: string | undefined;
  /** In which Certificates of cert-manager are written; undefined if the cluster does not have the kind. */
  issuedVersion: string | undefined;
  /** Networks of pods in this cluster; undefined where nobody may read its nodes. */
  podNetworks: readonly string[] | undefined;
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
  targetFaults?: Observed['targetFaults'];
  /** Names that are about to be written down, so that none is given twice. */
  promised?: Promises;
};

export function observeKafka(
  { views, undiscovered, versionOf, sightsOf }: KafkaCaches,
  { namespace, name }: { namespace: string; name: string },
  { promised, targetFaults = new Map(), ...brought }: Brought,
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
  const targets = sightsOf?.({ namespace, name });
  const everywhere = (view: View | undefined, kind: 'podSets' | 'pods' | 'claims') =>
    inAllPlaces(own(view), targets, kind, anchored?.resource);
  const podSets = everywhere(views.podSets, 'podSets').filter(
    (set) => isNode(set, name) || isNamedLikeOurs(set, name, pools),
  );
  const pods = everywhere(views.pods, 'pods').filter((pod) => isNode(pod, name));
  const secrets = own(views.secrets).flatMap(({ metadata }) => views.secrets.get(keyOf(metadata)) ?? []);
  return {
    namespace,
    name,
    kafka: reading?.resource,
    isManaged: found !== undefined && isManaged(found) && !isBeingDeleted(found),
    isLeaving:
      found !== undefined &&
      isBeingDeleted(found) &&
      (found.metadata.finalizers ?? []).includes(STRETCH_FINALIZER),
    targets,
    targetFaults,
    exportVersion: versionIn(versionOf('exports'), serviceExport.group),
    issuedVersion: views.issued && versionIn(versionOf('issued'), 'cert-manager.io'),
    podNetworks: podNetworksOf(views.nodes?.list()),
    pools,
    unreadable,
    anchor: anchored?.resource,
    podSets: podSets.filter((set) => !isOfAnother(set)),
    podSetVersion: `${strimziPodSet.group}/${versionOf('podSets') ?? strimziPodSet.versions.at(-1)}`,
    pods: pods.filter((pod) => !isOfAnother(pod)),
    foreign: [...podSets, ...pods]
      .filter(isOfAnother)
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    claims: everywhere(views.claims, 'claims'),
    services: own(views.services),
    dnsEndpoints: views.dnsEndpoints && own(views.dnsEndpoints),
    otherHostPorts: new Set([
      ...hostPortsOfOthers(views, key, anchor),
      ...[...(targets?.values() ?? [])].flatMap(({ otherPorts }) => otherPorts),
      ...refusedPorts(targetFaults.values()),
    ]),
    users: usersOf(views, reading?.resource),
    secrets: new Map(secrets.map((secret) => [secret.metadata.name, secret])),
    undiscovered: [...undiscovered].some((kind) => !DISPENSABLE.has(kind)),
    names: namesSeen({ views, undiscovered }, namespace, key, promised),
    ...brought,
  };
}

/** Without policies all else goes on, and nobody is granted names; the others are for those who name an issuer, and for several clusters. */
const DISPENSABLE: ReadonlySet<string> = new Set(['namePolicies', 'issued', 'exports', 'nodes']);

const versionIn = (version: string | undefined, group: string) =>
  version === undefined ? undefined : `${group}/${version}`;

/** Of this and all other clusters. Of pods and sets only those that are where their pool is. */
export function inAllPlaces(
  here: readonly AnyObject[],
  targets: TargetSights | undefined,
  kind: 'podSets' | 'pods' | 'claims',
  anchor: KafkaAnchor | undefined,
): AnyObject[] {
  if (!targets) return [...here];
  const places = targetsOfPools(anchor);
  const elsewhere = [...targets].flatMap(([cluster, seen]) =>
    seen[kind].filter((object) => isInPlace(places, cluster, object)),
  );
  return [...here.filter((object) => isInPlace(places, LOCAL, object)), ...elsewhere].toSorted((a, b) =>
    a.metadata.name < b.metadata.name ? -1 : 1,
  );
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

function usersOf({ secrets }: KafkaViews, home: Kafka | undefined): AnyObject[] {
  const namespace = home && watchedNamespace(home, 'userOperator');
  if (namespace === undefined) return [];
  return secrets.find('kafka', keyOf({ namespace, name: home!.metadata.name })).filter(isOfUser);
}

function namesSeen(
  { views, undiscovered }: Pick<KafkaCaches, 'views' | 'undiscovered'>,
  namespace: string,
  key: string,
  promised: Promises = new Map(),
): NameSight {
  const policies = policiesSeen(views.namePolicies?.list() ?? [], undiscovered.has('namePolicies'));
  const labelsOf = (one: string) => views.namespaces.get(one)?.metadata.labels ?? {};
  return {
    others: [
      ...namesOfOthers(views, key),
      ...promisedToOthers(promised, { kind: 'Kafka', namespace, name: nameOfKey(key).name }),
    ],
    ...policies,
    namespaceLabels: labelsOf(namespace),
    published: () =>
      addPublished(
        createHostIndex(),
        // Who has those of Kafkas, their anchors say.
        (views.dnsEndpoints?.list() ?? []).filter((one) => kafkaOf(one).length === 0),
        policies,
        labelsOf,
      ),
  };
}

/** Of Kafkas that are still there: an anchor outlives its own, and then nobody claims its names. */
function namesOfOthers({ anchors, kafkas }: KafkaViews, own: string): OthersGrant[] {
  const written = (anchors?.list() ?? []).flatMap((anchor) => read(kafkaAnchor, anchor).resource ?? []);
  return written.flatMap(({ metadata: { namespace }, spec: { kafka: of, names } }) => {
    const key = keyOf({ namespace, name: of.name });
    const { uid } = kafkas?.get(key)?.metadata ?? {};
    if (key === own || uid === undefined || uid !== of.uid) return [];
    const cluster = { kind: 'Kafka' as const, namespace, name: of.name };
    return names.map(({ name: _, ...grant }) => ({ ...grant, cluster }));
  });
}

/** Whether an object is about the nodes of a Kafka. */
const isNode = (object: AnyObject, cluster: string) => hasLabelSet(object, podSelector(cluster));

/** Our own sets do without the label that says what they are about. */
const isNamedLikeOurs = ({ metadata }: AnyObject, cluster: string, pools: readonly KafkaNodePool[]) =>
  metadata.labels?.[POOL_LABEL] !== undefined ||
  pools.some((pool) => podSetName(cluster, pool.metadata.name) === metadata.name);

const [MANAGED_BY_LABEL, OURS] = Object.entries(MANAGED_BY)[0]!;

const isOfAnother = ({ metadata }: AnyObject) => (metadata.labels?.[MANAGED_BY_LABEL] ?? OURS) !== OURS;
