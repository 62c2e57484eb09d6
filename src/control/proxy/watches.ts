/** The kinds that the proxy road reads and makes, one row each, and which proxies to look at again when an object changes. */
import { keyOf } from '../../kube/object.ts';
import type { AnyObject, KubeObject } from '../../kube/object.ts';
import { dnsEndpoint } from '../../resources/external-dns/dns-endpoint.ts';
import { gateway } from '../../resources/gateway/gateway.ts';
import { referenceGrant } from '../../resources/gateway/reference-grant.ts';
import { tlsRoute } from '../../resources/gateway/tls-route.ts';
import { namePolicy } from '../../resources/isthmus/name-policy.ts';
import { kafkaClusterRef } from '../../resources/kroxylicious/kafka-cluster-ref.ts';
import { kafkaProtocolFilter } from '../../resources/kroxylicious/kafka-protocol-filter.ts';
import { kafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import { kafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { virtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { ingressController } from '../../resources/openshift/ingress-controller.ts';
import { route } from '../../resources/openshift/route.ts';
import { kafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { kafka } from '../../resources/strimzi/kafka.ts';
import { builtIn, core, ownKey } from '../kernel/watches.ts';
import type { View, WatchTable } from '../kernel/watches.ts';
import { PUBLISHED_SELECTOR } from '../shared/published-names.ts';
import { proxiesRivallingCluster, proxiesRivallingIngress } from './evaluate/other-proxies.ts';
import { PROXY_LABEL } from './names.ts';
import {
  BALANCED,
  ingressKeysOf,
  isBalanced,
  ownerOf,
  proxiesReferring,
  proxyKeyOf,
  REFS,
  refOf,
} from './refs.ts';
import { keepData, trimPod, trimService } from './trim.ts';

/** What can be looked up. Kinds of other projects are there if someone has installed them. */
export interface ProxyViews {
  proxies: View;
  ingresses: View;
  virtualClusters: View;
  clusterRefs: View;
  filters: View;
  secrets: View;
  configMaps: View;
  namespaces: View;
  serviceAccounts: View;
  configSecrets: View;
  deployments: View;
  disruptionBudgets: View;
  networkPolicies: View;
  services: View;
  pods: View;
  kafkas?: View;
  nodePools?: View;
  grants?: View;
  gateways?: View;
  ingressControllers?: View;
  routes?: View;
  tlsRoutes?: View;
  dnsEndpoints?: View;
  podMonitors?: View;
  namePolicies?: View;
}

type KeysOf = (object: AnyObject, views: ProxyViews) => Iterable<string>;

const byReference: KeysOf = (object, views) => proxiesReferring(views, refOf(object.kind, object));

/** To have no right to a kind of another project is as good as to have none of it. */
const FOREIGN = { optional: true, dispensable: true } as const;

/** Made by this road: each object bears the name of its proxy. */
const OWNED = {
  owned: true,
  labelSelector: PROXY_LABEL,
  indexes: { proxy: ownerOf },
  wakes: { proxy: ownerOf },
} as const;

export const PROXY_WATCHES: WatchTable<ProxyViews> = {
  proxies: {
    kind: kafkaProxy,
    writesStatus: true,
    indexes: { refs: REFS.proxies },
    wakes: { proxy: ownKey },
  },
  ingresses: {
    kind: kafkaProxyIngress,
    writesStatus: true,
    indexes: {
      proxy: (one) => [proxyKeyOf(one)],
      model: ({ spec }) => (isBalanced(spec) ? [BALANCED] : []),
      refs: REFS.ingresses,
    },
    wakes: { proxy: (one, views) => [proxyKeyOf(one), ...proxiesRivallingIngress(one, views)] },
  },
  virtualClusters: {
    kind: virtualKafkaCluster,
    writesStatus: true,
    indexes: { proxy: (one) => [proxyKeyOf(one)], ingress: ingressKeysOf, refs: REFS.virtualClusters },
    wakes: { proxy: (one, views) => [proxyKeyOf(one), ...proxiesRivallingCluster(one, views)] },
  },
  clusterRefs: { kind: kafkaClusterRef, indexes: { refs: REFS.clusterRefs }, wakes: { proxy: byReference } },
  filters: {
    kind: kafkaProtocolFilter,
    writesStatus: true,
    indexes: { refs: REFS.filters },
    wakes: { proxy: byReference, 'proxy-filter': ownKey },
  },
  // Read where resources refer to them (certificates, values in filter configs). Kubernetes cannot grant less than all Secrets of a
  // namespace; --watch-namespaces narrows which, and of all others nothing but their names is asked for.
  secrets: {
    kind: core('Secret', 'secrets'),
    labelSelector: `!${PROXY_LABEL}`,
    // Helm keeps whole charts in these, and nobody refers to them.
    fieldSelector: 'type!=helm.sh/release.v1',
    metadataOnly: true,
    trim: keepData,
    wakes: { proxy: byReference, 'proxy-filter': filtersReferring },
  },
  configMaps: {
    kind: core('ConfigMap', 'configmaps'),
    metadataOnly: true,
    trim: keepData,
    wakes: { proxy: byReference, 'proxy-filter': filtersReferring },
  },
  namespaces: {
    kind: { ...core('Namespace', 'namespaces'), scope: 'Cluster' },
    trim: keepData,
    wakes: { proxy: ({ metadata }, views) => proxiesIn([metadata.name], views) },
  },
  serviceAccounts: { kind: core('ServiceAccount', 'serviceaccounts'), ...OWNED },
  // Anybody may put our label on Secrets of their own.
  configSecrets: { kind: core('Secret', 'secrets'), ...OWNED, metadataOnly: true },
  deployments: { kind: builtIn('apps', 'Deployment', 'deployments'), ...OWNED },
  disruptionBudgets: { kind: builtIn('policy', 'PodDisruptionBudget', 'poddisruptionbudgets'), ...OWNED },
  networkPolicies: { kind: builtIn('networking.k8s.io', 'NetworkPolicy', 'networkpolicies'), ...OWNED },
  // All of them, so that a name that is taken is known before it is wanted.
  services: {
    kind: core('Service', 'services'),
    owned: true,
    complete: true,
    trim: trimService,
    indexes: { proxy: ownerOf },
    wakes: { proxy: ownerOf },
  },
  pods: {
    kind: core('Pod', 'pods'),
    labelSelector: PROXY_LABEL,
    trim: trimPod,
    indexes: { proxy: ownerOf },
    wakes: { proxy: ownerOf },
    // For one annotation, which makes the kubelet refresh a proxy's configuration at once.
    verbs: ['patch'],
  },
  kafkas: { kind: kafka, ...FOREIGN, wakes: { proxy: byReference } },
  nodePools: {
    kind: kafkaNodePool,
    ...FOREIGN,
    indexes: { kafka: kafkaOf },
    wakes: {
      proxy: (pool, views) => kafkaOf(pool).flatMap((key) => [...proxiesReferring(views, `Kafka ${key}`)]),
    },
  },
  grants: {
    kind: referenceGrant,
    ...FOREIGN,
    wakes: { proxy: (grant, views) => proxiesIn(grantedNamespaces(grant), views) },
  },
  gateways: { kind: gateway, ...FOREIGN, wakes: { proxy: byReference } },
  ingressControllers: { kind: ingressController, ...FOREIGN, wakes: { proxy: byReference } },
  routes: { kind: route, ...FOREIGN, ...OWNED },
  tlsRoutes: { kind: tlsRoute, ...FOREIGN, ...OWNED },
  // Those of other roads have names, too.
  dnsEndpoints: { kind: dnsEndpoint, ...FOREIGN, ...OWNED, labelSelector: PUBLISHED_SELECTOR },
  podMonitors: { kind: builtIn('monitoring.coreos.com', 'PodMonitor', 'podmonitors'), ...FOREIGN, ...OWNED },
  // Not dispensable: what may not be read must not open a zone.
  namePolicies: {
    kind: namePolicy,
    optional: true,
    everywhere: true,
    wakes: { proxy: (_, views) => everyProxy(views) },
  },
};

/** Every proxy that anything is said about. */
export function* everyProxy({ virtualClusters, ingresses }: ProxyViews): Generator<string> {
  for (const view of [virtualClusters, ingresses]) for (const one of view.list()) yield proxyKeyOf(one);
}

function filtersReferring(object: AnyObject, { filters }: ProxyViews): string[] {
  return filters.find('refs', refOf(object.kind, object)).map(({ metadata }) => keyOf(metadata));
}

/** The Kafka that a node pool belongs to. */
function kafkaOf({ metadata }: KubeObject): string[] {
  const name = metadata.labels?.['strimzi.io/cluster'];
  return name === undefined ? [] : [`${metadata.namespace}/${name}`];
}

function grantedNamespaces({ spec }: AnyObject): string[] {
  const { from = [] } = (spec ?? {}) as { from?: { namespace?: string }[] };
  return from.flatMap(({ namespace }) => namespace ?? []);
}

function* proxiesIn(namespaces: readonly string[], { proxies }: ProxyViews): Generator<string> {
  for (const namespace of namespaces)
    for (const proxy of proxies.list(namespace)) yield keyOf(proxy.metadata);
}
