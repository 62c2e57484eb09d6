import { CLOCK_SKEW_MS } from './authority.ts';
import type { Authority, ObservedAuthority, Policy, ReadyAuthority, SignedLeaf } from './authority-state.ts';
import { isFault } from './certificate-facts.ts';
import { isOpen, nextOpening } from './maintenance-window.ts';
import { trustOf } from './trust.ts';
import type { TrustView } from './trust.ts';
import type { Loading } from './bundle.ts';

/**
 * Decides what is next in the life of an authority and of the certificates that it signs. Each step is a write, or several that do
 * not depend on each other; what comes next is read from Secrets and annotations alone, so a crash between any two writes costs
 * nothing but time. A key is replaced in three phases: everybody trusts the new one, then everything is signed by it, then
 * the old one is removed. Which phase it is follows from who trusts and presents what; it is written nowhere.
 */

/** Why a certificate is signed: there is none that can be read, other names are wanted, a newer authority is there, or time. */
export type LeafReason = 'missing' | 'names' | 'authority' | 'expiring';

/** What is to be done next; a key is never made, nor a certificate signed, but by a step. */
export type Step =
  | { do: 'make key'; generation: number; why: string }
  | {
      do: 'make certificate';
      generation: number;
      keyGeneration: number;
      former: readonly Authority[];
      why: string;
    }
  | { do: 'remove'; authorities: readonly Authority[]; keys: readonly string[] }
  | { do: 'publish'; authorities: readonly Authority[] }
  | { do: 'sign'; authority: Authority; leaves: readonly { name: string; why: LeafReason }[] }
  | { do: 'wait'; why: string; until?: Date }
  | { do: 'blocked'; why: string }
  | { do: 'nothing'; until: Date };

/** The next step. `make key` writes the key's Secret before `make certificate` writes the other, so that no certificate is without its key. */
export function renewalStep(seen: ObservedAuthority): Step {
  const { key, certificate } = seen;
  const first = seen.isSupplied ? suppliedStep(seen) : generatedStep(seen);
  if (first) return first;
  if (typeof key !== 'string' || !certificate || isFault(certificate)) return unready(seen);
  const current: ReadyAuthority = { ...seen, key, certificate };
  const trust = trustOf(current);
  return (
    removeStep(current, trust) ??
    publishStep(current, trust) ??
    signStep(current, trust) ??
    rescueStep(current, trust) ??
    pending(current, trust) ?? { do: 'nothing', until: nextLook(current) }
  );
}

function suppliedStep(seen: ObservedAuthority): Step | undefined {
  const { key, certificate, now } = seen;
  if (typeof key !== 'string' || !certificate || isFault(certificate)) return unready(seen);
  if (certificate.keyId !== key)
    return blocked('the certificate of the supplied CA is not of its key; supply both of one CA');
  if (certificate.notAfter <= now) return blocked('the supplied CA has expired; supply a new one');
  return undefined;
}

function unready({ key, certificate }: ObservedAuthority): Step {
  if (key !== undefined && typeof key !== 'string') return blocked(`the key of the CA ${key.fault}`);
  if (certificate && isFault(certificate)) return blocked(`the certificate of the CA ${certificate.fault}`);
  return blocked(`the CA has no ${key === undefined ? 'key' : 'certificate'} yet; supply ca.crt and ca.key`);
}

const blocked = (why: string): Step => ({ do: 'blocked', why });

function generatedStep(seen: ObservedAuthority): Step | undefined {
  const { key, certificate, force, now, policy } = seen;
  if (key === undefined) return makeKey(seen, 'there is none');
  if (typeof key !== 'string') {
    if (force.replace) return makeKey(seen, 'it cannot be read, and its replacement was asked for');
    return blocked(
      `the key of the CA ${key.fault}; restore it, or annotate its Secret with strimzi.io/force-replace=true`,
    );
  }
  if (!certificate || isFault(certificate)) return makeCertificate(seen, 'there is none that can be read');
  if (certificate.keyId !== key) return makeCertificate(seen, 'the key is new');
  const mayReplace = !isReplacing({ ...seen, key, certificate });
  const isDue = dueAt(certificate, policy) <= now;
  const mayRestart = isOpen(policy.windows, now);
  if (force.replace && mayRestart && mayReplace) return makeKey(seen, 'its replacement was asked for');
  if (force.renew && mayRestart) return makeCertificate(seen, 'its renewal was asked for');
  if (!isDue || !(mayRestart || urgentAt(certificate, policy) <= now)) return undefined;
  const shouldReplace = policy.onExpiry === 'replace-key' && mayReplace && certificate.notAfter > now;
  return shouldReplace ? makeKey(seen, 'it is time') : makeCertificate(seen, 'it is time');
}

