/** Virtual clusters of different proxies that want one host name. All they share is DNS, which has room for one of them. */
import { isBeingDeleted, keyOf } from '../../../kube/object.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { kafkaProxyIngress } from '../../../resources/kroxylicious/kafka-proxy-ingress.ts';
import { virtualKafkaCluster } from '../../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { grantOf, hostRank, indexGrants, routeRank } from './host-grants.ts';
import type { HostGrant } from './host-grants.ts';
import { createHostIndex } from '../../shared/host-index.ts';
import type { HostIndex } from '../../shared/host-index.ts';
import { CLUSTER_LABEL, PROXY_LABEL, namedPattern } from '../names.ts';
import { read } from '../../kernel/read.ts';
import { BALANCED, proxyKeyOf } from '../refs.ts';
import type { ProxyViews } from '../watches.ts';

/**
 * The host names that virtual clusters of other proxies have: at load balancers by their patterns, and at Gateways, which may be
 * shared by namespaces, by the routes made for them.
 */
export function hostsElsewhere(views: ProxyViews, key: string): HostIndex {
  const hosts = createHostIndex();
  for (const { metadata, spec } of views.tlsRoutes?.list() ?? []) {
    const { namespace, name, labels = {} } = metadata;
    if (keyOf({ namespace, name: labels[PROXY_LABEL] ?? '' }) === key) continue;
    const { hostnames = [] } = (spec ?? {}) as { hostnames?: string[] };
    const holder = holderText(labels[CLUSTER_LABEL] ?? name, namespace);
    for (const host of hostnames) hosts.add(host, { holder, rank: routeRank(metadata) });
  }
  for (const ingress of views.ingresses.find('model', BALANCED)) {
    if (proxyKeyOf(ingress) === key || !views.proxies.get(proxyKeyOf(ingress))) continue;
    const grants = indexGrants(grantsIn(views.proxies.get(proxyKeyOf(ingress))));
    for (const { metadata } of clustersAt(ingress, views)) {
      const holder = holderText(metadata.name, metadata.namespace);
      const [bootstrap = '', brokers = ''] = hostsAt(ingress, metadata.name);
      const claimed = { ingress: ingress.metadata.name, bootstrap, brokers };
      const rank = hostRank(metadata, grantOf(grants, metadata.name, claimed)?.since);
      for (const host of hostsAt(ingress, metadata.name)) hosts.add(host, { holder, rank });
    }
  }
  return hosts;
}

/** The host names that a KafkaProxy has given to its virtual clusters. */
export function grantsIn(proxy: AnyObject | undefined): readonly HostGrant[] {
  const { hostNames = [] } = (proxy?.status ?? {}) as { hostNames?: HostGrant[] };
  return hostNames;
}

const holderText = (name: string, namespace: string | undefined) =>
  `VirtualKafkaCluster "${name}" in namespace "${namespace}"`;

/** What a load balancer's patterns make of a virtual cluster. */
function hostsAt(ingress: AnyObject, cluster: string): string[] {
  const { loadBalancer } = read(kafkaProxyIngress, ingress).resource?.spec ?? {};
  if (!loadBalancer) return [];
  const { bootstrapAddressPattern, brokerAddressPattern } = loadBalancer;
  return [bootstrapAddressPattern, brokerAddressPattern].map((pattern) => namedPattern(pattern, cluster));
}

/** The virtual clusters that use an ingress, and may. */
function clustersAt(ingress: AnyObject, { virtualClusters }: ProxyViews): AnyObject[] {
  return virtualClusters
    .find('ingress', keyOf(ingress.metadata))
    .filter((cluster) => !isBeingDeleted(cluster) && proxyKeyOf(cluster) === proxyKeyOf(ingress));
}

/** The proxies that have a rival of this virtual cluster: what becomes of it decides about theirs. */
export function proxiesRivallingCluster(cluster: AnyObject, views: ProxyViews): string[] {
  const { namespace, name } = cluster.metadata;
  const { ingresses = [] } = read(virtualKafkaCluster, cluster).resource?.spec ?? {};
  return ingresses.flatMap((one) => {
    const ingress = views.ingresses.get(keyOf({ namespace, name: one.name }));
    return ingress ? proxiesWith(hostsAt(ingress, name), name, proxyKeyOf(cluster), views) : [];
  });
}

/** The same of all virtual clusters that use an ingress. */
export function proxiesRivallingIngress(ingress: AnyObject, views: ProxyViews): string[] {
  return clustersAt(ingress, views).flatMap(({ metadata: { name } }) =>
    proxiesWith(hostsAt(ingress, name), name, proxyKeyOf(ingress), views),
  );
}

/**
 * Other proxies where one of these hosts, which a virtual cluster of this name has, is wanted too. Where a host only is among those
 * that a pattern covers, the other proxy is not woken: it finds out when it looks at its pods again, within a minute.
 */
function proxiesWith(hosts: readonly string[], name: string, proxy: string, views: ProxyViews): string[] {
  if (hosts.length === 0) return [];
  return views.ingresses.find('model', BALANCED).flatMap((ingress) => {
    if (proxyKeyOf(ingress) === proxy) return [];
    // Mostly hosts are named after virtual clusters, and then only one of the same name can be a rival.
    const namesake = views.virtualClusters.get(keyOf({ namespace: ingress.metadata.namespace, name }));
    const others =
      hostsAt(ingress, '').join() === hostsAt(ingress, '0').join()
        ? clustersAt(ingress, views)
        : namesake
          ? [namesake]
          : [];
    const collides = others.some((other) =>
      hostsAt(ingress, other.metadata.name).some((host) => hosts.includes(host)),
    );
    return collides ? [proxyKeyOf(ingress)] : [];
  });
}
