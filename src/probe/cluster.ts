import { forEachLimit } from '../ops/for-each-limit.ts';
import { probeEndpoint } from './endpoint.ts';
import type { Endpoint, ProbeOptions, SeenCluster } from './endpoint.ts';
import type { ProbedCluster, ProbedEndpoint } from './probed.ts';

const AT_ONCE = 16;
const MOST_BROKERS = 1000;

/** Probes where clients begin, and then every broker that they are told of, by the address that they are told. */
export async function probeCluster(
  bootstrap: readonly Endpoint[],
  options: ProbeOptions,
): Promise<ProbedCluster> {
  let seen: SeenCluster = { clusterId: null, brokers: [] };
  // A broker that has just started may not know all the others yet.
  const keepMost = (found: SeenCluster) => {
    if (found.brokers.length > seen.brokers.length) seen = found;
  };
  const begun = await probeAll(bootstrap, options, keepMost);
  const known = seen.brokers.toSorted((a, b) => a.nodeId - b.nodeId);
  const brokers = known.slice(0, MOST_BROKERS).map(({ nodeId, host, port }) => ({ nodeId, host, port }));
  return {
    clusterId: seen.clusterId,
    bootstrap: begun,
    brokers: await probeAll(brokers, options),
    leftOut: known.length - brokers.length,
  };
}

/** Each endpoint, several at a time, in their order. */
export async function probeAll(
  endpoints: readonly Endpoint[],
  options: ProbeOptions,
  onCluster?: (seen: SeenCluster) => void,
): Promise<ProbedEndpoint[]> {
  const probed = new Map<Endpoint, ProbedEndpoint>();
  await forEachLimit(endpoints, AT_ONCE, async (endpoint) => {
    probed.set(endpoint, await probeEndpoint(endpoint, options, onCluster));
  });
  return endpoints.map((endpoint) => probed.get(endpoint)!);
}