/** Another key would only make a replacement longer that has not come to its end. */
const isReplacing = (seen: ReadyAuthority) => trustOf(seen).kept.some(({ keyId }) => keyId !== seen.key);

const makeKey = (seen: ObservedAuthority, why: string): Step => ({
  do: 'make key',
  generation: lastKeyGeneration(seen) + 1,
  why,
});

function makeCertificate(seen: ObservedAuthority, why: string): Step {
  const { certificate, former, key, now } = seen;
  const before = certificate && !isFault(certificate) ? [certificate, ...former] : former;
  return {
    do: 'make certificate',
    generation: seen.certificateGeneration + 1,
    keyGeneration: Math.max(seen.keyGeneration, 0),
    // A new certificate of the same key takes the place of the old one: what that key signed is verified by either.
    former: before.filter(({ keyId, notAfter }) => keyId !== key && notAfter > now),
    why,
  };
}

/** Also counts what names say, because annotations are lost with their Secret, and no two keys may have one name. */
function lastKeyGeneration({ keyGeneration, certificate, former, bundles }: ObservedAuthority): number {
  const known = [
    ...(certificate && !isFault(certificate) ? [certificate] : []),
    ...former,
    ...bundles.flat(),
  ];
  const named = known.map(({ subject }) => Number(/^CN=[^,]* v(\d{1,9})(?:,|$)/.exec(subject)?.[1] ?? -1));
  return Math.max(keyGeneration, ...named);
}

/** Key and certificate are taken out of their Secrets before the bundle drops it: what the bundle lacks must never sign again. */
function removeStep(seen: ReadyAuthority, { kept }: TrustView): Step | undefined {
  if (seen.isSupplied) return undefined;
  const authorities = seen.former.filter((one) => !kept.includes(one));
  const left = new Set(seen.former.filter((one) => kept.includes(one)).map(({ keyId }) => keyId));
  const keys = seen.formerKeys.filter((keyId) => !left.has(keyId));
  return authorities.length + keys.length === 0 ? undefined : { do: 'remove', authorities, keys };
}

function publishStep({ bundles }: ReadyAuthority, { kept }: TrustView): Step | undefined {
  const wanted = thumbprintsOf(kept);
  const isPublished = bundles.every((bundle) => thumbprintsOf(bundle) === wanted);
  return isPublished ? undefined : { do: 'publish', authorities: kept };
}

const thumbprintsOf = (authorities: readonly Authority[]) =>
  [...new Set(authorities.map(({ thumbprint }) => thumbprint))].toSorted().join();

function signStep(seen: ReadyAuthority, { signer }: TrustView): Step | undefined {
  if (!signer) return undefined;
  const leaves = seen.leaves.flatMap((leaf) => {
    const why = reasonToSign(leaf, signer, seen);
    return why ? [{ name: leaf.name, why }] : [];
  });
  return leaves.length === 0 ? undefined : { do: 'sign', authority: signer, leaves };
}

/**
 * The former key is lost, so that nothing can be signed that all trust. A node without a certificate does not run, and its cluster may need
 * it before any other can be restarted: it gets one of the new key as soon as the listeners of all others take that.
 */
function rescueStep(seen: ReadyAuthority, { signer }: TrustView): Step | undefined {
  const trusts = ({ listens, trusts: known }: ReadyAuthority['trusters'][number]) =>
    listens === true || (known !== 'unknown' && known.some(({ keyId }) => keyId === seen.key));
  if (signer || !seen.trusters.every(trusts)) return undefined;
  const leaves = seen.leaves
    .filter(({ held, running }) => held === undefined && running === undefined)
    .map(({ name }) => ({ name, why: 'missing' as const }));
  return leaves.length === 0 ? undefined : { do: 'sign', authority: seen.certificate, leaves };
}

function reasonToSign(leaf: SignedLeaf, signer: Authority, seen: ReadyAuthority): LeafReason | undefined {
  const { held, wantedNames } = leaf;
  const { now, policy } = seen;
  if (held === 'unknown') return undefined;
  if (!held || isFault(held)) return 'missing';
  if (held.names.join() !== wantedNames.join()) return 'names';
  // Not back to an older key, should the newest have found somebody who does not know it.
  if (held.signedBy !== signer.keyId && (signer.keyId === seen.key || held.signedBy !== seen.key))
    return 'authority';
  const mayRestart = isOpen(policy.windows, now) || urgentAt(held, policy) <= now;
  const end = Math.min(now.getTime() + policy.validityMs, signer.notAfter.getTime());
  // An authority that ends with what it signed has nothing better to give.
  const isLonger = Math.floor(end / 1000) > Math.floor(held.notAfter.getTime() / 1000);
  return dueAt(held, policy) <= now && isLonger && mayRestart ? 'expiring' : undefined;
}

