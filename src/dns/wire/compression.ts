import { HEADER_SIZE, MAX_NAME } from './constants.ts';
import type { SearchName } from './search-name.ts';

/** The suffixes of names in a message that a compression pointer can refer to (RFC 1035 section 4.1.4). */
export interface CompressionTable {
  readonly question: SearchName;
  /** Number of suffixes; -1 until the first name is written, which most responses never do. */
  count: number;
  /** The names written so far, uncompressed and lower-cased, one after another. */
  readonly names: Uint8Array;
  namesEnd: number;
  /** Of each suffix: where it starts in `names`, its length, and its offset in the message. */
  readonly starts: Int32Array;
  readonly lengths: Int32Array;
  readonly offsets: Int32Array;
}

const MAX_SUFFIXES = 256;
const NAMES_SIZE = 8192;
const MAX_POINTER = 0x3fff;

/** Makes the table of a message whose question has the given name. */
export function createCompressionTable(question: SearchName): CompressionTable {
  return {
    question,
    count: -1,
    names: new Uint8Array(NAMES_SIZE),
    namesEnd: 0,
    starts: new Int32Array(MAX_SUFFIXES),
    lengths: new Int32Array(MAX_SUFFIXES),
    offsets: new Int32Array(MAX_SUFFIXES),
  };
}

/**
 * Appends the name that starts at source[start] to `names`, without making its suffixes known; returns its length.
 * When `names` is full, all suffixes are forgotten.
 */
export function appendName(table: CompressionTable, source: string, start: number): number {
  makeRoom(table);
  const { names, namesEnd: from } = table;
  let at = 0;
  for (let label = source.charCodeAt(start); label !== 0; label = source.charCodeAt(start + at)) {
    names[from + at++] = label;
    for (const end = at + label; at < end; at++) names[from + at] = source.charCodeAt(start + at);
  }
  names[from + at] = 0;
  table.namesEnd = from + at + 1;
  return at + 1;
}

/** The same for a name in wire format at source[start]. */
export function appendBytes(table: CompressionTable, source: Uint8Array, start: number): number {
  makeRoom(table);
  const { names, namesEnd: from } = table;
  let at = 0;
  for (let label = source[start]!; label !== 0; label = source[start + at]!) {
    names[from + at++] = label;
    for (const end = at + label; at < end; at++) names[from + at] = source[start + at]!;
  }
  names[from + at] = 0;
  table.namesEnd = from + at + 1;
  return at + 1;
}

function makeRoom(table: CompressionTable): void {
  if (table.count < 0) addQuestion(table);
  if (table.namesEnd + MAX_NAME <= NAMES_SIZE) return;
  table.namesEnd = 0;
  table.count = 0;
}

/** The question keeps the client's own spelling, so that pointers to it keep the case. */
function addQuestion(table: CompressionTable): void {
  const { question, names } = table;
  table.count = 0;
  table.namesEnd = question.length;
  for (let i = 0; i < question.length; i++) names[i] = question.bytes[i]!;
  for (let label = 0; label < question.labels; label++) {
    const start = question.starts[label]!;
    addSuffix(table, start, question.length - start, HEADER_SIZE + start);
  }
}

/** Makes a suffix known that stands at `offset` in the message. */
export function addSuffix(table: CompressionTable, start: number, length: number, offset: number): void {
  const { count } = table;
  if (count >= MAX_SUFFIXES || offset > MAX_POINTER) return;
  table.starts[count] = start;
  table.lengths[count] = length;
  table.offsets[count] = offset;
  table.count = count + 1;
}

/** The offset in the message of a suffix equal to names[start, start+length), or -1. */
export function findSuffix(table: CompressionTable, start: number, length: number): number {
  const { count, lengths, starts, names } = table;
  for (let i = 0; i < count; i++) {
    if (lengths[i] !== length) continue;
    const other = starts[i]!;
    let same = 0;
    while (same < length && names[start + same] === names[other + same]) same++;
    if (same === length) return table.offsets[i]!;
  }
  return -1;
}
