/**
 * Who leads, decided without network and timers, so that a test can try every order of delays and failures.
 *
 * A leader counts from before it asked the server to renew; the others count from after they saw the renewal. Whatever the
 * delays, the leader's count began earlier, and it counts to `renewDeadlineMs`, they to `leaseDurationMs`, which is more. So the
 * leader has stopped before anybody may follow it. No time of day is compared between machines: others' clocks may be off as they like.
 */

/** A reading of this machine's clocks. */
export interface Instant {
  /** Goes forward evenly, but stands still while the machine is suspended. */
  mono: number;
  /** Time of day: goes on while suspended, but may be set. */
  wall: number;
}

export interface ElectionTimes {
  leaseDurationMs: number;
  renewDeadlineMs: number;
  retryPeriodMs: number;
}

/** The lease as the server last had it. */
export interface SeenLease {
  resourceVersion: string;
  holder: string;
  durationMs: number;
  transitions: number;
}

export interface ElectionState {
  /** The lease, and when this version of it was first seen. */
  seen?: { lease: SeenLease; at: Instant } | undefined;
  /** Set while we lead: when the last request that renewed the lease was begun. */
  renewal?: Instant | undefined;
}

export type ElectionStep =
  /** There is no lease yet. */
  | { do: 'create' }
  /** Put our name in, if the lease still has this version. */
  | { do: 'take'; resourceVersion: string; transitions: number }
  | { do: 'renew'; resourceVersion: string; transitions: number }
  /** Somebody else holds it. */
  | { do: 'wait' };

/**
 * Takes note of the lease. A version that is new to us starts its time now, however old it says it is. If somebody has taken it from
 * us or deleted it, by hand, we lead no more.
 */
export function observe(
  state: ElectionState,
  identity: string,
  lease: SeenLease | undefined,
  now: Instant,
): ElectionState {
  if (!lease) return {};
  const renewal = lease.holder === identity ? state.renewal : undefined;
  const known = state.seen?.lease.resourceVersion === lease.resourceVersion ? state.seen : undefined;
  return { seen: known ?? { lease, at: now }, renewal };
}

/** What to do next. */
export function nextStep(
  state: ElectionState,
  identity: string,
  now: Instant,
  times: ElectionTimes,
): ElectionStep {
  if (!state.seen) return { do: 'create' };
  const { lease, at } = state.seen;
  const { resourceVersion, transitions } = lease;
  if (lease.holder === identity) return { do: 'renew', resourceVersion, transitions };
  // Evenly, not by the time of day: that may be set forward. A holder with other settings is given the longer time.
  const expired = now.mono - at.mono > Math.max(lease.durationMs, times.leaseDurationMs);
  if (lease.holder !== '' && !expired) return { do: 'wait' };
  return { do: 'take', resourceVersion, transitions: transitions + 1 };
}

/** Takes note that our request, begun at `begun`, was granted: we lead. */
export function granted(lease: SeenLease, begun: Instant, now: Instant): ElectionState {
  return { seen: { lease, at: now }, renewal: begun };
}

/** How much longer we lead, in milliseconds; not at all if zero or less. */
export function leadsFor(
  { renewal }: ElectionState,
  now: Instant,
  { renewDeadlineMs }: ElectionTimes,
): number {
  if (!renewal) return 0;
  // The faster of the two clocks: after a suspension, the time of day knows.
  return renewDeadlineMs - Math.max(now.mono - renewal.mono, now.wall - renewal.wall);
}

/** Checks that the times make sense together. */
export function checkTimes({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: ElectionTimes): void {
  if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs && retryPeriodMs > 0))
    throw new RangeError('leaseDurationMs > renewDeadlineMs > retryPeriodMs > 0 must hold');
}
