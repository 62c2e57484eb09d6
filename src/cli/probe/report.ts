/** The outcome of a probe as the message that a container ends with. */
import { z } from 'zod';
import { MAX_MESSAGE, pack, unpack } from '../../probe/packed.ts';
import type { ProbedCluster, ProbedEndpoint } from '../../probe/probed.ts';
import { isReachable } from '../../probe/probed.ts';

const step = z.enum(['connect', 'tls', 'versions', 'login', 'metadata', 'identity']);
const endpoint = z.object({
  host: z.string(),
  port: z.int(),
  nodeId: z.int().exactOptional(),
  resolveMs: z.number(),
  unresolved: z.string().exactOptional(),
  addresses: z.array(
    z.object({
      address: z.string(),
      passed: z.array(z.object({ step, ms: z.number() })),
      failed: z.object({ step, problem: z.string() }).exactOptional(),
    }),
  ),
});
const report = z.object({
  clusterId: z.string().nullable(),
  bootstrap: z.array(endpoint),
  brokers: z.array(endpoint),
  leftOut: z.int().min(0),
});

/** Times to a tenth of a millisecond; where that does not fit, none, and then fewer of the brokers that are reached. */
export function packReport(probed: ProbedCluster): string {
  const rounded = mapEndpoints(probed, withTimes);
  if (pack(rounded).length <= MAX_MESSAGE) return pack(rounded);
  let { brokers, leftOut } = mapEndpoints(probed, withoutTimes);
  brokers = brokers.toSorted((a, b) => Number(isReachable(a)) - Number(isReachable(b)));
  for (;;) {
    const text = pack({ ...mapEndpoints(probed, withoutTimes), brokers, leftOut });
    if (text.length <= MAX_MESSAGE || brokers.length === 0) return text;
    const kept = Math.floor(brokers.length / 2);
    leftOut += brokers.length - kept;
    brokers = brokers.slice(0, kept);
  }
}

const mapEndpoints = (
  probed: ProbedCluster,
  map: (one: ProbedEndpoint) => ProbedEndpoint,
): ProbedCluster => ({ ...probed, bootstrap: probed.bootstrap.map(map), brokers: probed.brokers.map(map) });

const round = (ms: number) => Math.round(ms * 10) / 10;

const withTimes = (one: ProbedEndpoint): ProbedEndpoint => ({
  ...one,
  resolveMs: round(one.resolveMs),
  addresses: one.addresses.map((at) => ({
    ...at,
    passed: at.passed.map((passed) => ({ ...passed, ms: round(passed.ms) })),
  })),
});

const withoutTimes = (one: ProbedEndpoint): ProbedEndpoint => ({
  ...one,
  resolveMs: 0,
  addresses: one.addresses.map((at) => ({ ...at, passed: [] })),
});

export const unpackReport = (text: string): ProbedCluster | undefined => unpack(text, report);
