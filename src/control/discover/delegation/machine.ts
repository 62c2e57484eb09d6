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
  DnsAddresses,
  MachineSettings,
  MachineState,
  ProbeProblem,
  Situation,
  Transition,
  Verification,
} from './machine-state.ts';
import type { ObservedDns } from './observe.ts';
import { planParts, planRemoval } from './plan.ts';
import type { Asked, Part, WantedDelegation } from './platform.ts';
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
const UNKNOWN: Readonly<Record<Asked, string>> = {
  cluster: 'the Service of the cluster DNS was not found; set its address as clusterDns',
  pods: 'this is not a pod, so it is not known whom pods ask; set the address as podDns',
};
const UNKNOWN_CACHE =
  "it is not the cluster's DNS, and no ConfigMap node-local-dns or nodelocaldns was found: forward the zones there by hand";

/** Takes an event into account, and decides what to do next. */
export function advance(
  state: MachineState,
  event: DelegationEvent,
  now: number,
  settings: MachineSettings,
): Transition {
  switch (event.type) {
    case 'woken':
      return event.isChanged || !state.verification
        ? next(state)
        : probe(state, state.verification.dnsAddresses);
    case 'observed':
      return observed(state, event.observed, now, settings);
    case 'cleaned':
      return decide(state, now);
    case 'resolved':
      return resolved(state, event.addresses, now, settings);
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
  const parts = planParts(seen.clusterDns, wanted, platform);
  const part = parts.find((each) => needsWork(each, before)) ?? parts[0]!;
  // A change by another writer ends the verification.
  const isWritten = 'write' in part.change && !part.change.write;
  const isSame = isWritten && part.change.platform === before.verification?.platform;
  const verification = isSame ? before.verification : undefined;
  const state = { ...before, servers, situation: { ...seen, wanted, parts, part }, verification };
  if (verification) return probe(state, verification.dnsAddresses);
  if (zones.length > 0 && server === undefined)
    return report(state, 'waiting', `Service ${owner} has no cluster IP`, RETRY_MS);
  const inUse = parts.map(({ change }) => change.platform);
  const patches = planRemoval(seen.clusterDns, wanted, inUse).flatMap((one) =>
    'problem' in one || !one.write ? [] : [one.write],
  );
  return patches.length > 0 ? { state, step: { do: 'clean', patches } } : decide(state, now);
}

/** Whether a part is not as it should be, or has not been verified. */
function needsWork({ change }: Part, { verified }: MachineState): boolean {
  return 'problem' in change || change.write !== undefined || !verified.includes(change.platform);
}

/** Decides what to do about the part that comes next. */
function decide(state: MachineState, now: number): Transition {
  const { part, wanted, clusterDns } = situationOf(state);
  const { change } = part;
  const resolve: Transition = {
    state,
    step: { do: 'resolve', hasNodeCache: clusterDns.nodeCache !== undefined },
  };
  const isWanted = wanted.zones.length > 0;
  if ('problem' in change) {
    if (change.platform !== undefined) return report(state, 'refused', change.problem, IDLE_MS);
    // Where we cannot write, somebody else may have done it.
    return isWanted ? resolve : report(state, 'removed', '', IDLE_MS);
  }
  const { write } = change;
  if (!isWanted)
    return write
      ? { state, step: { do: 'write', patch: write, purpose: { of: 'removal' } } }
      : report(state, 'removed', '', IDLE_MS);
  if (!write) return resolve;
  const isSame = state.failedOn === fingerprint(write.object, wanted);
  const waitMs = waitBeforeWrite(isSame ? state.rate : { ...state.rate, notBefore: 0 }, now);
  if (waitMs === 0) return resolve;
  return isSame ? { state, step: { do: 'wait', ms: waitMs } } : report(state, 'waiting', OVERWRITTEN, waitMs);
}

function resolved(
  before: MachineState,
  addresses: DnsAddresses,
  now: number,
  { verifyMs }: MachineSettings,
): Transition {
  const state = { ...before, addresses };
  const { part, clusterDns, wanted } = situationOf(state);
  const { change, asks } = part;
  if ('problem' in change)
    return addresses.pods === undefined
      ? report(state, 'refused', change.problem, IDLE_MS)
      : probe(state, [addresses.pods]);
  const isVerified = !needsWork(part, state);
  const dnsAddresses = known(addresses, isVerified ? ['cluster', 'pods'] : asks);
  if (dnsAddresses.length === 0) return report(state, 'waiting', UNKNOWN[asks[0]!], RETRY_MS);
  if (isVerified) return probe(state, dnsAddresses);
  if (change.write) return { state, step: { do: 'ping', dnsAddresses, write: change.write } };
  if (isHidden(state)) return next({ ...state, verified: [...state.verified, change.platform] });
  // An earlier leader wrote it and did not see it work; what was there before is not known, so undoing it is removing it.
  const undo = planRemoval(clusterDns, wanted).find((one) => one.platform === change.platform);
  return verify(state, {
    platform: change.platform,
    dnsAddresses,
    deadline: now + verifyMs,
    good: 0,
    undo: undo && 'write' in undo ? undo.write : undefined,
  });
}

/** Whether a cache on the node answers in place of the cluster's DNS, so that the cache alone can be verified. */
function isHidden(state: MachineState): boolean {
  const { part, parts } = situationOf(state);
  return state.addresses.cluster === state.addresses.pods && part !== parts.at(-1);
}

/** The different addresses of these, as far as they are known. */
function known(addresses: DnsAddresses, asked: readonly Asked[]): string[] {
  return [...new Set(asked.flatMap((each) => addresses[each] ?? []))];
}

function pinged(
  state: MachineState,
  { step: { dnsAddresses, write }, silent }: DelegationEvent & { type: 'pinged' },
): Transition {
  if (silent !== undefined)
    return report(state, 'waiting', `the cluster's DNS at ${silent} does not answer`, RETRY_MS);
  const purpose = { of: 'delegation' as const, dnsAddresses, undo: write.undo };
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
  const platform = situationOf(state).part.change.platform!;
  const verified = state.verified.filter((each) => each !== platform);
  const rate = afterWrite(state.rate, now);
  if (isHidden(state)) return next({ ...state, rate, verified: [...verified, platform] });
  const undo = result && { object: result, patch: purpose.undo };
  return verify(
    { ...state, verified, rate },
    { platform, dnsAddresses: purpose.dnsAddresses, deadline: now + verifyMs, good: 0, undo },
  );
}

function verify(before: MachineState, verification: Verification): Transition {
  const state = { ...before, verification };
  return { ...probe(state, verification.dnsAddresses), status: statusOf(state, 'verifying', '') };
}

function probe(state: MachineState, dnsAddresses: readonly string[]): Transition {
  return { state, step: { do: 'probe', dnsAddresses } };
}

/** A round of verification. */
function verifying(state: MachineState, problem: ProbeProblem | undefined, now: number): Transition {
  const verification = state.verification!;
  const good = problem === undefined ? verification.good + 1 : 0;
  if (good >= GOOD_ROUNDS) return succeeded(state, verification);
  const waiting = { ...state, verification: { ...verification, good } };
  if (problem === undefined || now < verification.deadline)
    return { state: waiting, step: { do: 'wait', ms: ROUND_MS / (good + 1) } };
  const { undo } = verification;
  const text = wordsOf(problem, state);
  if (!undo) return failed(waiting, text, undefined, now);
  return { state: waiting, step: { do: 'write', patch: undo, purpose: { of: 'undo', problem: text } } };
}

/** A part is verified: done, if it is the last one and everybody was asked who may be. */
function succeeded(before: MachineState, { platform, dnsAddresses }: Verification): Transition {
  const rate = afterSuccess(before.rate);
  const state = { ...before, verified: [...before.verified, platform], rate, verification: undefined };
  const isAll = known(state.addresses, ['cluster', 'pods']).every((each) => dnsAddresses.includes(each));
  const isLast = !situationOf(state).parts.some((part) => needsWork(part, state));
  return isAll && isLast ? report(state, 'delegated', '', CHECK_MS) : next(state);
}

/** Goes on with what is still to be done. */
function next(state: MachineState): Transition {
  return { state, step: { do: 'observe' } };
}

/** A check of a delegation that was verified before, or that is not ours to write. */
function checked(state: MachineState, problem: ProbeProblem | undefined): Transition {
  const { change } = situationOf(state).part;
  if (problem === undefined) return report(state, 'delegated', '', CHECK_MS);
  return 'problem' in change
    ? report(state, 'refused', change.problem, CHECK_MS)
    : report(state, 'failing', wordsOf(problem, state), RETRY_MS);
}

/** What is wrong, and what to do where a cache stands before the cluster's DNS that we do not know. */
function wordsOf({ dnsAddress, what }: ProbeProblem, state: MachineState): string {
  const { cluster, pods } = state.addresses;
  if (dnsAddress !== pods || pods === cluster) return `the cluster's DNS at ${dnsAddress} answers: ${what}`;
  const isKnown = situationOf(state).clusterDns.nodeCache !== undefined;
  return `pods ask ${dnsAddress}, which answers: ${what}${isKnown ? '' : `; ${UNKNOWN_CACHE}`}`;
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
  const { part, parts, wanted } = situationOf(state);
  const { zones, server } = wanted;
  // Once all is verified, that is what the state says.
  const isAll = to === 'delegated' || to === 'failing';
  const { platform } = (isAll ? parts[0]! : part).change;
  return { state: to, platform, zones, server, reason, verified: isAll ? [] : state.verified };
}

function situationOf({ situation }: MachineState): Situation {
  if (!situation) throw new Error('the cluster DNS has not been observed');
  return situation;
}

function fingerprint(object: KubeObject | undefined, { server }: WantedDelegation): string {
  return `${object?.metadata.uid ?? ''} ${object?.metadata.resourceVersion ?? ''} ${server ?? ''}`;
}
