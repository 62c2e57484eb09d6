import type { ObservedAuthority } from './authority-state.ts';
import { isFault } from './certificate-facts.ts';
import { nextOpening } from './maintenance-window.ts';
import { dueAt } from './renewal.ts';
import { lastCallMs } from './trust.ts';

/** What somebody has to know of an authority before it hurts: each a sentence for a condition. */
export function renewalWarnings(seen: ObservedAuthority): string[] {
  const { certificate, now, policy } = seen;
  if (!certificate || isFault(certificate)) return [];
  const warnings: string[] = [];
  const isDue = dueAt(certificate, policy) <= now;
  const end = certificate.notAfter.toISOString();
  if (seen.isSupplied && isDue) warnings.push(`the supplied CA ends at ${end}; supply a new one`);
  const opening = isDue && !seen.isSupplied ? nextOpening(policy.windows, now) : now;
  if (opening === undefined || opening >= certificate.notAfter)
    warnings.push(`no maintenance window opens before the CA ends at ${end}; it is renewed outside of them`);
  return [...warnings, ...ending(seen)];
}

/** Nodes that will trust nobody soon, because they have not loaded what is new. */
function ending(seen: ObservedAuthority): string[] {
  return seen.trusters.flatMap(({ name, trusts }) => {
    if (trusts === 'unknown' || trusts.length === 0) return [];
    const until = new Date(Math.max(...trusts.map(({ until }) => until.getTime())));
    const isEnding = until.getTime() - lastCallMs(seen) <= seen.now.getTime();
    return isEnding ? [`${name} trusts no CA after ${until.toISOString()}; it must be restarted`] : [];
  });
}
