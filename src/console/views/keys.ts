/** Certificates by the time they have left, keys by their age, and names. Pure. */
import type { CertificateRow, KeyRow, KeysView, Sight, State } from '../api.ts';
import type { World } from '../source.ts';
import { isAbout } from './fleet.ts';

const DAY_MS = 86_400_000;
/** As the operator has it: from here on it is worth a warning. */
export const EXPIRING_DAYS = 14;
const MOST_CERTIFICATES = 500;
const MOST_KEYS = 500;
const MOST_NAMES = 500;

export function keysView(
  world: World,
  { sees, keys, text, now }: { sees: readonly Sight[]; keys: readonly KeyRow[]; text: string; now: number },
): KeysView {
  const certificates = world.certificates
    .map((one): CertificateRow => {
      const { virtualCluster, usedBy, subject, expires } = one;
      const daysLeft = Math.floor((expires.getTime() - now) / DAY_MS);
      return {
        virtualCluster,
        usedBy,
        subject,
        expires: expires.toISOString(),
        daysLeft,
        state: stateOf(daysLeft),
      };
    })
    .filter((row) => isAbout(text, `${row.virtualCluster} ${row.usedBy} ${row.subject}`))
    .toSorted((a, b) => a.daysLeft - b.daysLeft);
  const names = world.names.records.filter((one) =>
    isAbout(text, `${one.name} ${one.type} ${one.data} ${one.source}`),
  );
  return {
    ...(sees.includes('certificates') && { certificates: certificates.slice(0, MOST_CERTIFICATES) }),
    ...(sees.includes('keys') && {
      keys: keys.filter((one) => isAbout(text, `${one.virtualCluster} ${one.key}`)).slice(0, MOST_KEYS),
    }),
    names: names.slice(0, MOST_NAMES),
    moreNames: Math.max(0, names.length - MOST_NAMES),
    ...(sees.includes('zones') && { zones: [...world.names.zones] }),
    ...(world.names.endpoint !== undefined && { dns: world.names.endpoint }),
  };
}

function stateOf(daysLeft: number): State {
  if (daysLeft < 0) return 'notReady';
  return daysLeft < EXPIRING_DAYS ? 'warning' : 'ready';
}
