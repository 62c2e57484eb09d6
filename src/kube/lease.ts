import { randomUUID } from 'node:crypto';
import { messageOf } from '../ops/errors.ts';
import type { Log } from '../ops/log.ts';
import type { Client } from './client.ts';
import { systemClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { hasStatus } from './errors.ts';
import { checkTimes, granted, leadsFor, nextStep, observe } from './lease-machine.ts';
import type { ElectionState, ElectionStep, ElectionTimes, Instant, SeenLease } from './lease-machine.ts';
import type { KubeObject } from './object.ts';

interface Lease extends KubeObject {
  spec?: {
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
const TIMES: ElectionTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };

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

  function objectOf(step: Exclude<ElectionStep, { do: 'wait' }>, holder: string): Lease {
    const time = microTime(clock.wallTime());
    const version = step.do === 'create' ? {} : { resourceVersion: step.resourceVersion };
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace, ...version },
      spec: {
        holderIdentity: holder,
        leaseDurationSeconds: Math.ceil(times.leaseDurationMs / 1000),
        renewTime: time,
        leaseTransitions: step.do === 'create' ? 0 : step.transitions,
        ...(step.do === 'renew' ? {} : { acquireTime: time }),
      },
    };
  }

  async function look(): Promise<void> {
    const found = await client().get<Lease>(LEASE, { namespace, name }, limit);
    state = observe(state, found && seenOf(found), now());
  }

  /** One try to get or keep the lease. */
  async function tick(): Promise<void> {
    if (!isLeader()) await look(); // a leader knows the version it wrote, and saves the question
    const step = nextStep(state, identity, now(), times);
    if (step.do === 'wait') return;
    const begun = now();
    const wanted = objectOf(step, identity);
    try {
      const write = step.do === 'create' ? client().create(wanted, limit) : client().update(wanted, limit);
      state = granted(seenOf(await write), begun, now());
    } catch (error) {
      if (!hasStatus(error, 409)) throw error;
      await look(); // somebody was quicker; whether we still lead is for our clock to say
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
    log.info('leading');
    const work = (async () => lead(over.signal))()
      .catch((err: unknown) => log.error({ err }, 'the leader failed'))
      .finally(() => settled.abort());
    const renewals = renewUntil(settled.signal);
    const ends = AbortSignal.any([settled.signal, stopped.signal]);
    for (
      let left = leadsFor(state, now(), times);
      left > 0 && !ends.aborted;
      left = leadsFor(state, now(), times)
    )
      await clock.wait(left, ends);
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
      await client().update(objectOf({ do: 'renew', resourceVersion, transitions }, ''), { timeoutMs: 5000 });
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

function seenOf({ metadata, spec = {} }: Lease): SeenLease {
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
