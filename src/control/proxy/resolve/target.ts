/** The Kafka cluster behind a virtual cluster: from a KafkaClusterRef, or from the status of a Strimzi Kafka. */
import { tlsRules } from '../../../ops/tls-rules.ts';
import { rangesOf } from '../../../resources/common/node-ids.ts';
import type { NodeIdRange } from '../../../resources/common/node-ids.ts';
import type { TlsParameters } from '../../../resources/common/tls.ts';
import type { VirtualKafkaCluster } from '../../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { clusterNameOf } from '../../../resources/strimzi/group.ts';
import type { KafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import type { KeyPair } from '../evaluate/certificates.ts';
import { keyPairOf, reportMissing, trustOf } from './references.ts';
import type { Report } from './references.ts';
import { find } from '../snapshot.ts';
import type { ProxySnapshot } from '../snapshot.ts';

export interface ResolvedTarget {
  bootstrapServers: string;
  nodeIdRanges: NodeIdRange[];
  tls: { trust: string | undefined; key: KeyPair | undefined; parameters: TlsParameters } | undefined;
}

type Target = VirtualKafkaCluster['spec']['targetCluster'];

/** Where no node pool says otherwise. */
const DEFAULT_NODES = 3;

/** Follows the reference to the target, and reports what is missing. */
export function resolveTarget(
  target: Target,
  namespace: string,
  snapshot: ProxySnapshot,
  report: Report,
): ResolvedTarget | undefined {
  const certificate = target.tls?.certificateRef;
  const from = { kind: 'VirtualKafkaCluster', namespace } as const;
  const key = certificate && keyPairOf(certificate, from, snapshot, report);
  return target.clusterRef.kind === 'Kafka'
    ? fromKafka(target.clusterRef, namespace, snapshot, key, report)
    : fromClusterRef(target.clusterRef.name, namespace, snapshot, key, report);
}

function fromClusterRef(
  name: string,
  namespace: string,
  snapshot: ProxySnapshot,
  key: KeyPair | undefined,
  report: Report,
): ResolvedTarget | undefined {
  const found = find(snapshot.clusterRefs, namespace, name);
  if (!found) return reportMissing('KafkaClusterRef', name, namespace, snapshot, report);
  const { bootstrap, nodeIdRanges, tls } = found.spec;
  if (!tls && key) reportUnencrypted(`KafkaClusterRef "${name}"`, report);
  if (!tls) return { bootstrapServers: bootstrap, nodeIdRanges, tls: undefined };
  const { trustAnchorRefs, ...parameters } = tls;
  const rules = tlsRules(parameters.protocols, parameters.cipherSuites);
  if ('problem' in rules)
    report('InvalidReferencedResource', `KafkaClusterRef "${name}": tls.${rules.key} ${rules.problem}`);
  const trust = trustOf(trustAnchorRefs, { kind: 'KafkaClusterRef', namespace }, snapshot, report);
  return { bootstrapServers: bootstrap, nodeIdRanges, tls: { trust, key, parameters } };
}

/** A certificate asks for TLS; without it the proxy would speak in the clear to brokers that were meant to know who it is. */
const reportUnencrypted = (target: string, report: Report) =>
  report('InvalidReferencedResource', `${target} is reached over TCP; use TLS, or remove targetCluster.tls`);

type KafkaRef = Extract<Target['clusterRef'], { kind: 'Kafka' }>;

function fromKafka(
  ref: KafkaRef,
  namespace: string,
  snapshot: ProxySnapshot,
  key: KeyPair | undefined,
  report: Report,
): ResolvedTarget | undefined {
  if (!snapshot.cluster) {
    const message = 'a Kafka resource can only be followed in a cluster; name a KafkaClusterRef';
    return report('NotSupported', message);
  }
  const { kafkas, nodePools = [] } = snapshot.cluster;
  if (!kafkas)
    return report(
      'RequestedResourceKindNotSupported',
      'this cluster has no Kafka resources: install Strimzi',
    );
  const kafka = find(kafkas, namespace, ref.name);
  if (!kafka) return reportMissing('Kafka', ref.name, namespace, snapshot, report);
  const listener = chooseListener(kafka, ref.listenerName, report);
  if (!listener) return undefined;
  const state = kafka.status?.listeners?.find(({ name }) => name === listener.name);
  const bootstrapServers = state?.bootstrapServers ?? addressesOf(state?.addresses);
  if (bootstrapServers === undefined) {
    const message = `the status of Kafka "${ref.name}" has no address for listener "${listener.name}" yet`;
    return report('ReferencedResourceNotReconciled', message);
  }
  if (!listener.tls && key) reportUnencrypted(`listener "${listener.name}" of Kafka "${ref.name}"`, report);
  const trust = state?.certificates?.join('\n');
  return {
    bootstrapServers,
    nodeIdRanges: nodeIdRangesOf(kafka, nodePools),
    tls: listener.tls ? { trust, key, parameters: {} } : undefined,
  };
}

/** The listener of that name; the first internal one where none is named. */
function chooseListener(
  kafka: Kafka,
  wanted: string | undefined,
  report: Report,
): { name: string; tls: boolean } | undefined {
  const { name } = kafka.metadata;
  const listeners = kafka.spec.kafka.listeners ?? [];
  const found = listeners.find((one) =>
    wanted === undefined ? one.type === 'internal' : one.name === wanted,
  );
  if (found) return found;
  const which = wanted === undefined ? 'internal listener' : `listener "${wanted}"`;
  const has = listeners.map((one) => one.name).join(', ') || 'none';
  return report('InvalidReferencedResource', `Kafka "${name}" has no ${which}; its listeners: ${has}`);
}

type Addresses = readonly { host?: string; port?: number }[] | undefined;

function addressesOf(addresses: Addresses): string | undefined {
  const known = (addresses ?? []).filter(({ host, port }) => host !== undefined && port !== undefined);
  return known.length > 0 ? known.map(({ host, port }) => `${host}:${port}`).join(',') : undefined;
}

/** Which brokers there are: as the node pools say, else as many as the Kafka asks for, else the usual three. */
function nodeIdRangesOf(kafka: Kafka, nodePools: readonly KafkaNodePool[]): NodeIdRange[] {
  const { name, namespace } = kafka.metadata;
  const pools = nodePools.filter(
    (pool) => pool.metadata.namespace === namespace && clusterNameOf(pool) === name && hasBrokers(pool),
  );
  const ids = pools.flatMap(({ status }) => status?.nodeIds ?? []).toSorted((a, b) => a - b);
  if (ids.length > 0) return rangesOf(ids);
  const { replicas } = kafka.spec.kafka as { replicas?: unknown };
  const count = typeof replicas === 'number' && replicas > 0 ? replicas : DEFAULT_NODES;
  return [{ start: 0, end: count - 1 }];
}

function hasBrokers({ spec, status }: KafkaNodePool): boolean {
  return (status?.roles ?? spec.roles ?? ['broker']).includes('broker');
}
