import { BlockList, isIP, isIPv4 } from 'node:net';

/** Addresses of clients: which of them are one client to limits, and which belong to a list of networks. */

/**
 * What connections are counted by: an IPv4 address, or the /64 of an IPv6 one. A host has a whole /64 to choose its
 * addresses from, so counting each of them would limit nobody.
 */
export function clientKey(address: string): string {
  const plain = plainAddress(address);
  return isIP(plain) === 6 ? `${groupsOf(plain).slice(0, 4).join(':')}::/64` : plain;
}

/** Says whether an address belongs to one of these networks (CIDR). */
export function networkMatcher(cidrs: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = '', bits = ''] = cidr.split('/');
    list.addSubnet(network, Number(bits), isIPv4(network) ? 'ipv4' : 'ipv6');
  }
  return (address) => {
    const plain = plainAddress(address);
    return list.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
  };
}

/** An address without the form that IPv4 has on a socket for both families (::ffff:192.0.2.1), however it is spelt. */
function plainAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return address.split('%')[0]!;
  return dotted(groups.slice(6));
}

/** Two groups of an IPv6 address as the IPv4 address that they are. */
export const dotted = (groups: readonly string[]): string =>
  groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]).join('.');

/** The eight groups of an IPv6 address, without leading zeros. */
export function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').flatMap(groupsOfPart));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after];
}

/** One group; the last part may be an IPv4 address, which is two of them. */
function groupsOfPart(part: string): string[] {
  if (!part.includes('.')) return [Number.parseInt(part, 16).toString(16)];
  const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number);
  return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
}
