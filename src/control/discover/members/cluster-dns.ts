/** Where the cluster's own DNS servers ask from: they ask for all of its pods, and must not be taken for one busy client. */
import type { Clock } from '../../../kube/clock.ts';
import { keyOf } from '../../../kube/object.ts';
import { DNS_SERVICES } from '../delegation/observe.ts';
import type { EndpointSlice } from '../objects.ts';

export interface ClusterDnsOptions {
  /** The EndpointSlices of a Service. */
  slicesOf: (key: string) => readonly EndpointSlice[];
  trust: (addresses: readonly string[]) => void;
  clock: Clock;
}

const LOOK_AGAIN_MS = 10_000;

/** The addresses of the pods of the cluster's DNS, ready or not. */
export function clusterDnsAddresses(slicesOf: ClusterDnsOptions['slicesOf']): string[] {
  const slices = DNS_SERVICES.flatMap((name) => slicesOf(keyOf(name)));
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
