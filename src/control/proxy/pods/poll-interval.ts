/** How soon to ask pods again, which no watch tells about: soon after a change, and less often the longer there is none. Pure. */
import { canonicalJson } from '../../../kube/json.ts';
import type { LivePod } from '../observed.ts';

/** What pods were seen to be like, and since when nothing about that has changed. */
export interface PodObservation {
  seen: string;
  since: number;
}

/** What counts as a change: of the proxy, its configuration, its pods, or what they answer. */
export interface PodState {
  generation: number | undefined;
  configVersion: string;
  pods: readonly LivePod[];
}

export function observePods(
  { generation, configVersion, pods }: PodState,
  before: PodObservation | undefined,
  now: number,
): PodObservation {
  const states = pods.map(({ problems, nodeIds, unreachable, ...pod }) => ({
    ...pod,
    nodeIds: [...(nodeIds ?? [])],
    isUnreachable: unreachable !== undefined,
    // Their words may differ each time.
    problems: [...(problems ?? [])].map(([cluster, problem]) => [cluster, { ...problem, message: '' }]),
  }));
  const seen = canonicalJson([generation, configVersion, states]);
  return before?.seen === seen ? before : { seen, since: now };
}

const LONGEST_MS = 30_000;

/** A quarter of the time that has gone by without a change: whatever comes then is noticed with little delay, compared to that. */
export function pollIntervalMs(unchangedMs: number, shortestMs: number): number {
  return Math.min(LONGEST_MS, Math.max(shortestMs, unchangedMs / 4));
}
