/** What the proxy road reads, with the indexes that lead from any object to the proxies it matters to. */
import type { Cache } from '../../kube/cache/cache.ts';
import { keyOf } from '../../kube/object.ts';
import type { AnyObject, KubeObject } from '../../kube/object.ts';
import { kafkaClusterRef } from '../../resources/kroxylicious/kafka-cluster-ref.ts';
import { kafkaProtocolFilter } from '../../resources/kroxylicious/kafka-protocol-filter.ts';
import { kafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import { kafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { virtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { interpolate } from './interpolate.ts';
import { PROXY_LABEL } from './names.ts';
import { read } from './read.ts';

/** Objects of one kind that can be looked up; a cache, or a folder of test data. */
export type View = Pick<Cache, 'get' | 'list' | 'find' | 'addIndex'>;

/** Always there. */
export const KINDS = [
  'proxies',
  'ingresses',
  'virtualClusters',
  'clusterRefs',
  'filters',
  'secrets',
  'configMaps',
  'namespaces',
  'services',
  'deployments',
  'pods',
  'configSecrets',
] as const;

/** There, if someone has installed them. */
export const FOREIGN_KINDS = [
  'kafkas',
  'nodePools',
  'grants',
  'gateways',
  'tlsRoutes',
  'routes',
  'ingressControllers',
  'dnsEndpoints',
] as const;

export type SourceName = (typeof KINDS)[number];
export type ForeignName = (typeof FOREIGN_KINDS)[number];

export type Sources = Record<SourceName, View> & Partial<Record<ForeignName, View>>;

const OWNED = ['services', 'deployments', 'pods', 'configSecrets', 'tlsRoutes', 'routes'] as const;

/** Adds the indexes; to be called once for each view. */
export function addIndexes(name: SourceName | ForeignName, view: View): void {
  if ((OWNED as readonly string[]).includes(name)) view.addIndex('proxy', ownerOf);
  if (name === 'ingresses' || name === 'virtualClusters') view.addIndex('proxy', (one) => [proxyKeyOf(one)]);
  if (name === 'ingresses') view.addIndex('way', ({ spec }) => (isBalanced(spec) ? [BALANCED] : []));
  if (name === 'virtualClusters') view.addIndex('ingress', ingressKeysOf);
  if (name === 'nodePools') view.addIndex('kafka', (pool) => kafkaOf(pool));
  const refs = REFS[name];
  if (refs) view.addIndex('refs', refs);
}

/** The proxy that an object was made for. */
export function ownerOf({ metadata }: KubeObject): string[] {
  const name = metadata.labels?.[PROXY_LABEL];
  return name === undefined ? [] : [keyOf({ namespace: metadata.namespace, name })];
}

/** The proxy that an ingress or a virtual cluster names, even if nothing else in it can be understood. */
export function proxyKeyOf({ metadata, spec }: AnyObject): string {
  const { proxyRef } = (spec ?? {}) as { proxyRef?: { name?: unknown } };
  return keyOf({ namespace: metadata.namespace, name: String(proxyRef?.name) });
}

/** In the index `way` of ingresses: those that are load balancers. */
export const BALANCED = 'loadBalancer';

const isBalanced = (spec: unknown) =>
  (spec as { loadBalancer?: unknown } | undefined)?.loadBalancer !== undefined;

/** The ingresses that a virtual cluster names. */
function ingressKeysOf(object: AnyObject): string[] {
  const { resource } = read(virtualKafkaCluster, object);
  const { namespace } = object.metadata;
  return (resource?.spec.ingresses ?? []).map(({ name }) => keyOf({ namespace, name }));
}

function kafkaOf({ metadata }: KubeObject): string[] {
  const name = metadata.labels?.['strimzi.io/cluster'];
  return name === undefined ? [] : [`${metadata.namespace}/${name}`];
}

const refTo = (kind: string, namespace: string, name: string) => `${kind} ${namespace}/${name}`;

/** A reference as the indexes spell it. */
export const refOf = (kind: string, { metadata }: KubeObject) => `${kind} ${keyOf(metadata)}`;

interface Ref {
  kind: string;
  namespace: string;
  name: string;
}

const textOf = ({ kind, namespace, name }: Ref) => refTo(kind, namespace, name);

const REFS: Partial<Record<SourceName | ForeignName, (object: AnyObject) => string[]>> = {
  proxies(object) {
    const { resource } = read(kafkaProxy, object);
    return (resource?.spec.defaultFilterRefs ?? []).map(({ kind, name }) =>
      refTo(kind, resource!.metadata.namespace, name),
    );
  },
  ingresses(object) {
    const { resource } = read(kafkaProxyIngress, object);
    return [resource?.spec.openShiftRoute, resource?.spec.gateway].flatMap((way) =>
      way ? [textOf(way.resourceRef)] : [],
    );
  },
  virtualClusters(object) {
    const { resource } = read(virtualKafkaCluster, object);
    if (!resource) return [];
    const { namespace } = resource.metadata;
    const { ingresses, targetCluster, filterRefs = [] } = resource.spec;
    const tls = ingresses.flatMap((ingress): Ref[] => [
      ...(ingress.tls?.certificateRefs ?? []),
      ...(ingress.tls?.trustAnchorRefs ?? []),
    ]);
    const certificate = targetCluster.tls?.certificateRef;
    return [
      refTo(targetCluster.clusterRef.kind, namespace, targetCluster.clusterRef.name),
      ...filterRefs.map(({ kind, name }) => refTo(kind, namespace, name)),
      ...[...tls, ...(certificate ? [certificate] : [])].map(textOf),
    ];
  },
  clusterRefs(object) {
    const { resource } = read(kafkaClusterRef, object);
    return (resource?.spec.tls?.trustAnchorRefs ?? []).map(textOf);
  },
  filters(object) {
    const { resource } = read(kafkaProtocolFilter, object);
    if (!resource) return [];
    // Nothing is found, so that everything asked for is reported.
    return interpolate(resource.spec.config, () => undefined).unresolved.map(({ provider, name }) =>
      refTo(provider === 'secret' ? 'Secret' : 'ConfigMap', resource.metadata.namespace, name),
    );
  },
};

/** What an object refers to, as the indexes spell it. */
export function refsOf(name: SourceName, object: AnyObject): string[] {
  return REFS[name]?.(object) ?? [];
}

/** The proxies that anything named by a reference matters to, directly or through others. */
export function proxiesReferring(sources: Sources, ref: string): Set<string> {
  const keys = new Set<string>();
  const follow = (wanted: string) => {
    for (const one of sources.virtualClusters.find('refs', wanted)) keys.add(proxyKeyOf(one));
    for (const one of sources.ingresses.find('refs', wanted)) keys.add(proxyKeyOf(one));
    for (const one of sources.proxies.find('refs', wanted)) keys.add(keyOf(one.metadata));
    for (const one of sources.clusterRefs.find('refs', wanted)) follow(refOf('KafkaClusterRef', one));
    for (const one of sources.filters.find('refs', wanted)) follow(refOf('KafkaProtocolFilter', one));
  };
  follow(ref);
  return keys;
}
