/** What objects refer to, in the spelling of the indexes that lead from any object to the proxies it matters to. */
import { keyOf } from '../../kube/object.ts';
import type { AnyObject, KubeObject } from '../../kube/object.ts';
import type { CertificateRef } from '../../resources/common/refs.ts';
import { kafkaClusterRef } from '../../resources/kroxylicious/kafka-cluster-ref.ts';
import { kafkaProtocolFilter } from '../../resources/kroxylicious/kafka-protocol-filter.ts';
import { kafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import { filterRefsOf, kafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { virtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { read } from '../kernel/read.ts';
import { PROXY_LABEL } from './names.ts';
import { placeholdersIn } from './resolve/interpolate.ts';
import type { ProxyViews } from './watches.ts';

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

/** In the index `model` of ingresses: those that are load balancers. */
export const BALANCED = 'loadBalancer';

export const isBalanced = (spec: unknown) =>
  (spec as { loadBalancer?: unknown } | undefined)?.loadBalancer !== undefined;

/** The ingresses that a virtual cluster names. */
export function ingressKeysOf(object: AnyObject): string[] {
  const { resource } = read(virtualKafkaCluster, object);
  const { namespace } = object.metadata;
  return (resource?.spec.ingresses ?? []).map(({ name }) => keyOf({ namespace, name }));
}

const refTo = (kind: string, namespace: string, name: string) => `${kind} ${namespace}/${name}`;

/** A reference as the indexes spell it. */
export const refOf = (kind: string, { metadata }: KubeObject) => `${kind} ${keyOf(metadata)}`;

interface Ref {
  kind: string;
  namespace: string;
  name: string;
}

type StoreRef = Ref & Pick<CertificateRef, 'keystore'>;

/** A reference, and that to the password of a store. */
function textsOf(ref: StoreRef): string[] {
  const { name } = ref.keystore?.passwordRef ?? {};
  return [textOf(ref), ...(name === undefined ? [] : [textOf({ ...ref, name })])];
}

const textOf = ({ kind, namespace, name }: Ref) => refTo(kind, namespace, name);

/** What objects refer to, by the name of their view. */
export const REFS: Record<
  'proxies' | 'ingresses' | 'virtualClusters' | 'clusterRefs' | 'filters',
  (object: AnyObject) => string[]
> = {
  proxies: (object) => {
    const { resource } = read(kafkaProxy, object);
    if (!resource) return [];
    return filterRefsOf(resource.spec).map(({ kind, name }) =>
      refTo(kind, resource.metadata.namespace, name),
    );
  },
  ingresses: (object) => {
    const { resource } = read(kafkaProxyIngress, object);
    return [resource?.spec.openShiftRoute, resource?.spec.gateway].flatMap((model) =>
      model ? [textOf(model.resourceRef)] : [],
    );
  },
  virtualClusters: (object) => {
    const { resource } = read(virtualKafkaCluster, object);
    if (!resource) return [];
    const { namespace } = resource.metadata;
    const { ingresses, targetCluster, filterRefs = [] } = resource.spec;
    const tls = ingresses.flatMap((ingress): StoreRef[] => [
      ...(ingress.tls?.certificateRefs ?? []),
      ...(ingress.tls?.trustAnchorRefs ?? []),
    ]);
    const certificate = targetCluster.tls?.certificateRef;
    return [
      refTo(targetCluster.clusterRef.kind, namespace, targetCluster.clusterRef.name),
      ...filterRefs.map(({ kind, name }) => refTo(kind, namespace, name)),
      ...[...tls, ...(certificate ? [certificate] : [])].flatMap(textsOf),
    ];
  },
  clusterRefs: (object) => {
    const { resource } = read(kafkaClusterRef, object);
    return (resource?.spec.tls?.trustAnchorRefs ?? []).map(textOf);
  },
  filters: (object) => {
    const { resource } = read(kafkaProtocolFilter, object);
    if (!resource) return [];
    return placeholdersIn(resource.spec.config).map(({ provider, name }) =>
      refTo(provider === 'secret' ? 'Secret' : 'ConfigMap', resource.metadata.namespace, name),
    );
  },
};

/** Everything that the resources of a proxy refer to, directly or through others. */
export function refsOfProxy(views: ProxyViews, key: string): Set<string> {
  const direct = [
    ...views.virtualClusters.find('proxy', key).flatMap(REFS.virtualClusters),
    ...views.ingresses.find('proxy', key).flatMap(REFS.ingresses),
    ...[views.proxies.get(key) ?? []].flat().flatMap(REFS.proxies),
  ];
  const through = direct.flatMap((ref) => [
    ...keysOfKind('KafkaClusterRef', [ref]).flatMap((one) =>
      refsOfOne(views.clusterRefs.get(one), 'clusterRefs'),
    ),
    ...keysOfKind('KafkaProtocolFilter', [ref]).flatMap((one) =>
      refsOfOne(views.filters.get(one), 'filters'),
    ),
  ]);
  return new Set([...direct, ...through]);
}

const refsOfOne = (object: AnyObject | undefined, name: keyof typeof REFS) =>
  object ? REFS[name](object) : [];

/** The keys of the objects of one kind among references. */
export const keysOfKind = (kind: string, refs: Iterable<string>): string[] =>
  [...refs].flatMap((ref) => (ref.startsWith(`${kind} `) ? ref.slice(kind.length + 1) : []));

/** The Secrets and ConfigMaps among references, by row. */
export const textsAmong = (refs: Iterable<string>) => {
  const all = [...refs];
  return { secrets: keysOfKind('Secret', all), configMaps: keysOfKind('ConfigMap', all) };
};

/** The proxies that anything named by a reference matters to, directly or through others. */
export function proxiesReferring(views: ProxyViews, ref: string): Set<string> {
  const keys = new Set<string>();
  const follow = (wanted: string) => {
    for (const one of views.virtualClusters.find('refs', wanted)) keys.add(proxyKeyOf(one));
    for (const one of views.ingresses.find('refs', wanted)) keys.add(proxyKeyOf(one));
    for (const one of views.proxies.find('refs', wanted)) keys.add(keyOf(one.metadata));
    for (const one of views.clusterRefs.find('refs', wanted)) follow(refOf('KafkaClusterRef', one));
    for (const one of views.filters.find('refs', wanted)) follow(refOf('KafkaProtocolFilter', one));
  };
  follow(ref);
  return keys;
}
