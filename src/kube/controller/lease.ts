import { randomUUID } from 'node:crypto';
import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import type { Client } from '../http/client.ts';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { hasStatus } from '../http/errors.ts';
import { checkTimes, granted, leadsFor, nextStep, observe } from './lease-machine.ts';
import type { ElectionState, ElectionStep, ElectionTimes, Instant, SeenLease } from './lease-machine.ts';
import type { KubeObject } from '../object.ts';

interface Lease extends KubeObject {
  spec: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

export interface ElectionOptions extends Partial<ElectionTimes> {
  client: () => Client;
  namespace: string;
  name: string;
  /** For people, e.g. the pod's name; a part that no other process has is appended. */
  identity: string;
  /** What the leader does. It must end when the signal is aborted: until it has, this process does not try to lead again. */
  lead: (signal: AbortSignal) => Promise<void>;
  log: Log;
  clock?: Clock;
}

/** Takes part in the election of one leader among several processes, by a Lease. */
export interface Election {
  readonly identity: string;
  /** True only while no one else can be leader. */
  isLeader(): boolean;
  /** Who holds the lease, as far as we have seen. */
  holder(): string | undefined;
  /** Ends the leader's work, then gives the lease back so that nobody has to wait for it. */
  stop(): Promise<void>;
}

const LEASE = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' };
const EMPTY = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
export const TIMES: ElectionTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };

/** Times in a Lease have microseconds. */
const microTime = (ms: number) => new Date(ms).toISOString().replace('Z', '000Z');

export function runElection(options: ElectionOptions): Election {
  const { client, namespace, name, lead, clock = systemClock } = options;
  const times = timesOf(options);
  checkTimes(times);
  const identity = `${options.identity}_${randomUUID()}`;
  const log = options.log.child({ lease: `${namespace}/${name}`, identity });
  const stopped = new AbortController();
  const limit = { timeoutMs: Math.min(5000, times.renewDeadlineMs / 2) };
  let state: ElectionState = {};

  const now = (): Instant => ({ mono: clock.now(), wall: clock.wallTime() });
  const isLeader = () => leadsFor(state, now(), times) > 0;

  function specOf(step: Exclude<ElectionStep, { do: 'wait' }>, holder: string): Lease['spec'] {
    const renewTime = microTime(clock.wallTime());
    const leaseDurationSeconds = Math.ceil(times.leaseDurationMs / 1000);
    const spec = { holderIdentity: holder, leaseDurationSeconds, renewTime };
    if (step.do === 'renew') return spec;
    return { ...spec, acquireTime: renewTime, leaseTransitions: step.do === 'create' ? 0 : step.transitions };
  }

  /** Writes the lease, if it still is as we saw it; else a conflict is thrown. */
  function write(step: Exclude<ElectionStep, { do: 'wait' }>, holder: string): Promise<Lease> {
    const spec = specOf(step, holder);
    if (step.do === 'create')
      return client().create<Lease>({ ...EMPTY, metadata: { name, namespace }, spec }, limit);
    const patch = { metadata: { resourceVersion: step.resourceVersion }, spec };
    return client().mergePatch<Lease>(LEASE, { name, namespace }, patch, limit);
  }

  async function look(): Promise<void> {
    const found = await client().get<Lease>(LEASE, { namespace, name }, limit);
    state = observe(state, identity, found && seenOf(found), now());
  }

  /** One try to get or keep the lease. */
  async function tick(): Promise<void> {
    if (!isLeader()) await look(); // a leader knows the version it wrote, and saves the question
    const step = nextStep(state, identity, now(), times);
    if (step.do === 'wait') return;
    const begun = now();
    try {
      state = granted(seenOf(await write(step, identity)), begun, now());
    } catch (error) {
      if (!hasStatus(error, 409) && !hasStatus(error, 404)) throw error;
      await look(); // somebody was quicker
    }
  }

  async function tryOnce(): Promise<void> {
    try {
      await tick();
    } catch (error) {
      log.warn({ problem: messageOf(error) }, 'the lease could not be read or renewed');
    }
  }

  const pause = (signal: AbortSignal) =>
    clock.wait(times.retryPeriodMs * (0.9 + 0.2 * Math.random()), signal);

  /** Renews for as long as the work goes on, its winding up included. */
  async function renewUntil(settled: AbortSignal): Promise<void> {
    for (;;) {
      await pause(settled);
      if (settled.aborted || !isLeader()) return;
      await tryOnce();
    }
  }

  /** A term as leader. The work is told to end in time even while a renewal hangs, since the clock is watched apart from it. */
  async function reign(): Promise<void> {
    const over = new AbortController();
    const settled = new AbortController();
    const unrenewed = new AbortController();
    log.info('leading');
    const work = (async () => lead(over.signal))()
      .catch((err: unknown) => log.error({ err }, 'the leader failed'))
      .finally(() => settled.abort());
    const renewals = renewUntil(settled.signal).finally(() => unrenewed.abort());
    const ends = AbortSignal.any([settled.signal, unrenewed.signal, stopped.signal]);
    while (!ends.aborted && isLeader()) await clock.wait(leadsFor(state, now(), times), ends);
    over.abort();
    await Promise.all([work, renewals]);
    log.info('no longer leading');
    await release();
  }

  async function release(): Promise<void> {
    const held = isLeader() ? state.seen : undefined;
    state = { seen: state.seen };
    if (!held) return;
    const { resourceVersion, transitions } = held.lease;
    try {
      await write({ do: 'renew', resourceVersion, transitions }, '');
    } catch (error) {
      log.warn({ problem: messageOf(error) }, 'the lease could not be given back; it will expire');
    }
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      await tryOnce();
      if (isLeader()) await reign();
      await pause(stopped.signal);
    }
  }

  const done = run();
  return {
    identity,
    isLeader,
    holder: () => state.seen?.lease.holder,
    async stop() {
      stopped.abort();
      await done;
    },
  };
}

function seenOf({ metadata, spec }: Lease): SeenLease {
  return {
    resourceVersion: metadata.resourceVersion ?? '',
    holder: spec.holderIdentity ?? '',
    durationMs: (spec.leaseDurationSeconds ?? 0) * 1000,
    transitions: spec.leaseTransitions ?? 0,
  };
}

function timesOf(given: Partial<ElectionTimes>): ElectionTimes {
  const {
    leaseDurationMs = TIMES.leaseDurationMs,
    renewDeadlineMs = TIMES.renewDeadlineMs,
    retryPeriodMs = TIMES.retryPeriodMs,
  } = given;
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}
