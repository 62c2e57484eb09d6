import { hash } from 'node:crypto';
import type { Name } from '../wire/name.ts';
import type { RRset } from '../wire/record.ts';

/**
 * A fingerprint of all RRsets of a zone that is kept current with every change: the sum of their hashes, word by word, so that it depends
 * on what is there and not on the order it came in. Replicas compare their zones by it.
 */
export interface ZoneContent {
  add(name: Name, rrset: RRset): void;
  remove(name: Name, rrset: RRset): void;
  readonly fingerprint: string;
}

const WORDS = 8;

export function createZoneContent(): ZoneContent {
  const sums = new Uint32Array(WORDS);
  const change = (name: Name, { type, ttl, data }: RRset, sign: 1 | -1) => {
    const text = `${name}${type} ${ttl} ${data.map((one) => `${one.length}:${one}`).join('')}`;
    // As text: a buffer has memory of its own outside of the heap, which thousands of changes leave in pieces.
    const digest = hash('sha256', text, 'latin1');
    for (let i = 0; i < WORDS; i++) sums[i]! += sign * wordAt(digest, 4 * i);
  };
  return {
    add: (name, rrset) => change(name, rrset, 1),
    remove: (name, rrset) => change(name, rrset, -1),
    get fingerprint() {
      return Buffer.from(sums.buffer).toString('base64url', 0, 24);
    },
  };
}

/** Four bytes of a text with one character a byte, the lowest first. */
function wordAt(text: string, at: number): number {
  const low = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 8);
  return (low | (text.charCodeAt(at + 2) << 16) | (text.charCodeAt(at + 3) << 24)) >>> 0;
}
