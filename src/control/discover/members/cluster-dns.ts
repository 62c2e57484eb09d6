/** Where the cluster's own DNS servers, and the caches on its nodes, ask from: for all pods, so they must not be taken for one busy client. */
import type { Clock } from '../../../kube/clock.ts';
import { keyOf } from '../../../kube/object.ts';
import { DNS_SERVICES, NODE_CACHE_SERVICES } from '../delegation/observe.ts';
import type { EndpointSlice } from '../objects.ts';

export interface ClusterDnsOptions {
  /** The EndpointSlices of a Service. */
  slicesOf: (key: string) => readonly EndpointSlice[];
  trust: (addresses: readonly string[]) => void;
  clock: Clock;
}

const LOOK_AGAIN_MS = 10_000;

/** The addresses of the pods of the cluster's DNS, ready or not; those of caches on nodes are the nodes' own. */
export function clusterDnsAddresses(slicesOf: ClusterDnsOptions['slicesOf']): string[] {
  const slices = [...DNS_SERVICES, ...NODE_CACHE_SERVICES].flatMap((name) => slicesOf(keyOf(name)));
  const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
  return [...new Set(endpoints.flatMap(({ addresses }) => addresses))].toSorted();
}

/** Says which they are, whenever they have changed, until the signal is aborted. */
export async function followClusterDns(
  { slicesOf, trust, clock }: ClusterDnsOptions,
  signal: AbortSignal,
): Promise<void> {
  let before = '';
  while (!signal.aborted) {
    const addresses = clusterDnsAddresses(slicesOf);
    if (addresses.join() !== before) trust(addresses);
    before = addresses.join();
    await clock.wait(LOOK_AGAIN_MS, signal);
  }
}
