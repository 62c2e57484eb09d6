/** The records that every server in the comparison serves. */
import type { DnsRecord } from '../../src/dns/wire/record.ts';

export const ZONE = 'example.test';

/** `names` hosts with an address each, and the name server. */
export function recordsOf(names: number): DnsRecord[] {
  const hosts = Array.from({ length: names }, (_, i) => ({
    name: `h${i}.${ZONE}`,
    type: 'A' as const,
    data: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
    ttl: 30,
  }));
  return [{ name: `ns.${ZONE}`, type: 'A', data: '10.255.0.1', ttl: 30 }, ...hosts];
}
