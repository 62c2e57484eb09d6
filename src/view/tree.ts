/** What hangs together with a resource, as a tree. Pure: all objects are given. */
import { CLUSTER_LABEL as KAFKA_LABEL, POOL_LABEL } from '../control/brokers/model/names.ts';
import { read } from '../control/kernel/read.ts';
import { CLUSTER_LABEL, INGRESS_LABEL, PROXY_LABEL } from '../control/proxy/names.ts';
import type { AnyObject } from '../kube/object.ts';
import { kafkaAnchor } from '../resources/isthmus/kafka-anchor.ts';
import { filterRefsOf, kafkaProxy } from '../resources/kroxylicious/kafka-proxy.ts';
import { virtualKafkaCluster } from '../resources/kroxylicious/virtual-kafka-cluster.ts';
import { healthOf } from './health.ts';
import type { Health } from './health.ts';

export interface TreeNode {
  kind: string;
  name: string;
  health: Health;
  children: TreeNode[];
}

/** All objects of a namespace that may be part of a tree. */
export interface Forest {
  objects: readonly AnyObject[];
}

const MISSING: Health = {
  state: 'notReady',
  reason: 'ReferencedResourcesNotFound',
  message: 'it does not exist',
};

const node = (object: AnyObject, children: TreeNode[] = []): TreeNode => ({
  kind: object.kind,
  name: object.metadata.name,
  health: healthOf(object),
  children,
});

type Label = readonly [label: string, value: string | undefined];

/** Objects of some kinds with exactly these labels; undefined stands for none. */
function labelled(
  { objects }: Forest,
  kinds: readonly string[] | undefined,
  ...labels: Label[]
): AnyObject[] {
  return objects.filter(
    ({ kind, metadata }) =>
      (kinds?.includes(kind) ?? true) && labels.every(([label, value]) => metadata.labels?.[label] === value),
  );
}

/** The object that a reference leads to, with what hangs on it; or that there is none. */
function referenced(
  forest: Forest,
  kind: string,
  name: string,
  grow: (object: AnyObject) => TreeNode,
): TreeNode {
  const found = forest.objects.find((one) => one.kind === kind && one.metadata.name === name);
  return found ? grow(found) : { kind, name, health: MISSING, children: [] };
}

const OURS = new Set(['KafkaProxy', 'KafkaProxyIngress', 'VirtualKafkaCluster']);
const made = (objects: readonly AnyObject[]) =>
  objects.filter(({ kind }) => !OURS.has(kind)).map((one) => node(one));

/** What grows from a resource. */
export function treeOf(root: AnyObject, forest: Forest): TreeNode {
  const grow = GROWERS[root.kind];
  return grow ? grow(root, forest) : node(root, owned(root, forest));
}

const GROWERS: Readonly<Record<string, (root: AnyObject, forest: Forest) => TreeNode>> = {
  VirtualKafkaCluster: virtualClusterTree,
  KafkaProxy: proxyTree,
  Kafka: kafkaTree,
};

function virtualClusterTree(root: AnyObject, forest: Forest): TreeNode {
  const { resource } = read(virtualKafkaCluster, root);
  if (!resource) return node(root);
  const { name } = root.metadata;
  const { proxyRef, ingresses, filterRefs = [], targetCluster } = resource.spec;
  const proxy = proxyRef.name;
  return node(root, [
    referenced(forest, 'KafkaProxy', proxy, (found) => node(found, workload(proxy, forest))),
    ...ingresses.map((one) =>
      referenced(forest, 'KafkaProxyIngress', one.name, (found) =>
        node(found, made(labelled(forest, undefined, [CLUSTER_LABEL, name], [INGRESS_LABEL, one.name]))),
      ),
    ),
    ...filterRefs.map((one) => referenced(forest, 'KafkaProtocolFilter', one.name, node)),
    referenced(forest, targetCluster.clusterRef.kind, targetCluster.clusterRef.name, node),
  ]);
}

/** The pods of a proxy, below their Deployment. */
function workload(proxy: string, forest: Forest): TreeNode[] {
  const pods = forest.objects.filter(
    ({ kind, metadata }) => kind === 'Pod' && metadata.labels?.[PROXY_LABEL] === proxy,
  );
  return labelled(forest, ['Deployment'], [PROXY_LABEL, proxy]).map((one) =>
    node(
      one,
      pods.map((pod) => node(pod)),
    ),
  );
}