/**
 * What is to be signed, for those who keep certificates of their own (users): the life of the authority itself is somebody else's
 * business, and a step of it that waits keeps nobody from getting a certificate.
 */
export function signingStep(seen: ObservedAuthority): Step {
  const { key, certificate, isSupplied } = seen;
  const isComing = !isSupplied && (key === undefined || certificate === undefined);
  if (isComing) return wait('the CA is being made');
  if (typeof key !== 'string' || !certificate || isFault(certificate)) return unready(seen);
  if (certificate.keyId !== key) return wait('the CA is to get a certificate of its new key');
  const current: ReadyAuthority = { ...seen, key, certificate };
  return signStep(current, trustOf(current)) ?? { do: 'nothing', until: nextLook(current) };
}

/** What is still to come that no write of ours would bring about. */
function pending(seen: ReadyAuthority, { kept, untrusting }: TrustView): Step | undefined {
  const { force, now, policy } = seen;
  // What is signed meanwhile ends as well.
  const until = nextLook(seen);
  if (untrusting.length > 0) return { ...wait(`${listed(untrusting)} must load the trust bundle`), until };
  if (kept.some(({ keyId }) => keyId !== seen.key && !seen.above.some((one) => one.keyId === keyId)))
    return { ...wait('something still presents certificates of the former CA'), until };
  const isDue = due(seen).some((certificate) => dueAt(certificate, policy) <= now);
  if (isOpen(policy.windows, now) || !(isDue || force.renew || force.replace)) return undefined;
  const opening = nextOpening(policy.windows, now)?.getTime() ?? Infinity;
  return { ...wait('the next maintenance window'), until: new Date(Math.min(opening, until.getTime())) };
}

const wait = (why: string) => ({ do: 'wait', why }) as const;

const listed = (names: readonly string[]) =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');

/** Certificates that are renewed by us when their time comes. */
function due({
  isSupplied,
  certificate,
  leaves,
}: ReadyAuthority): Pick<Authority, 'notBefore' | 'notAfter'>[] {
  const held = leaves.flatMap(({ held }) => (held && held !== 'unknown' && !isFault(held) ? [held] : []));
  // What ends with a supplied authority waits for the user, not for a time.
  const renewable = held.filter(({ notAfter }) => !isSupplied || notAfter < certificate.notAfter);
  return isSupplied ? renewable : [certificate, ...renewable];
}

function nextLook(seen: ReadyAuthority): Date {
  const { certificate, now, policy } = seen;
  const times = due(seen).flatMap((one) => [dueAt(one, policy).getTime(), urgentAt(one, policy).getTime()]);
  const future = times.filter((time) => time > now.getTime());
  return new Date(Math.min(certificate.notAfter.getTime(), ...future));
}

/** When a certificate should be renewed: not before half its life is over, whatever the policy, or it would be renewed forever. */
export function dueAt(
  { notBefore, notAfter }: Pick<Authority, 'notBefore' | 'notAfter'>,
  policy: Policy,
): Date {
  const life = Math.max(notAfter.getTime() - notBefore.getTime() - CLOCK_SKEW_MS, 0);
  return new Date(notAfter.getTime() - Math.min(policy.renewalMs, life / 2));
}

/** From then on no maintenance window is waited for: three quarters of the time for renewal have passed. */
function urgentAt(certificate: Pick<Authority, 'notBefore' | 'notAfter'>, policy: Policy): Date {
  const end = certificate.notAfter.getTime();
  return new Date(end - (end - dueAt(certificate, policy).getTime()) / 4);
}

/** A node that is restarted stops, starts and catches up; one after the other. */
const RESTART_MS = 10 * 60 * 1000;

/**
 * From then on a node that can load something in no other way is restarted, come what may, so that each of so many nodes has its turn
 * before the first of them runs on what has ended. Where the time for renewal is short, most of it goes to that.
 */
export function restartAt({ by }: NonNullable<Loading['restart']>, policy: Policy, nodes: number): Date {
  const window = Math.min(policy.renewalMs, policy.validityMs / 2);
  const lead = Math.max(window / 4, Math.min(nodes * RESTART_MS, (window * 3) / 4));
  return new Date(by.getTime() - lead);
}

/**
 * Whether a node is to be restarted now for what it can load in no other way. What only has to be done before something ends is done
 * in a maintenance window, or else late: until then a restart for any other reason does it as well.
 */
export function isRestartDue(
  restart: NonNullable<Loading['restart']>,
  policy: Policy,
  nodes: number,
  now: Date,
): boolean {
  const mayWait = restart.why !== 'keys changed' && policy.windows.length === 0;
  return restartAt(restart, policy, nodes) <= now || (isOpen(policy.windows, now) && !mayWait);
}
