/** Virtual clusters, and Kafka clusters that are reached by themselves, from what their objects say. Pure. */
import { BROKER_ROLE_LABEL, CLUSTER_LABEL as KAFKA_LABEL } from '../control/brokers/model/names.ts';
import { filterChain } from '../control/proxy/resolve/filter-chain.ts';
import type { ProxyFilters } from '../control/proxy/resolve/filter-chain.ts';
import type { AnyObject } from '../kube/object.ts';
import { conditionsIn } from '../view/health.ts';
import type { State } from './api.ts';
import type { WorldBroker, WorldCluster } from './source.ts';

export function clustersIn(objects: readonly AnyObject[]): WorldCluster[] {
  return objects.flatMap((object) => {
    if (object.kind === 'VirtualKafkaCluster') return [virtualCluster(object, objects)];
    if (object.kind === 'Kafka') return [kafkaCluster(object, objects)];
    return object.kind === 'Cluster' ? [redpandaCluster(object)] : [];
  });
}

interface NamedRef {
  name: string;
}

interface VirtualSpec {
  proxyRef?: { name?: string };
  filterRefs?: NamedRef[];
  targetCluster?: { clusterRef?: { kind?: string; name?: string } };
}

function virtualCluster({ metadata, spec, status }: AnyObject, objects: readonly AnyObject[]): WorldCluster {
  const { proxyRef, filterRefs, targetCluster } = (spec ?? {}) as VirtualSpec;
  const { ingresses = [] } = (status ?? {}) as {
    ingresses?: { name: string; bootstrap?: string; protocol?: string }[];
  };
  const { namespace = '', name } = metadata;
  const { kind = 'KafkaClusterRef', name: target = '' } = targetCluster?.clusterRef ?? {};
  const find = (wanted: string, of: string | undefined) =>
    objects.find(
      (one) => one.kind === wanted && one.metadata.name === of && one.metadata.namespace === namespace,
    );
  const edge = find('KafkaProxy', proxyRef?.name);
  return {
    kind: 'VirtualKafkaCluster',
    name,
    namespace,
    proxy: proxyRef?.name ?? '',
    bootstrap: ingresses.flatMap(({ name: ingress, bootstrap: address, protocol }) =>
      address === undefined ? [] : [{ ingress, address, tls: protocol === 'TLS' }],
    ),
    filters: filterChain({ filterRefs }, edge && { spec: filtersOf(edge) }).map((filter) => filter.name),
    target: { kind, name: target, address: addressOf(find(kind, target)) ?? target },
    brokers: kind === 'Kafka' ? brokersOf(target, namespace, objects) : [],
  };
}

interface ProxySpec {
  defaultFilterRefs?: NamedRef[];
  mandatoryFilterRefs?: { first?: NamedRef[]; last?: NamedRef[] };
}

/** However little of it is written. */
function filtersOf(proxy: AnyObject): ProxyFilters {
  const { defaultFilterRefs = [], mandatoryFilterRefs = {} } = (proxy['spec'] ?? {}) as ProxySpec;
  const { first = [], last = [] } = mandatoryFilterRefs;
  return { defaultFilterRefs, mandatoryFilterRefs: { first, last } };
}

function addressOf(target: AnyObject | undefined): string | undefined {
  const { bootstrap } = (target?.['spec'] ?? {}) as { bootstrap?: string };
  return bootstrap ?? listenersOf(target)[0]?.bootstrapServers;
}

function listenersOf(kafka: AnyObject | undefined): { name: string; bootstrapServers?: string }[] {
  const { listeners } = (kafka?.['status'] ?? {}) as {
    listeners?: { name: string; bootstrapServers?: string }[];
  };
  return listeners ?? [];
}

/** The brokers whose pods are there: `NAME-POOL-ID`. Controllers alone carry nothing of clients. */
function brokersOf(kafka: string, namespace: string, objects: readonly AnyObject[]): WorldBroker[] {
  return objects
    .flatMap((object): WorldBroker[] => {
      const { kind, metadata } = object;
      const { [KAFKA_LABEL]: owner, [BROKER_ROLE_LABEL]: isBroker } = metadata.labels ?? {};
      const isOurs =
        kind === 'Pod' && metadata.namespace === namespace && owner === kafka && isBroker === 'true';
      const id = isOurs ? /-(\d+)$/.exec(metadata.name)?.[1] : undefined;
      return id === undefined ? [] : [{ id: Number(id), state: isReady(object) ? 'ready' : 'notReady' }];
    })
    .toSorted((a, b) => a.id - b.id);
}

const isReady = (pod: AnyObject) =>
  conditionsIn(pod).some(({ type, status }) => type === 'Ready' && status === 'True');

/** Brokers that clients reach without a proxy. */
function kafkaCluster(object: AnyObject, objects: readonly AnyObject[]): WorldCluster {
  const { namespace = '', name } = object.metadata;
  const listeners = listenersOf(object);
  const { kafka } = (object['spec'] ?? {}) as { kafka?: { listeners?: { name: string; tls?: boolean }[] } };
  const byTls = new Set(kafka?.listeners?.flatMap((one) => (one.tls === true ? [one.name] : [])));
  return {
    kind: 'Kafka',
    name,
    namespace,
    proxy: undefined,
    bootstrap: listeners.flatMap(({ name: ingress, bootstrapServers: address }) =>
      address === undefined ? [] : [{ ingress, address, tls: byTls.has(ingress) }],
    ),
    filters: [],
    target: { kind: 'Kafka', name, address: listeners[0]?.bootstrapServers ?? name },
    brokers: brokersOf(name, namespace, objects),
  };
}

interface RedpandaStatus {
  nodes?: { external?: string[]; internal?: string[] };
  readyReplicas?: number;
}

interface RedpandaSpec {
  configuration?: { kafkaApi?: { external?: { enabled?: boolean }; tls?: { enabled?: boolean } }[] };
}

function redpandaCluster({ metadata, spec, status }: AnyObject): WorldCluster {
  const { namespace = '', name } = metadata;
  const { nodes, readyReplicas } = (status ?? {}) as RedpandaStatus;
  const { configuration } = (spec ?? {}) as RedpandaSpec;
  const addresses = nodes?.external ?? nodes?.internal ?? [];
  const isOutside = nodes?.external !== undefined;
  const api = configuration?.kafkaApi?.find(({ external }) => (external?.enabled === true) === isOutside);
  const tls = api?.tls?.enabled === true;
  const ids = (nodes?.internal ?? addresses).map((_, index) => index);
  // How many are ready is said, and not which.
  const states = new Map<number | undefined, State>([
    [0, 'notReady'],
    [ids.length, 'ready'],
  ]);
  const state = states.get(readyReplicas) ?? 'unknown';
  return {
    kind: 'Cluster',
    name,
    namespace,
    proxy: undefined,
    bootstrap: addresses.map((address) => ({ ingress: 'external', address, tls })),
    filters: [],
    target: { kind: 'Cluster', name, address: addresses[0] ?? name },
    brokers: ids.map((id) => ({ id, state })),
  };
}
