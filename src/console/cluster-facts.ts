/** Virtual clusters, and Kafka clusters that are reached by themselves, from what their objects say. Pure. */
import { CLUSTER_LABEL as KAFKA_LABEL } from '../control/brokers/model/names.ts';
import type { AnyObject } from '../kube/object.ts';
import type { WorldCluster } from './source.ts';

export function clustersIn(objects: readonly AnyObject[]): WorldCluster[] {
  return objects.flatMap((object) => {
    if (object.kind === 'VirtualKafkaCluster') return [virtualCluster(object, objects)];
    if (object.kind === 'Kafka') return [kafkaCluster(object, objects)];
    return object.kind === 'Cluster' ? [redpandaCluster(object)] : [];
  });
}

interface VirtualSpec {
  proxyRef?: { name?: string };
  filterRefs?: { name: string }[];
  targetCluster?: { clusterRef?: { kind?: string; name?: string } };
}

function virtualCluster({ metadata, spec, status }: AnyObject, objects: readonly AnyObject[]): WorldCluster {
  const { proxyRef, filterRefs = [], targetCluster } = (spec ?? {}) as VirtualSpec;
  const { ingresses = [] } = (status ?? {}) as {
    ingresses?: { name: string; bootstrap?: string; protocol?: string }[];
  };
  const { namespace = '', name } = metadata;
  const { kind = 'KafkaClusterRef', name: target = '' } = targetCluster?.clusterRef ?? {};
  const found = objects.find(
    (one) => one.kind === kind && one.metadata.name === target && one.metadata.namespace === namespace,
  );
  return {
    kind: 'VirtualKafkaCluster',
    name,
    namespace,
    proxy: proxyRef?.name ?? '',
    bootstrap: ingresses.flatMap(({ name: ingress, bootstrap: address, protocol }) =>
      address === undefined ? [] : [{ ingress, address, tls: protocol === 'TLS' }],
    ),
    filters: filterRefs.map((filter) => filter.name),
    target: { kind, name: target, address: addressOf(found) ?? target },
    nodeIds: kind === 'Kafka' ? brokersOf(target, namespace, objects) : [],
  };
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

/** The ids of brokers whose pods are there: `NAME-POOL-ID`. */
function brokersOf(kafka: string, namespace: string, objects: readonly AnyObject[]): number[] {
  return objects
    .flatMap(({ kind, metadata }) => {
      const isOurs =
        kind === 'Pod' && metadata.namespace === namespace && metadata.labels?.[KAFKA_LABEL] === kafka;
      const id = isOurs ? /-(\d+)$/.exec(metadata.name)?.[1] : undefined;
      return id === undefined ? [] : [Number(id)];
    })
    .toSorted((a, b) => a - b);
}

/** Brokers that clients reach without a proxy. */
function kafkaCluster(object: AnyObject, objects: readonly AnyObject[]): WorldCluster {
  const { namespace = '', name } = object.metadata;
  const listeners = listenersOf(object);
  return {
    kind: 'Kafka',
    name,
    namespace,
    proxy: undefined,
    bootstrap: listeners.flatMap(({ name: ingress, bootstrapServers: address }) =>
      address === undefined ? [] : [{ ingress, address, tls: false }],
    ),
    filters: [],
    target: { kind: 'Kafka', name, address: listeners[0]?.bootstrapServers ?? name },
    nodeIds: brokersOf(name, namespace, objects),
  };
}

function redpandaCluster({ metadata, status }: AnyObject): WorldCluster {
  const { namespace = '', name } = metadata;
  const { nodes } = (status ?? {}) as { nodes?: { external?: string[]; internal?: string[] } };
  const addresses = nodes?.external ?? nodes?.internal ?? [];
  return {
    kind: 'Cluster',
    name,
    namespace,
    proxy: undefined,
    bootstrap: addresses.map((address) => ({ ingress: 'external', address, tls: false })),
    filters: [],
    target: { kind: 'Cluster', name, address: addresses[0] ?? name },
    nodeIds: addresses.map((_, index) => index),
  };
}
