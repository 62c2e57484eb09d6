/** What the resources of a folder mean on this machine: what a Service would do in a cluster, a local port does here. */
import type { GatewayAddress, ServedCluster } from '../control/proxy/config/document.ts';
import { allocatePorts } from '../control/proxy/ports/ports.ts';
import type { Allocation, PortRequest } from '../control/proxy/ports/ports.ts';
import { resolveCluster } from '../control/proxy/resolve/resolve.ts';
import type { Fault, ResolvedCluster, ResolvedIngress } from '../control/proxy/resolve/resolve.ts';
import type { ProxySnapshot } from '../control/proxy/snapshot.ts';
import { countNodes } from '../resources/common/node-ids.ts';

const BIND_ADDRESS = '127.0.0.1';
const LAST_PORT = 65_535;

/** An address to give to clients. */
export interface Listing {
  virtualCluster: string;
  ingress: string;
  bootstrap: string;
  protocol: 'TCP' | 'TLS';
  filters: string[];
}

export interface LocalPlan {
  clusters: ServedCluster[];
  listings: Listing[];
  faults: (Fault & { virtualCluster: string; namespace?: string })[];
  allocation: Allocation;
}

/** Decides which virtual clusters are served and where. Pure: a broken one is a fault of its own and moves no other. */
export function planLocally(snapshot: ProxySnapshot, known: Allocation, now: number): LocalPlan {
  const faults: LocalPlan['faults'] = [];
  const resolved: ResolvedCluster[] = [];
  for (const cluster of snapshot.virtualClusters) {
    const { name, namespace } = cluster.metadata;
    const resolution = resolveCluster(cluster, snapshot);
    const found = resolution.ok ? unservable(resolution.resolved) : resolution.faults;
    const other = resolved.find((one) => one.cluster.metadata.name === name);
    if (other) found.push(nameTaken(other));
    faults.push(...found.map((fault) => ({ ...fault, virtualCluster: name, namespace })));
    if (resolution.ok && found.length === 0) resolved.push(resolution.resolved);
  }
  const claims = resolved.flatMap(({ cluster, ingresses, target }) =>
    ingresses.flatMap((ingress) => claimOf(cluster.metadata.name, ingress, countNodes(target.nodeIdRanges))),
  );
  const { allocation, refused } = allocatePorts(claims, known, { first: 1, last: LAST_PORT }, now);
  const clusters = resolved
    .filter(
      ({ cluster, ingresses }) =>
        !ingresses.some((it) => refused.includes(ownerOf(cluster.metadata.name, it))),
    )
    .map((cluster) => serve(cluster, allocation));
  return { clusters, listings: clusters.flatMap(listingsOf), faults, allocation };
}

/** Here all namespaces are one, and a virtual cluster is known by its name. */
function nameTaken({ cluster: { metadata } }: ResolvedCluster): Fault {
  const message = `one of this name, of namespace "${metadata.namespace}", is served; on this machine names must differ`;
  return { reason: 'NotSupported', path: ['metadata', 'name'], message };
}

/** Some ways in exist only where something else provides them. */
function unservable({ cluster, ingresses }: ResolvedCluster): Fault[] {
  return ingresses.flatMap(({ ingress }): Fault[] => {
    const { openShiftRoute, gateway } = ingress.spec;
    if (!openShiftRoute && !gateway) return [];
    const index = cluster.spec.ingresses.findIndex(({ name }) => name === ingress.metadata.name);
    const message = `KafkaProxyIngress "${ingress.metadata.name}" needs ${openShiftRoute ? 'OpenShift' : 'a Gateway'}; on this machine use clusterIP or loadBalancer`;
    return [{ reason: 'NotSupported', path: ['spec', 'ingresses', index], message }];
  });
}

const ownerOf = (cluster: string, { ingress }: ResolvedIngress) => `${cluster}/${ingress.metadata.name}`;

/** A load balancer's virtual clusters share its one port and are told apart by name; the others get a block each. */
function claimOf(cluster: string, resolved: ResolvedIngress, nodes: number): PortRequest[] {
  const { clusterIP } = resolved.ingress.spec;
  return clusterIP ? [{ owner: ownerOf(cluster, resolved), size: nodes + 1, from: clusterIP.port }] : [];
}

function serve(resolved: ResolvedCluster, allocation: Allocation): ServedCluster {
  const { name } = resolved.cluster.metadata;
  const ingresses = resolved.ingresses.map((ingress) => ({
    ...ingress,
    address: addressOf(name, ingress, allocation),
  }));
  return { ...resolved, ingresses };
}

function addressOf(cluster: string, resolved: ResolvedIngress, { held }: Allocation): GatewayAddress {
  const { loadBalancer } = resolved.ingress.spec;
  if (loadBalancer) {
    const { bootstrapAddressPattern, brokerAddressPattern, port } = loadBalancer;
    const named = (pattern: string) => pattern.replaceAll('$(virtualClusterName)', cluster);
    return {
      by: 'sni',
      bootstrapHost: named(bootstrapAddressPattern),
      brokerPattern: named(brokerAddressPattern),
      port,
      listenPort: port,
      bindAddress: BIND_ADDRESS,
    };
  }
  const host = resolved.tls ? 'localhost' : BIND_ADDRESS;
  const port = held[ownerOf(cluster, resolved)]!.start;
  return {
    by: 'port',
    bootstrapHost: host,
    bootstrapPort: port,
    brokerHost: host,
    listenPort: port,
    bindAddress: BIND_ADDRESS,
  };
}

function listingsOf({ cluster, ingresses, filters }: ServedCluster): Listing[] {
  return ingresses.map(({ ingress, tls, address }) => ({
    virtualCluster: cluster.metadata.name,
    ingress: ingress.metadata.name,
    bootstrap: `${address.bootstrapHost}:${address.by === 'port' ? address.bootstrapPort : address.port}`,
    protocol: tls ? 'TLS' : 'TCP',
    filters: filters.map(({ name }) => name),
  }));
}
