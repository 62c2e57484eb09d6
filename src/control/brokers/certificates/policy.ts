/** How long certificates of a cluster live, and when they may be renewed, by its Kafka resource. Pure. */
import { isFault } from '../../../pki/certificate-facts.ts';
import { CLOSED, parseMaintenanceWindow } from '../../../pki/maintenance-window.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import type { Fault } from '../faults.ts';
import { hasIssuer } from './issuer.ts';
import type { AuthorityPolicies } from './seen.ts';

/** How long certificates live and how long before their end they are renewed, whatever a Kafka says: for tests. */
export interface CertificateTimes {
  validityMs: number;
  renewalMs: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULTS = { validityDays: 365, renewalDays: 30 };

/** The next opening of each is looked for day by day. */
const MOST_WINDOWS = 100;

const ignored = (message: string, ...index: number[]): Fault => ({
  reason: 'ConfigIgnored',
  path: ['spec', 'maintenanceTimeWindows', ...index],
  message,
});

export function policiesOf(
  kafka: Kafka,
  times?: CertificateTimes,
): { policies: AuthorityPolicies; faults: Fault[] } {
  const { spec } = kafka;
  const written = spec.maintenanceTimeWindows ?? [];
  const parsed = written.slice(0, MOST_WINDOWS).map((text) => ({
    text,
    window: parseMaintenanceWindow(text),
  }));
  const windows = parsed.map(({ window }) => (isFault(window) ? CLOSED : window));
  const policyOf = (authority: Kafka['spec']['clusterCa']): AuthorityPolicies['cluster'] => {
    const { validityDays, renewalDays } = { ...DEFAULTS, ...authority };
    return {
      isSupplied: authority?.generateCertificateAuthority === false || hasIssuer(kafka),
      validityMs: validityDays * DAY_MS,
      renewalMs: renewalDays * DAY_MS,
      onExpiry:
        authority?.['certificateExpirationPolicy'] === 'replace-key' ? 'replace-key' : 'renew-certificate',
      windows,
      ...times,
    };
  };
  return {
    policies: { cluster: policyOf(spec.clusterCa), clients: policyOf(spec.clientsCa) },
    faults: [
      ...parsed.flatMap(({ text, window }, index): Fault[] =>
        isFault(window)
          ? [ignored(`the maintenance window "${text.slice(0, 100)}" ${window.fault}`, index)]
          : [],
      ),
      ...(written.length > MOST_WINDOWS
        ? [ignored(`maintenance windows after the first ${MOST_WINDOWS} are left out of account`)]
        : []),
    ],
  };
}
