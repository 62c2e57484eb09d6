import type { Authority, ObservedAuthority, ReadyAuthority, Trust, Truster } from './authority-state.ts';
import { isFault } from './certificate-facts.ts';

/** Who may sign now, and what has to stay trusted. */
export interface TrustView {
  /** The newest authority whose key is at hand and that everybody trusts who can still trust anything. */
  signer: Authority | undefined;
  /** What belongs into the trust bundles: the current one, what is above it, and former ones that are in use. */
  kept: readonly Authority[];
  /** Names of those who do not trust the current authority, as it is now, but could. */
  untrusting: readonly string[];
}

/** Reads from what everybody trusts and presents how far a replacement is. */
export function trustOf(seen: ReadyAuthority): TrustView {
  const { certificate, above, now } = seen;
  const own = [certificate, ...above];
  const former = formerOf(seen);
  const live = [certificate, ...former].filter(({ notAfter }) => notAfter > now);
  const trusters = seen.trusters.map((truster) => ({ name: truster.name, trusts: presumed(truster, live) }));
  const isLastCall = ({ until }: Trust) => until.getTime() - lastCallMs(seen) <= now.getTime();
  // Whom nothing that is left to trust reaches any more cannot be waited for.
  const counted = trusters.filter(({ trusts }) => !trusts.every(isLastCall));
  const isTrusted = ({ keyId }: Authority) =>
    counted.every(({ trusts }) => trusts.some((one) => one.keyId === keyId && one.until > now));
  const keys = new Set([seen.key, ...(seen.isSupplied ? [] : seen.formerKeys)]);
  const signer = live.find((one) => keys.has(one.keyId) && isTrusted(one));
  const isOver = signer?.keyId === seen.key && isTakenOver(seen);
  const kept = former.filter(({ keyId, notAfter }) => notAfter > now && keyId !== seen.key && !isOver);
  const hasCurrent = (trusts: readonly Trust[]) =>
    trusts.some(
      ({ keyId, until }) => keyId === seen.key && until.getTime() === certificate.notAfter.getTime(),
    );
  return {
    signer,
    kept: [...own, ...kept],
    untrusting: trusters.filter(({ trusts }) => !hasCurrent(trusts)).map(({ name }) => name),
  };
}

/** Newest first: those kept in the Secret, and those that only a bundle still has, because the Secret was lost or the user's was changed. */
function formerOf({ certificate, above, former, bundles }: ReadyAuthority): Authority[] {
  const known = new Map([...bundles.flat(), ...former].map((one) => [one.thumbprint, one]));
  for (const { thumbprint } of [certificate, ...above]) known.delete(thumbprint);
  return [...known.values()].toSorted((a, b) => b.notBefore.getTime() - a.notBefore.getTime());
}

/** One whose pod cannot be asked trusts the oldest: no authority is removed before all have taken over the one after it. */
function presumed({ trusts }: Truster, live: readonly Authority[]): readonly Trust[] {
  if (trusts !== 'unknown') return trusts;
  return live.slice(-1).map(({ keyId, notAfter }) => ({ keyId, until: notAfter }));
}

/**
 * Whether all certificates are of the current key, in Secrets and in use. A process that says it runs an older one may have loaded
 * any since, so that even a former key that nobody names may still be in use.
 */
const isTakenOver = ({ key, leaves }: ReadyAuthority) =>
  leaves.every(({ held, running }) => {
    const isHeld = held === undefined || (held !== 'unknown' && (isFault(held) || held.signedBy === key));
    return isHeld && running !== 'unknown' && (running === undefined || running.signedBy === key);
  });

/** So long before the end of the last authority that somebody trusts, the others go on without it: they need the time to do so. */
export const lastCallMs = ({ policy }: Pick<ObservedAuthority, 'policy'>): number =>
  Math.min(policy.renewalMs, policy.validityMs / 2) / 30;
