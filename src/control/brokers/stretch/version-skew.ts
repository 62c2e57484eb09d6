/** Which pod-set controllers are too far from the operator that writes what they read. Pure. */
import type { LayoutWarning } from '../moves/layout-warnings.ts';
import type { TargetStatus } from './target-status.ts';

/** Of one that does not say what it is, nothing is claimed. */
export function skewWarnings(
  targets: readonly Pick<TargetStatus, 'name' | 'controllerVersion'>[],
  own: string,
): LayoutWarning[] {
  const far = targets.flatMap(({ name, controllerVersion: there }) =>
    there !== undefined && isFar(there, own) ? `${name} ${there}` : [],
  );
  if (far.length === 0) return [];
  const message =
    `Pod-set controllers are more than one minor version from this operator (${own}): ${far.join(', ')}. ` +
    'Run isthmus join again where one is older; upgrade this operator where one is newer.';
  return [{ reason: 'VersionsFarApart', message }];
}

function isFar(there: string, own: string): boolean {
  const [a, b] = [partsOf(there), partsOf(own)];
  return a !== undefined && b !== undefined && (a.major !== b.major || Math.abs(a.minor - b.minor) > 1);
}

function partsOf(version: string): { major: number; minor: number } | undefined {
  const found = /^(?<major>\d{1,9})\.(?<minor>\d{1,9})\./.exec(version)?.groups;
  return found && { major: Number(found['major']), minor: Number(found['minor']) };
}
