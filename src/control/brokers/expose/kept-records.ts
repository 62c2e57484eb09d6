/** Records of brokers of which nobody knows for now where they are. Pure. */
import type { AnyObject } from '../../../kube/object.ts';
import { dnsEndpoint } from '../../../resources/external-dns/dns-endpoint.ts';
import { read } from '../../kernel/read.ts';
import { RECORD_TTL_SECONDS } from './records.ts';
import type { Endpoint } from './records.ts';

/**
 * In the order of all names that there are to be. One that leads nowhere now keeps the records that `published` has of it: a broker comes back,
 * mostly to where it was, and resolvers would remember for long that there is no such name. None that leads to where another broker is now.
 */
export function withKept(
  records: readonly Endpoint[],
  hosts: readonly string[],
  published: AnyObject | undefined,
): Endpoint[] {
  const known = byHost(records);
  const isWhole = hosts.every((host) => known.has(host));
  const taken = new Set(records.flatMap(({ targets }) => targets));
  const kept = byHost(
    isWhole ? [] : recordsIn(published).filter(({ targets }) => !targets.some((one) => taken.has(one))),
  );
  return [...new Set(hosts)].flatMap((host) => known.get(host) ?? kept.get(host) ?? []);
}

const byHost = (records: readonly Endpoint[]) => Map.groupBy(records, ({ dnsName }) => dnsName);

/** As we write them: somebody else may have written into it. */
function recordsIn(published: AnyObject | undefined): Endpoint[] {
  const endpoints = published && read(dnsEndpoint, published).resource?.spec.endpoints;
  return (endpoints ?? []).flatMap(({ dnsName, recordType, targets = [] }) =>
    recordType === 'A' || recordType === 'AAAA' || recordType === 'CNAME'
      ? [{ dnsName, recordType, targets, recordTTL: RECORD_TTL_SECONDS }]
      : [],
  );
}
