/** Whether a delegation works, asked the way a pod asks: through the cluster's own DNS. */
import type { Clock } from '../../../kube/clock.ts';
import { probeZone } from './probe.ts';

export interface Question {
  zones: readonly string[];
  /** What the answers must say. */
  clusterId: string;
  /** The cluster's DNS. */
  through: string;
}

export interface Patience {
  clock: Clock;
  withinMs: number;
  signal: AbortSignal;
  /** Whether there is any point in asking on. */
  isStill: () => Promise<boolean>;
}

export type Evaluation = { works: true } | { works: false; problem: string } | 'interrupted';

const PAUSE_MS = 1000;
/** Behind one address there are several servers, and each reads its configuration when it likes. */
const ROUNDS = 3;

/** Asks once for each zone. Undefined if all are answered by us. */
export async function problemThrough({ zones, clusterId, through }: Question): Promise<string | undefined> {
  const probes = await Promise.all(zones.map((zone) => probeZone(through, zone, clusterId)));
  const wrong = probes.find((probe) => probe.answer !== 'ours');
  return wrong && `the cluster's DNS at ${through} says: ${wrong.what}`;
}

/** Whether the cluster's DNS answers anything at all: without that nothing could be verified. */
export async function isReached({ zones, clusterId, through }: Question): Promise<boolean> {
  const { answer } = await probeZone(through, zones[0]!, clusterId);
  return answer !== 'none';
}

/** Asks again and again, until all zones are answered by us some times in a row, or time is up. */
export async function verify(question: Question, patience: Patience): Promise<Evaluation> {
  const { clock, withinMs, signal, isStill } = patience;
  const deadline = clock.now() + withinMs;
  let good = 0;
  let problem: string | undefined;
  for (;;) {
    problem = await problemThrough(question);
    good = problem === undefined ? good + 1 : 0;
    if (good >= ROUNDS) return { works: true };
    if (signal.aborted || !(await isStill())) return 'interrupted';
    if (problem !== undefined && clock.now() >= deadline) return { works: false, problem };
    await clock.wait(PAUSE_MS / (good + 1), signal);
  }
}
