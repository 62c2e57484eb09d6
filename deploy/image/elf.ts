/** Reads what an ELF file says about itself: 64 bits, little-endian, as all platforms of the image are. */
import { closeSync, lstatSync, openSync, readSync } from 'node:fs';

export interface Elf {
  /** The number of the processor that it is for. */
  machine: number;
  /** Whether a loader has something to do with it: not so with a static program. */
  isDynamic: boolean;
  /** The path of its loader; libraries name none. */
  interpreter: string | undefined;
  /** The names of the libraries that it is linked with. */
  needed: readonly string[];
}

const MAGIC = Buffer.from('\x7fELF', 'latin1');
const PROGRAM_HEADER = { load: 1, dynamic: 2, interpreter: 3 };
const DYNAMIC = { needed: 1, stringTable: 5, stringTableSize: 10 };
const HEADER_BYTES = 64;
const DYNAMIC_ENTRY_BYTES = 16;

/** Undefined for what is no ELF file. */
export function readElf(path: string): Elf | undefined {
  if (!lstatSync(path).isFile()) return undefined;
  const file = openSync(path, 'r');
  try {
    return read((at, size) => {
      const bytes = Buffer.alloc(size);
      return bytes.subarray(0, readSync(file, bytes, 0, size, at));
    });
  } finally {
    closeSync(file);
  }
}

type ReadAt = (at: number, size: number) => Buffer;

interface Segment {
  type: number;
  at: number;
  address: number;
  size: number;
}

function read(readAt: ReadAt): Elf | undefined {
  const header = readAt(0, HEADER_BYTES);
  if (header.length < HEADER_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  const segments = segmentsOf(header, readAt);
  const [dynamic, interpreter] = [PROGRAM_HEADER.dynamic, PROGRAM_HEADER.interpreter].map((wanted) =>
    segments.find(({ type }) => type === wanted),
  );
  return {
    machine: header.readUInt16LE(18),
    isDynamic: dynamic !== undefined,
    interpreter: interpreter && textAt(readAt(interpreter.at, interpreter.size), 0),
    needed: dynamic ? neededBy(readAt(dynamic.at, dynamic.size), segments, readAt) : [],
  };
}

const numberAt = (bytes: Buffer, at: number) => Number(bytes.readBigUInt64LE(at));

/** Texts end with a zero. */
const textAt = (bytes: Buffer, at: number) => bytes.toString('latin1', at, bytes.indexOf(0, at));

function segmentsOf(header: Buffer, readAt: ReadAt): Segment[] {
  const [size, count] = [header.readUInt16LE(54), header.readUInt16LE(56)];
  const table = readAt(numberAt(header, 32), size * count);
  return Array.from({ length: count }, (_, index) => {
    const entry = table.subarray(index * size);
    const [at, address] = [numberAt(entry, 8), numberAt(entry, 16)];
    return { type: entry.readUInt32LE(0), at, address, size: numberAt(entry, 32) };
  });
}

function neededBy(dynamic: Buffer, segments: readonly Segment[], readAt: ReadAt): string[] {
  const entries = Array.from({ length: dynamic.length / DYNAMIC_ENTRY_BYTES }, (_, index) => ({
    tag: numberAt(dynamic, index * DYNAMIC_ENTRY_BYTES),
    value: numberAt(dynamic, index * DYNAMIC_ENTRY_BYTES + 8),
  }));
  const valueOf = (wanted: number) => entries.find(({ tag }) => tag === wanted)?.value ?? 0;
  // It is named by where it will be in memory.
  const address = valueOf(DYNAMIC.stringTable);
  const holder = segments.find(
    (one) => one.type === PROGRAM_HEADER.load && address >= one.address && address < one.address + one.size,
  );
  if (!holder) return [];
  const strings = readAt(address - holder.address + holder.at, valueOf(DYNAMIC.stringTableSize));
  return entries.flatMap(({ tag, value }) => (tag === DYNAMIC.needed ? textAt(strings, value) : []));
}
