/** Which proxies to look at again when something changes. */
import { keyOf } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { CacheName } from './caches.ts';
import { rivalsOfCluster, rivalsOfIngress } from './rivals.ts';
import { ownerOf, proxiesReferring, proxyKeyOf, refOf } from './sources.ts';
import type { Sources } from './sources.ts';

type KeysOf = (object: AnyObject, sources: Sources) => Iterable<string>;

const byReference: KeysOf = (object, sources) => proxiesReferring(sources, refOf(object.kind, object));

/** All others were made by the operator, and bear the name of their proxy. */
const KEYS_OF: Partial<Record<CacheName, KeysOf>> = {
  proxies: ({ metadata }) => [keyOf(metadata)],
  ingresses: (object, sources) => [proxyKeyOf(object), ...rivalsOfIngress(object, sources)],
  virtualClusters: (object, sources) => [proxyKeyOf(object), ...rivalsOfCluster(object, sources)],
  grants: (grant, sources) => allIn(grantedNamespaces(grant), sources),
  namespaces: ({ metadata }, sources) => allIn([metadata.name], sources),
  nodePools({ metadata }, sources) {
    const kafka = metadata.labels?.['strimzi.io/cluster'];
    return proxiesReferring(sources, `Kafka ${metadata.namespace}/${kafka}`);
  },
  secrets: byReference,
  configMaps: byReference,
  clusterRefs: byReference,
  filters: byReference,
  kafkas: byReference,
  gateways: byReference,
  ingressControllers: byReference,
};

/** The keys of the proxies that an object matters to. */
export function proxiesOf(name: CacheName, object: AnyObject, sources: Sources): Iterable<string> {
  return KEYS_OF[name]?.(object, sources) ?? ownerOf(object);
}

function grantedNamespaces({ spec }: AnyObject): string[] {
  const { from = [] } = (spec ?? {}) as { from?: { namespace?: string }[] };
  return from.flatMap(({ namespace }) => namespace ?? []);
}

function* allIn(namespaces: readonly string[], { proxies }: Sources): Generator<string> {
  for (const namespace of namespaces)
    for (const proxy of proxies.list(namespace)) yield keyOf(proxy.metadata);
}
