/** Whether somebody publishes the names of exposed brokers. Pure. */
import type { CheckResult, Facts } from './facts.ts';
import type { ExposeFacts, PublisherSeen } from './expose-facts.ts';
import type { ExposedListener } from './exposed-listeners.ts';
import { fail, fine, known, verdict, warn } from './results.ts';

export function publisherChecks(
  { served, dns }: Facts,
  { publishers }: ExposeFacts,
  exposed: readonly ExposedListener[],
): CheckResult[] {
  const named = exposed.filter(({ wish }) => wish.hostPattern !== undefined);
  if (named.length === 0) return [];
  const hasKind = served.get('DNSEndpoint');
  const kind = 'the kind DNSEndpoint is served, for the names of brokers';
  return known(kind, hasKind, (isServed) => {
    if (!isServed) return [fail(kind, 'DNSEndpointKindMissing', 'there is no kind DNSEndpoint here')];
    const description = 'somebody publishes the names of brokers';
    return known(description, publishers, (found) => {
      if ('value' in dns && dns.value !== undefined)
        return [fine(`${description}: the DNS server of Isthmus`)];
      if (found.length === 0)
        return [warn(description, 'NobodyPublishesNames', 'no Deployment runs an image external-dns')];
      return [
        verdict(
          description,
          named.flatMap((one) => unpublished(one, found)),
          fail,
          'ExternalDNSPassesBy',
        ),
      ];
    });
  });
}

/** One that takes the names is enough; if none does, what keeps each from it. */
function unpublished({ namespace, text, wish }: ExposedListener, found: readonly PublisherSeen[]): string[] {
  const domain = (wish.hostPattern ?? '').split('.').slice(1).join('.');
  const reasons = found.map(({ name, args }) => ({ name, why: passesBy(args, namespace, domain) }));
  if (reasons.some(({ why }) => why === undefined)) return [];
  return reasons.map(({ name, why }) => `${text}: ${name} ${why}`);
}

/** What keeps an external-dns from the records of a domain, by its flags; undefined if nothing does. */
export function passesBy(args: readonly string[], namespace: string, domain: string): string | undefined {
  const sources = valuesOf(args, '--source');
  if (!sources.includes('crd')) return 'has no --source=crd';
  const only = valuesOf(args, '--namespace').find((value) => value !== '');
  if (only !== undefined && only !== namespace) return `looks into --namespace=${only} only`;
  // It counts in the place of the other two, and says what nobody but external-dns should judge.
  if (args.some((arg) => arg.startsWith('--regex-domain-filter'))) return undefined;
  const domains = valuesOf(args, '--domain-filter').filter((value) => value !== '');
  const isWithin = (zone: string) => {
    const name = zone.replace(/^\.|\.$/g, '').toLowerCase();
    return domain === name || domain.endsWith(`.${name}`);
  };
  if (domains.length > 0 && !domains.some(isWithin))
    return `has --domain-filter=${domains.join(',')}, which leaves out ${domain}`;
  const excluded = valuesOf(args, '--exclude-domains').find((zone) => zone !== '' && isWithin(zone));
  return excluded === undefined ? undefined : `has --exclude-domains=${excluded}`;
}

/** Of a flag that may be there several times, as `--flag=value` or as two words. */
function valuesOf(args: readonly string[], flag: string): string[] {
  const values = args.flatMap((arg, at) =>
    arg === flag ? (args[at + 1] ?? []) : arg.startsWith(`${flag}=`) ? arg.slice(flag.length + 1) : [],
  );
  return values.flatMap((value) => value.split(','));
}
