/**
 * Decides how zones get delegated and stay so, without network and timers, so that a test can try every order of events.
 *
 * A delegation is written, verified by queries through the cluster's DNS, and undone if it is never verified. A delegation that has been
 * verified once is never undone because it fails later: then something else is broken, and removing it would not help.
 */
import type { KubeObject } from '../../../kube/object.ts';
import { addressOf } from './observe.ts';
import type {
  DelegationEvent,
  MachineSettings,
  MachineState,
  Situation,
  Transition,
  Verification,
} from './machine-state.ts';
import type { ObservedDns } from './observe.ts';
import { planDelegation, planRemoval } from './plan.ts';
import type { WantedDelegation } from './platform.ts';
import type { DelegationState, DelegationStatus } from './status.ts';
import { afterFailure, afterSuccess, afterWrite, waitBeforeWrite } from './write-rate.ts';

/** How soon to retry, how often to check what works, how long to leave alone what needs nothing. */
const RETRY_MS = 5000;
const CHECK_MS = 60_000;
const IDLE_MS = 5 * 60_000;
/** The cluster's DNS may be several servers, and each reloads its configuration at another time. */
const GOOD_ROUNDS = 3;
const ROUND_MS = 1000;
const OVERWRITTEN =
  'another writer overwrites the delegation repeatedly; until it stops, the delegation is written less often';
const NO_DNS = 'the Service of the cluster DNS was not found; set its address as clusterDns';

/** Takes an event into account, and decides what to do next. */
export function advance(
  state: MachineState,
  event: DelegationEvent,
  now: number,
  settings: MachineSettings,
): Transition {
  switch (event.type) {
    case 'woken':
      return event.isChanged || !state.verification ? { state, step: { do: 'observe' } } : probe(state);
    case 'observed':
      return observed(state, event.observed, now, settings);
    case 'cleaned':
      return decide(state, now);
    case 'resolved':
      return resolved(state, event.dnsAddress, now, settings);
    case 'pinged':
      return pinged(state, event);
    case 'written':
      return written(state, event, now, settings);
    case 'probed':
      return state.verification ? verifying(state, event.problem, now) : checked(state, event.problem);
  }
  return event satisfies never;
}

function observed(
  before: MachineState,
  seen: ObservedDns,
  now: number,
  settings: MachineSettings,
): Transition {
  const { zones, owner, platform } = settings;
  const server = settings.server ?? addressOf(seen.service);
  const servers = [...new Set([...before.servers, ...(server === undefined ? [] : [server])])];
  const wanted = { zones, server, owner, formerServers: servers };
  const change = planDelegation(seen.clusterDns, wanted, platform);
  const isWritten = 'write' in change && change.write === undefined;
  // A change by another writer ends the verification.
  const verification = isWritten ? before.verification : undefined;
  const state = { ...before, servers, situation: { ...seen, wanted, change }, verification };
  if (verification) return probe(state);
  if (zones.length > 0 && server === undefined)
    return report(state, 'waiting', `Service ${owner} has no cluster IP`, RETRY_MS);
  const patches = planRemoval(seen.clusterDns, wanted, change.platform).flatMap((one) =>
    'problem' in one || !one.write ? [] : [one.write],
  );
  return patches.length > 0 ? { state, step: { do: 'clean', patches } } : decide(state, now);
}

/** Decides what to do about what was observed. */
function decide(state: MachineState, now: number): Transition {
  const { change, wanted } = situationOf(state);
  if ('problem' in change) return report(state, 'refused', change.problem, IDLE_MS);
  const { write } = change;
  if (wanted.zones.length === 0)
    return write
      ? { state, step: { do: 'write', patch: write, purpose: { of: 'removal' } } }
      : report(state, 'removed', '', IDLE_MS);
  if (!write) return { state, step: { do: 'resolve' } };
  const isSame = state.failedOn === fingerprint(write.object, wanted);
  const waitMs = waitBeforeWrite(isSame ? state.rate : { ...state.rate, notBefore: 0 }, now);
  if (waitMs === 0) return { state, step: { do: 'resolve' } };
  return isSame ? { state, step: { do: 'wait', ms: waitMs } } : report(state, 'waiting', OVERWRITTEN, waitMs);
}

