/** Virtual clusters of different proxies that want one host name. All they share is DNS, which has room for one of them. */
import { keyOf } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { kafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import { virtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { ageOf } from './age.ts';
import { createHostIndex } from './host-index.ts';
import type { HostIndex } from './host-index.ts';
import { CLUSTER_LABEL, PROXY_LABEL, namedPattern } from './names.ts';
import { read } from './read.ts';
import { BALANCED, proxyKeyOf } from './sources.ts';
import type { Sources } from './sources.ts';

/**
 * The host names that virtual clusters of other proxies have: at load balancers by their patterns, and at Gateways, which may be
 * shared by namespaces, by the routes made for them.
 */
export function hostsElsewhere(sources: Sources, key: string): HostIndex {
  const hosts = createHostIndex();
  for (const { metadata, spec } of sources.tlsRoutes?.list() ?? []) {
    const { namespace, name, labels = {} } = metadata;
    if (keyOf({ namespace, name: labels[PROXY_LABEL] ?? '' }) === key) continue;
    const { hostnames = [] } = (spec ?? {}) as { hostnames?: string[] };
    const holder = holderText(labels[CLUSTER_LABEL] ?? name, namespace);
    for (const host of hostnames) hosts.add(host, { holder, age: ageOf(metadata) });
  }
  for (const ingress of sources.ingresses.find('way', BALANCED)) {
    if (proxyKeyOf(ingress) === key || !sources.proxies.get(proxyKeyOf(ingress))) continue;
    for (const { metadata } of clustersAt(ingress, sources)) {
      const holder = holderText(metadata.name, metadata.namespace);
      for (const host of hostsAt(ingress, metadata.name)) hosts.add(host, { holder, age: ageOf(metadata) });
    }
  }
  return hosts;
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
function clustersAt(ingress: AnyObject, { virtualClusters }: Sources): AnyObject[] {
  return virtualClusters
    .find('ingress', keyOf(ingress.metadata))
    .filter(
      (cluster) =>
        cluster.metadata.deletionTimestamp === undefined && proxyKeyOf(cluster) === proxyKeyOf(ingress),
    );
}

/** The proxies that have a rival of this virtual cluster: what becomes of it decides about theirs. */
export function rivalsOfCluster(cluster: AnyObject, sources: Sources): string[] {
  const { namespace, name } = cluster.metadata;
  const { ingresses = [] } = read(virtualKafkaCluster, cluster).resource?.spec ?? {};
  return ingresses.flatMap((one) => {
    const ingress = sources.ingresses.get(keyOf({ namespace, name: one.name }));
    return ingress ? proxiesWith(hostsAt(ingress, name), name, proxyKeyOf(cluster), sources) : [];
  });
}

/** The same of all virtual clusters that use an ingress. */
export function rivalsOfIngress(ingress: AnyObject, sources: Sources): string[] {
  return clustersAt(ingress, sources).flatMap(({ metadata: { name } }) =>
    proxiesWith(hostsAt(ingress, name), name, proxyKeyOf(ingress), sources),
  );
}

/**
 * Other proxies where one of these hosts, which a virtual cluster of this name has, is wanted too. Where a host only is among those
 * that a pattern covers, the other proxy is not woken: it finds out when it looks at its pods again, within a minute.
 */
function proxiesWith(hosts: readonly string[], name: string, proxy: string, sources: Sources): string[] {
  if (hosts.length === 0) return [];
  return sources.ingresses.find('way', BALANCED).flatMap((ingress) => {
    if (proxyKeyOf(ingress) === proxy) return [];
    // Mostly hosts are named after virtual clusters, and then only one of the same name can be a rival.
    const namesake = sources.virtualClusters.get(keyOf({ namespace: ingress.metadata.namespace, name }));
    const others =
      hostsAt(ingress, '').join() === hostsAt(ingress, '0').join()
        ? clustersAt(ingress, sources)
        : namesake
          ? [namesake]
          : [];
    const collides = others.some((other) =>
      hostsAt(ingress, other.metadata.name).some((host) => hosts.includes(host)),
    );
    return collides ? [proxyKeyOf(ingress)] : [];
  });
}