function proxyTree(root: AnyObject, forest: Forest): TreeNode {
  const { name } = root.metadata;
  const naming = (kind: string) =>
    forest.objects.filter(
      (one) => one.kind === kind && (one['spec'] as { proxyRef?: { name?: string } }).proxyRef?.name === name,
    );
  const { resource } = read(kafkaProxy, root);
  const filters = resource ? filterRefsOf(resource.spec) : [];
  const ingress = (one: AnyObject) => {
    const its = labelled(forest, undefined, [INGRESS_LABEL, one.metadata.name], [CLUSTER_LABEL, undefined]);
    return node(one, made(its));
  };
  const own = labelled(
    forest,
    undefined,
    [PROXY_LABEL, name],
    [INGRESS_LABEL, undefined],
    [CLUSTER_LABEL, undefined],
  );
  const rest = own.filter(({ kind }) => kind !== 'Pod' && kind !== 'Deployment');
  return node(root, [
    ...workload(name, forest),
    ...naming('KafkaProxyIngress').map(ingress),
    ...naming('VirtualKafkaCluster').map((one) => node(one)),
    ...filters.map((one) => referenced(forest, 'KafkaProtocolFilter', one.name, node)),
    ...made(rest),
  ]);
}

function kafkaTree(root: AnyObject, forest: Forest): TreeNode {
  const { name } = root.metadata;
  const its = labelled(forest, undefined, [KAFKA_LABEL, name]).filter(
    ({ metadata }) => metadata.uid !== root.metadata.uid,
  );
  const of = (kind: string) => its.filter((one) => one.kind === kind);
  const below = (pool: AnyObject) => {
    const pods = of('Pod').filter(({ metadata }) => metadata.labels?.[POOL_LABEL] === pool.metadata.name);
    const sets = of('StrimziPodSet').filter(
      ({ metadata }) => metadata.name === `${name}-${pool.metadata.name}`,
    );
    const away = placesOf(of('KafkaAnchor')[0], pool.metadata.name);
    if (pods.length + sets.length === 0 && away) return [away];
    return sets.length === 0
      ? pods.map((pod) => node(pod))
      : sets.map((set) =>
          node(
            set,
            pods.map((pod) => node(pod)),
          ),
        );
  };
  const parts = new Set(['KafkaNodePool', 'StrimziPodSet', 'Pod', 'KafkaTopic', 'KafkaUser']);
  return node(root, [
    ...of('KafkaNodePool').map((pool) => node(pool, below(pool))),
    ...of('KafkaTopic').map((one) => node(one)),
    ...of('KafkaUser').map((one) => node(one)),
    ...its.filter(({ kind }) => !parts.has(kind)).map((one) => node(one)),
  ]);
}

/** The nodes of a pool in another Kubernetes cluster, as the anchor has them. */
function placesOf(anchor: AnyObject | undefined, pool: string): TreeNode | undefined {
  const status = anchor && read(kafkaAnchor, anchor).resource?.status;
  const place = status?.targets?.find(({ pools }) => pools.some(({ name }) => name === pool));
  const own = place?.pools.find(({ name }) => name === pool);
  if (!anchor || !place || !own) return undefined;
  const { name, reachable, since = '', problem = '' } = place;
  const health = (isWell: boolean, reason: string, message = ''): Health =>
    isWell ? { state: 'ready', reason: '', message: '' } : { state: 'notReady', reason, message };
  const children = own.nodes.map((id) => ({
    kind: 'Pod',
    name: `${anchor.metadata.name}-${pool}-${id}`,
    health: reachable
      ? health(own.ready.includes(id), 'PodsNotReady')
      : ({ state: 'unknown', reason: '', message: '' } as const),
    children: [],
  }));
  const why = since === '' ? problem : `since ${since}: ${problem}`;
  return { kind: 'Cluster', name, health: health(reachable, 'ClusterUnreachable', why), children };
}

/** Of any other resource: what names it as its owner, and so on. */
function owned({ metadata }: AnyObject, forest: Forest): TreeNode[] {
  return forest.objects
    .filter((one) => one.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid))
    .map((one) => node(one, owned(one, forest)));
}
