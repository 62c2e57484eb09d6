import type { ResolverAddress } from './exchange.ts';
import { isIP } from 'node:net';

/** As many as other resolvers of this file use. */
const MAX_SERVERS = 3;

/** The name servers in the text of /etc/resolv.conf. */
export function nameserversOf(text: string): ResolverAddress[] {
  return text
    .split('\n')
    .map((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? '')
    .filter((address) => isIP(address.split('%', 1)[0]!) !== 0)
    .slice(0, MAX_SERVERS)
    .map((address) => ({ address, port: 53 }));
}
