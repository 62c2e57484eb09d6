/** Addresses that are nobody's broker: the machine itself, its neighbours, the metadata service of a cloud. */
import { isIP, isIPv4 } from 'node:net';
import { dotted, groupsOf, networkMatcher } from './client-address.ts';

const SPECIAL: Record<string, readonly string[]> = {
  unspecified: ['0.0.0.0/8', '::/128'],
  loopback: ['127.0.0.0/8', '::1/128'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  multicast: ['224.0.0.0/4', 'ff00::/8'],
  reserved: ['240.0.0.0/4'],
  metadata: ['100.100.100.200/32', 'fd00:ec2::254/128', 'fd20:ce::254/128'],
};

const kinds = Object.entries(SPECIAL).map(([kind, cidrs]) => ({ kind, matches: networkMatcher(cidrs) }));
const ranges = Object.values(SPECIAL)
  .flat()
  .map((cidr) => ({ bits: Number(cidr.split('/')[1]), matches: networkMatcher([cidr]) }));

/** What kind of special address it is; undefined if it is like any other. IPv4 inside of NAT64 is what it means. */
export function specialKind(address: string): string | undefined {
  const groups = isIP(address) === 6 ? groupsOf(address) : [];
  if (groups.slice(0, 6).join(':') === '64:ff9b:0:0:0:0') return specialKind(dotted(groups.slice(6)));
  return kinds.find(({ matches }) => matches(address))?.kind;
}

/** A network, or an address as the network of its own. */
export const withBits = (network: string) =>
  network.includes('/') ? network : `${network}/${isIPv4(network) ? 32 : 128}`;

/** Says whether a special address is named by one of these networks. A wide one such as 0.0.0.0/0 does not name those in it. */
export function namedSpecial(networks: readonly string[]): (address: string) => boolean {
  const names = (cidr: string) => {
    const [network = '', bits] = cidr.split('/');
    return ranges.some((range) => range.matches(network) && Number(bits) >= range.bits);
  };
  return networkMatcher(networks.map(withBits).filter(names));
}
