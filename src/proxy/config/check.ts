import { randomBytes, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { checkFilter } from '../filters/registry.ts';
import type { ProxyConfig } from './model.ts';
import { contextOptions, serverCertificates } from './tls-context.ts';

/** A certificate of ours, and when it expires. */
export interface CertificateFact {
  virtualCluster: string;
  /** The gateway that shows it, or `target` where we show it to the brokers. */
  usedBy: string;
  subject: string;
  expires: Date;
}

/**
 * Tries out what a schema cannot tell: that keys and certificates can be used, and that the filters' configurations are
 * right. Throws with all that is wrong, so that a configuration is either good or not used at all.
 */
export async function checkUsable(config: ProxyConfig, where: string): Promise<CertificateFact[]> {
  const problems: string[] = [];
  const facts: CertificateFact[] = [];
  const attempt = async (key: string, work: () => void | Promise<void>) => {
    try {
      await work();
    } catch (error) {
      problems.push(`${key}: ${messageOf(error)}`);
    }
  };
  for (const { name, gateways, filters, target } of config.virtualClusters) {
    const here = `virtualClusters[${name}]`;
    for (const { name: gateway, tls } of gateways) {
      await attempt(`${here}.gateways[${gateway}].tls.trust`, () => checkTrust(tls?.trust));
      await attempt(`${here}.gateways[${gateway}].tls`, () => {
        for (const { certificate } of tls ? serverCertificates(tls, randomBytes(48)) : []) {
          const { subject, validToDate: expires } = certificate;
          facts.push({
            virtualCluster: name,
            usedBy: gateway,
            subject: subject.replaceAll('\n', ','),
            expires,
          });
        }
      });
    }
    await attempt(`${here}.targetCluster.tls.trust`, () => checkTrust(target.tls?.trust));
    await attempt(`${here}.targetCluster.tls`, () => {
      if (target.tls) createSecureContext(contextOptions(target.tls.key, target.tls.trust, target.tls.rules));
    });
    for (const filter of filters)
      await attempt(`filterDefinitions[${filter.name}]`, () =>
        checkFilter(filter.type, filter.config, 'config'),
      );
  }
  if (problems.length > 0) throw new IsthmusError('CONFIG_INVALID', `${where}\n  ${problems.join('\n  ')}`);
  return facts;
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
