import { randomBytes, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../../ops/errors.ts';
import { moduleOf } from '../../ops/filter-module.ts';
import { checkFilter } from '../filters/registry.ts';
import type { FilterSpec, Problem, VirtualClusterConfig } from './model.ts';
import { createOwnFilterCheck } from './own-filter-check.ts';
import { contextOptions, serverCertificates } from './tls-context.ts';

/** A certificate of ours, and when it expires. */
export interface CertificateFact {
  virtualCluster: string;
  /** The gateway that shows it, or `target` where we show it to the brokers. */
  usedBy: string;
  subject: string;
  expires: Date;
}

/** Virtual clusters, each found to be of use or not. */
export interface UsableClusters {
  usable: VirtualClusterConfig[];
  rejected: Problem[];
  certificates: CertificateFact[];
  /** Whether some were rejected that nobody has tried out, so that another try is due. */
  leftUntried: boolean;
}

/**
 * Tries out what a schema cannot tell: that keys and certificates can be used, and that the filters can be loaded and take
 * their configurations. What cannot be used is the problem of its own virtual cluster.
 */
export async function usableClusters(clusters: readonly VirtualClusterConfig[]): Promise<UsableClusters> {
  const found: UsableClusters = { usable: [], rejected: [], certificates: [], leftUntried: false };
  const own = createOwnFilterCheck();
  const check = (filter: FilterSpec) =>
    moduleOf(filter.type) === undefined ? checkFilter(filter, 'config') : own.check(filter);
  for (const cluster of clusters) {
    const { problems, certificates } = await tryOut(cluster, check);
    if (problems.length === 0) {
      found.usable.push(cluster);
      found.certificates.push(...certificates);
    }
    for (const problem of problems) found.rejected.push({ cluster: cluster.name, problem, stage: 'load' });
  }
  own.close();
  found.leftUntried = own.leftUntried();
  return found;
}

async function tryOut(
  { name, gateways, filters, target }: VirtualClusterConfig,
  check: (filter: FilterSpec) => Promise<void>,
) {
  const problems: string[] = [];
  const certificates: CertificateFact[] = [];
  const attempt = async (key: string, work: () => void | Promise<void>) => {
    try {
      await work();
    } catch (error) {
      problems.push(`${key}: ${messageOf(error)}`);
    }
  };
  for (const { name: gateway, tls } of gateways) {
    await attempt(`gateways[${gateway}].tls.trust`, () => checkTrust(tls?.trust));
    await attempt(`gateways[${gateway}].tls`, () => {
      for (const { certificate } of tls ? serverCertificates(tls, randomBytes(48)) : []) {
        const { subject, validToDate: expires } = certificate;
        const shown = subject.replaceAll('\n', ',');
        certificates.push({ virtualCluster: name, usedBy: gateway, subject: shown, expires });
      }
    });
  }
  await attempt('targetCluster.tls.trust', () => checkTrust(target.tls?.trust));
  await attempt('targetCluster.tls', () => {
    if (target.tls) createSecureContext(contextOptions(target.tls.key, target.tls.trust, target.tls.rules));
  });
  for (const filter of filters) await attempt(`filterDefinitions[${filter.name}]`, () => check(filter));
  return { problems, certificates };
}

/** OpenSSL takes anything, and trusts nobody where it finds no certificate. */
function checkTrust(trust: string | undefined): void {
  if (trust === undefined) return;
  try {
    void new X509Certificate(trust);
  } catch (cause) {
    throw new Error('has no certificate in it', { cause });
  }
}