function resolved(
  state: MachineState,
  dnsAddress: string | undefined,
  now: number,
  { verifyMs }: MachineSettings,
): Transition {
  if (dnsAddress === undefined) return report(state, 'waiting', NO_DNS, RETRY_MS);
  const { change, clusterDns, wanted } = situationOf(state);
  if ('write' in change && change.write)
    return { state, step: { do: 'ping', dnsAddress, write: change.write } };
  if (state.isVerified) return { state, step: { do: 'probe', dnsAddress } };
  // An earlier leader wrote it and did not see it work; what was there before is not known, so undoing it is removing it.
  const removal = planDelegation(clusterDns, { ...wanted, zones: [] }, change.platform);
  const undo = 'write' in removal ? removal.write : undefined;
  return verify(state, { dnsAddress, deadline: now + verifyMs, good: 0, undo });
}

function pinged(
  state: MachineState,
  { step: { dnsAddress, write }, isAnswering }: DelegationEvent & { type: 'pinged' },
): Transition {
  if (!isAnswering)
    return report(state, 'waiting', `the cluster's DNS at ${dnsAddress} does not answer`, RETRY_MS);
  const purpose = { of: 'delegation' as const, dnsAddress, undo: write.undo };
  return { state, step: { do: 'write', patch: write, purpose } };
}

function written(
  state: MachineState,
  { step: { purpose }, written: result }: DelegationEvent & { type: 'written' },
  now: number,
  { verifyMs }: MachineSettings,
): Transition {
  // Another writer was faster: observe again.
  if (result === 'conflict')
    return { state: { ...state, verification: undefined }, step: { do: 'wait', ms: 0 } };
  if (purpose.of === 'removal') return report(state, 'removed', '', IDLE_MS);
  if (purpose.of === 'undo') return failed(state, purpose.problem, result, now);
  const undo = result && { object: result, patch: purpose.undo };
  return verify(
    { ...state, isVerified: false, rate: afterWrite(state.rate, now) },
    { dnsAddress: purpose.dnsAddress, deadline: now + verifyMs, good: 0, undo },
  );
}

function verify(before: MachineState, verification: Verification): Transition {
  const state = { ...before, verification };
  return { ...probe(state), status: statusOf(state, 'verifying', '') };
}

function probe(state: MachineState): Transition {
  return { state, step: { do: 'probe', dnsAddress: state.verification!.dnsAddress } };
}

/** A round of verification. */
function verifying(state: MachineState, problem: string | undefined, now: number): Transition {
  const verification = state.verification!;
  const good = problem === undefined ? verification.good + 1 : 0;
  if (good >= GOOD_ROUNDS) {
    const rate = afterSuccess(state.rate);
    return report({ ...state, isVerified: true, rate, verification: undefined }, 'delegated', '', CHECK_MS);
  }
  const next = { ...state, verification: { ...verification, good } };
  if (problem === undefined || now < verification.deadline)
    return { state: next, step: { do: 'wait', ms: ROUND_MS / (good + 1) } };
  const { undo } = verification;
  if (!undo) return failed(next, problem, undefined, now);
  return { state: next, step: { do: 'write', patch: undo, purpose: { of: 'undo', problem } } };
}

/** A check of a delegation that was verified before. */
function checked(state: MachineState, problem: string | undefined): Transition {
  return problem === undefined
    ? report(state, 'delegated', '', CHECK_MS)
    : report(state, 'failing', problem, RETRY_MS);
}

/** The delegation could not be verified and is undone; `left` is the object as it is now. */
function failed(
  before: MachineState,
  problem: string,
  left: KubeObject | undefined,
  now: number,
): Transition {
  const rate = afterFailure(before.rate, now);
  const failedOn = fingerprint(left, situationOf(before).wanted);
  const waitMs = waitBeforeWrite(rate, now);
  const reason = `${problem}; the delegation was undone and is retried in ${Math.round(waitMs / 1000)} s`;
  return report({ ...before, rate, failedOn, verification: undefined }, 'failed', reason, waitMs);
}

function report(state: MachineState, to: DelegationState, reason: string, ms: number): Transition {
  return { state, step: { do: 'wait', ms }, status: statusOf(state, to, reason) };
}

function statusOf(state: MachineState, to: DelegationState, reason: string): DelegationStatus {
  const { change, wanted } = situationOf(state);
  return { state: to, platform: change.platform, zones: wanted.zones, server: wanted.server, reason };
}

function situationOf({ situation }: MachineState): Situation {
  if (!situation) throw new Error('the cluster DNS has not been observed');
  return situation;
}

function fingerprint(object: KubeObject | undefined, { server }: WantedDelegation): string {
  return `${object?.metadata.uid ?? ''} ${object?.metadata.resourceVersion ?? ''} ${server ?? ''}`;
}
