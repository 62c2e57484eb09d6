/** The life of one container of a pod: started, probed, ended, started again after a while. */
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../../src/ops/errors.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import type { Container } from './container.ts';
import { probeOnce, watchProbe } from './probe.ts';
import { terminated, timestamp } from './status.ts';
import type { ContainerRecord } from './status.ts';
import type { ContainerSpec, Probe } from './types.ts';

/** A kubelet waits from 10 s up to 5 min: a test has less time. */
const BACKOFF_MS = { first: 1000, most: 10_000 };
/** Who ran for so long is not crashing in a loop. */
const WELL_MS = 60_000;
const LIVENESS_GRACE_MS = 30_000;
const OFTEN_SECONDS = 0.5;

/** What is wanted of a container whose pod is to end: nothing yet, or an end within the grace. */
export interface Ending {
  readonly signal: AbortSignal;
  graceMs: number;
}

/** Why a container cannot be started now; `reason` is the kubelet's word for it. */
export interface NotYet {
  missing: string;
  reason?: 'ImagePullBackOff' | 'CreateContainerConfigError';
}

export interface ContainerLife {
  spec: ContainerSpec;
  record: ContainerRecord;
  podIP: string;
  ending: Ending;
  /** Starts it, or says what it still lacks. */
  start(): Promise<Container | NotYet>;
  /** The last lines that it wrote. */
  logTail: () => Promise<string>;
  /** Whether its end is the end, as that of an init container is when all went well. */
  runsOnce: boolean;
  /** Whether it is so however it ended. */
  isNeverRestarted: boolean;
}

/** A test has less time than to wait for the next look at what is ready already; as many failures in a row as before make it unready. */
function often(probe: Probe): Probe {
  const { periodSeconds = 10, failureThreshold = 3 } = probe;
  const periods = Math.max(1, periodSeconds / OFTEN_SECONDS);
  return {
    ...probe,
    periodSeconds: Math.min(periodSeconds, OFTEN_SECONDS),
    failureThreshold: failureThreshold * periods,
  };
}

/** Follows a container's probes until `over`. A container without a readiness probe is ready when it runs. */
function follow({ spec, record, podIP }: ContainerLife, container: Container, over: AbortSignal): void {
  const { readinessProbe, livenessProbe } = spec;
  record.ready = readinessProbe === undefined;
  const look = (probe: NonNullable<typeof readinessProbe>) => () => probeOnce(probe, spec, container, podIP);
  if (readinessProbe)
    void watchProbe(often(readinessProbe), look(readinessProbe), (is) => void (record.ready = is), over);
  if (livenessProbe)
    void watchProbe(
      livenessProbe,
      look(livenessProbe),
      (is) => void (is || container.stop(LIVENESS_GRACE_MS)),
      over,
    );
}

/** Waits for the end of a run, or brings it about when the pod ends. */
async function untilEnded(container: Container, ending: Ending): Promise<number> {
  const isOver = async () => container.exitCode !== undefined || ending.signal.aborted;
  await waitFor('the end of a container', isOver, { timeoutMs: Number.POSITIVE_INFINITY, everyMs: 100 });
  if (container.exitCode === undefined) await container.stop(ending.graceMs);
  return container.exitCode ?? 137;
}

async function messageOfEnd(
  { spec, logTail }: ContainerLife,
  container: Container,
  code: number,
): Promise<string> {
  const message = await container.terminationMessage();
  const usesLog = message === '' && code !== 0 && spec.terminationMessagePolicy === 'FallbackToLogsOnError';
  return usesLog ? logTail() : message;
}

/** One run, from its start to its end; undefined if it could not be started. */
async function runOnce(life: ContainerLife): Promise<number | undefined> {
  const { record, ending } = life;
  const container = await life.start().catch((error: unknown): NotYet => ({ missing: messageOf(error) }));
  if ('missing' in container) {
    const { missing: message, reason = 'ContainerCreating' } = container;
    record.state = { waiting: { reason, message } };
    return undefined;
  }
  const startedAt = timestamp();
  record.state = { running: { startedAt } };
  const over = new AbortController();
  follow(life, container, over.signal);
  const code = await untilEnded(container, ending);
  over.abort();
  record.ready = false;
  record.state = { terminated: terminated(code, await messageOfEnd(life, container, code), startedAt) };
  return code;
}

/** Runs a container for as long as its pod lives. */
export async function keepRunning(life: ContainerLife): Promise<void> {
  const { record, ending, runsOnce, isNeverRestarted } = life;
  const sleep = (ms: number) => delay(ms, undefined, { signal: ending.signal }).catch(() => {});
  let backoffMs = BACKOFF_MS.first;
  while (!ending.signal.aborted) {
    const began = Date.now();
    const code = await runOnce(life);
    if (code === undefined) {
      await sleep(200);
      continue;
    }
    if (ending.signal.aborted || isNeverRestarted) return;
    if (runsOnce && code === 0) {
      record.ready = true;
      return;
    }
    if (Date.now() - began > WELL_MS) backoffMs = BACKOFF_MS.first;
    if ('terminated' in record.state) record.lastState = { terminated: record.state.terminated };
    record.state = {
      waiting: { reason: 'CrashLoopBackOff', message: `starts again after ${backoffMs / 1000} s` },
    };
    await sleep(backoffMs);
    backoffMs = Math.min(backoffMs * 2, BACKOFF_MS.most);
    record.restartCount += 1;
  }
}
