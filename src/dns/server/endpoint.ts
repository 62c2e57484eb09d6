import { isIPv4 } from 'node:net';

/** An address and port to listen on, over UDP and TCP alike. */
export interface Endpoint {
  address: string;
  port: number;
  /** For `::` beside `0.0.0.0`: leave IPv4 to the other one. */
  ipv6Only: boolean;
}

/** The endpoints of a configured list. */
export function endpointsOf(listen: readonly { address: string; port: number }[]): Endpoint[] {
  const hasIPv4 = listen.some(({ address }) => isIPv4(address));
  return listen.map(({ address, port }) => ({ address, port, ipv6Only: hasIPv4 && !isIPv4(address) }));
}

/** The IPv4 part of "all addresses", for kernels without IPv6; undefined if the endpoint means less than that. */
export function ipv4Only(endpoint: Endpoint): Endpoint | undefined {
  return endpoint.address === '::' && !endpoint.ipv6Only ? { ...endpoint, address: '0.0.0.0' } : undefined;
}
