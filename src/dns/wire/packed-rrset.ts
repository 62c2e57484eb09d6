import type { RRset } from './record.ts';

/*
 * The RRsets of a name, one after another, sorted by type:
 *   size 4 (of all) | number 2 | RRsets: type 2, records 2, ttl 4, size of the data 4, data: length 2, bytes
 */
const BLOCK_HEADER = 6;
const RRSET_HEADER = 12;

/** Bytes that the RRsets take. */
export function packedSize(rrsets: readonly RRset[]): number {
  return rrsets.reduce((sum, rrset) => sum + RRSET_HEADER + dataSize(rrset), BLOCK_HEADER);
}

function dataSize({ data }: RRset): number {
  return data.reduce((sum, each) => sum + 2 + each.length, 0);
}

/** Writes RRsets at bytes[at]. */
export function packRRsets(bytes: Uint8Array, at: number, rrsets: readonly RRset[]): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  view.setUint32(at, packedSize(rrsets));
  view.setUint16(at + 4, rrsets.length);
  let to = at + BLOCK_HEADER;
  for (const rrset of rrsets) {
    view.setUint16(to, rrset.type);
    view.setUint16(to + 2, rrset.data.length);
    view.setUint32(to + 4, rrset.ttl);
    view.setUint32(to + 8, dataSize(rrset));
    to += RRSET_HEADER;
    for (const data of rrset.data) {
      view.setUint16(to, data.length);
      for (let i = 0; i < data.length; i++) bytes[to + 2 + i] = data.charCodeAt(i);
      to += 2 + data.length;
    }
  }
}

/** The size of the block at bytes[at]. */
export function packedSizeAt(bytes: Uint8Array, at: number): number {
  return get32(bytes, at);
}

/** An RRset where it lies. Valid until the thread turns to its next query: the memory may be another's then. */
export interface PackedRRset {
  readonly type: number;
  readonly ttl: number;
  readonly count: number;
  readonly bytes: Uint8Array;
  /** Where the data begin: of each record the length, two bytes, and the bytes. */
  readonly at: number;
}

/** The RRset of a type in the block at bytes[at]; of any type, the first, if the type is 0. */
export function findPacked(bytes: Uint8Array, at: number, type: number): PackedRRset | undefined {
  const number = get16(bytes, at + 4);
  let from = at + BLOCK_HEADER;
  for (let i = 0; i < number; i++) {
    const its = get16(bytes, from);
    if (its === type || type === 0) return packedAt(bytes, from);
    from += RRSET_HEADER + get32(bytes, from + 8);
  }
  return undefined;
}

/** All RRsets of the block at bytes[at], in memory of their own. */
export function unpackRRsets(bytes: Uint8Array, at: number): RRset[] {
  const rrsets: RRset[] = [];
  const end = at + get32(bytes, at);
  for (let from = at + BLOCK_HEADER; from < end; from += RRSET_HEADER + get32(bytes, from + 8)) {
    rrsets.push(unpackRRset(packedAt(bytes, from)));
  }
  return rrsets;
}

function packedAt(bytes: Uint8Array, from: number): PackedRRset {
  return {
    type: get16(bytes, from),
    ttl: get32(bytes, from + 4),
    count: get16(bytes, from + 2),
    bytes,
    at: from + RRSET_HEADER,
  };
}

/** An RRset in memory of its own. */
export function unpackRRset({ type, ttl, count, bytes, at }: PackedRRset): RRset {
  const data: string[] = [];
  for (let i = 0, from = at; i < count; i++) {
    const length = get16(bytes, from);
    data.push(textOf(bytes, from + 2, length));
    from += 2 + length;
  }
  return { type, ttl, data };
}

/** Packs a single RRset, such as one from outside of the zones. */
export function packRRset(rrset: RRset): PackedRRset {
  const bytes = new Uint8Array(packedSize([rrset]));
  packRRsets(bytes, 0, [rrset]);
  return findPacked(bytes, 0, 0)!;
}

/** The data of the first record, as text. */
export function firstData({ bytes, at }: PackedRRset): string {
  return textOf(bytes, at + 2, get16(bytes, at));
}

/** Bytes as text, one character a byte. Copied first: Buffer does not take shared memory everywhere. */
export function textOf(bytes: Uint8Array, at: number, length: number): string {
  return Buffer.from(bytes.subarray(at, at + length)).toString('latin1');
}

function get16(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}

function get32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}
