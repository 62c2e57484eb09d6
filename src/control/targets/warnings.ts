/** What is wrong with a joined cluster, or not as it should be, though it can perhaps be used. */
import type { ReasonCode } from '../../ops/codes/reasons.ts';
import type { Credential } from './credential.ts';
import type { Health } from './health.ts';
import type { JoinedSecret } from './joined-secret.ts';

/** Each is explained in `ops/codes`. */
export type WarningReason =
  | 'KubeconfigInvalid'
  | 'UrlOverruled'
  | 'ServerNotVerified'
  | 'FullAdministrator'
  | 'RightsMissing'
  | 'CredentialExpired'
  | 'CredentialExpires'
  | 'CredentialNotRenewed'
  | 'ClockDiffers';

export interface TargetWarning {
  reason: WarningReason & ReasonCode;
  message: string;
}

/** Before this time people should do something, where nothing renews a credential by itself. */
const SOON_MS = 14 * 24 * 60 * 60 * 1000;
/** One that is renewed never comes as close to its end as this part of its life. */
const SOON_PART = 1 / 3;

/** What there is to say about the end of a credential. */
export function expiryWarnings(
  { issuedAt, expiresAt }: { issuedAt?: number; expiresAt?: number },
  { now, isRenewed }: { now: number; isRenewed: boolean },
): TargetWarning[] {
  if (expiresAt === undefined) return [];
  const end = new Date(expiresAt).toISOString();
  const cure = 'run `isthmus join` again';
  if (expiresAt <= now)
    return [{ reason: 'CredentialExpired', message: `the credential has expired at ${end}: ${cure}` }];
  const life = expiresAt - (issuedAt ?? now);
  const isSoon = expiresAt - now < (isRenewed ? life * SOON_PART : Math.min(SOON_MS, life / 2));
  if (!isSoon) return [];
  const why = isRenewed ? 'and could not be renewed' : 'and is not renewed from here';
  return [{ reason: 'CredentialExpires', message: `the credential expires at ${end} ${why}: ${cure}` }];
}

/** Tokens and certificates of another clock are not valid yet, or no longer. */
const CLOCK_MS = 60_000;

/** All there is to say about a cluster, from what its Secret says and what it has answered. */
export function stateWarnings({
  problem,
  joined,
  health,
  renewal,
  now,
}: {
  problem: string | undefined;
  joined: JoinedSecret | undefined;
  health: Omit<Health, 'reach'>;
  /** Why the token could not be renewed. */
  renewal?: string | undefined;
  now: number;
}): TargetWarning[] {
  const { missing, isAdministrator, clockAheadMs = 0 } = health;
  const seconds = Math.round(clockAheadMs / 1000);
  const isAdmin = isAdministrator && !joined?.credential.isAdministrator;
  return [
    ...(problem === undefined ? [] : [warning('KubeconfigInvalid', problem)]),
    ...(joined?.warnings ?? []),
    ...(joined ? expiryWarnings(joined.credential, { now, isRenewed: joined.account !== undefined }) : []),
    ...(renewal === undefined ? [] : [warning('CredentialNotRenewed', renewal)]),
    ...(isAdmin ? [administratorWarning(joined?.credential)] : []),
    ...(missing.length > 0
      ? [warning('RightsMissing', `the account there may not: ${missing.join(', ')}`)]
      : []),
    ...(Math.abs(clockAheadMs) > CLOCK_MS
      ? [
          warning(
            'ClockDiffers',
            `its clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} ours`,
          ),
        ]
      : []),
  ];
}

const warning = (reason: TargetWarning['reason'], message: string): TargetWarning => ({ reason, message });

export const administratorWarning = (credential: Credential | undefined): TargetWarning =>
  warning(
    'FullAdministrator',
    `${credential?.subject ?? 'its user'} may do everything there; \`isthmus join\` makes an account with the rights that are used`,
  );
