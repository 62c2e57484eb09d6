/**
 * Who has which address. Every cluster has a network of its own behind one router (the hub); nodes also have a public
 * address, which the router translates as a cloud's does; pods and Services have addresses that mean something only in
 * their cluster (pods: unless they are routed). Services overlap between clusters, as they do in life.
 *
 *     cluster i    172.30.i.0/24, router .1, API server .10, node j .1j
 *     its pods     10.(240+i).0.0/16, on node j 10.(240+i).j.0/24
 *     in public    203.0.113.(10i+j); the API server has j = 0
 *     balancers    203.0.113.(100+10i) and the nine that follow
 *     the outside  198.51.100.0/24, its client .2, its DNS server .53, a DNS provider .54
 */

export const SERVICE_NETWORK = '10.96.0.0/16';
export const DNS_SERVICE = '10.96.0.10';
export const ALL_POD_NETWORKS = '10.240.0.0/12';
export const PUBLIC_NETWORK = '203.0.113.0/24';
export const OUTSIDE = {
  network: '198.51.100.0/24',
  gateway: '198.51.100.1',
  client: '198.51.100.2',
  dns: '198.51.100.53',
  /** A DNS provider, where a test starts one. */
  provider: '198.51.100.54',
} as const;
export const API_PORT = 6443;

/** Public addresses for a cluster's load balancers. */
export function balancerAddresses(index: number): string[] {
  return Array.from({ length: 10 }, (_, i) => `203.0.113.${100 + 10 * index + i}`);
}

export const MAX_CLUSTERS = 9;
export const MAX_NODES = 4;

export interface HostAddresses {
  internal: string;
  public: string;
}

export interface NodeAddresses extends HostAddresses {
  podNetwork: string;
}

export interface ClusterAddresses {
  /** 1 for the first cluster. */
  index: number;
  network: string;
  gateway: string;
  podNetwork: string;
  controlPlane: HostAddresses;
  nodes: NodeAddresses[];
}

/** The addresses of the `index`th cluster. */
export function clusterAddresses(index: number, nodes: number): ClusterAddresses {
  const host = (j: number) => ({
    internal: `172.30.${index}.${10 + j}`,
    public: `203.0.113.${10 * index + j}`,
  });
  return {
    index,
    network: `172.30.${index}.0/24`,
    gateway: `172.30.${index}.1`,
    podNetwork: `10.${240 + index}.0.0/16`,
    controlPlane: host(0),
    nodes: Array.from({ length: nodes }, (_, i) => ({
      ...host(i + 1),
      podNetwork: `10.${240 + index}.${i + 1}.0/24`,
    })),
  };
}
