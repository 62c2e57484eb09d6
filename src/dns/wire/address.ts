import { isIPv4, isIPv6 } from 'node:net';
import { parseName } from './name.ts';
import type { Name } from './name.ts';

/** The four or sixteen bytes of an address, one character a byte; undefined if it is not an address. */
export function parseAddress(text: string): string | undefined {
  if (isIPv4(text)) return String.fromCharCode(...text.split('.').map(Number));
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return parseIPv6(text);
}

function parseIPv6(text: string): string {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  if (dotted) {
    const [high, low] = [
      Number(dotted[2]) * 256 + Number(dotted[3]),
      Number(dotted[4]) * 256 + Number(dotted[5]),
    ];
    return parseIPv6(`${dotted[1]}${high.toString(16)}:${low.toString(16)}`);
  }
  const [head = '', tail] = text.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => parseInt(group, 16)));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const all = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return String.fromCharCode(...all.flatMap((group) => [group >> 8, group & 0xff]));
}

/** Writes an address from its bytes. IPv6 in the canonical form of RFC 5952. */
export function formatAddress(bytes: string): string {
  const codes = Array.from(bytes, (char) => char.charCodeAt(0));
  if (codes.length === 4) return codes.join('.');
  const groups = Array.from({ length: 8 }, (_, i) => ((codes[2 * i]! << 8) | codes[2 * i + 1]!).toString(16));
  // The longest run of zeros becomes `::`, the first of several, and never a single one.
  let [from, length] = [0, 1];
  for (let start = 0, end = 0; start < 8; start = end + 1) {
    for (end = start; groups[end] === '0';) end++;
    if (end - start > length) [from, length] = [start, end - start];
  }
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, from).join(':')}::${groups.slice(from + length).join(':')}`;
}

/** The name under which PTR records of an address live. */
export function reverseName(address: string): Name | undefined {
  const bytes = parseAddress(address);
  if (bytes === undefined) return undefined;
  const codes = Array.from(bytes, (char) => char.charCodeAt(0)).toReversed();
  if (bytes.length === 4) return parseName(`${codes.join('.')}.in-addr.arpa`);
  const nibbles = codes.flatMap((code) => [(code & 15).toString(16), (code >> 4).toString(16)]);
  return parseName(`${nibbles.join('.')}.ip6.arpa`);
}
