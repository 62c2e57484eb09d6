/**
 * The memory that all threads answer from: one block, written by the main thread and read by all. Nothing that a reader can
 * reach is changed in place but single 32-bit words; everything else is written first and then made reachable by one
 * such word. What is no longer reachable is written over only when no reader can still be looking at it.
 */
export interface ZoneMemory {
  readonly buffer: SharedArrayBuffer;
  readonly words: Int32Array;
  readonly bytes: Uint8Array;
}

/**
 * Words at the start: whether the records are complete, and where the parts of the index of names are. A part that is full is copied at once
 * into one of twice the size; one index of a hundred thousand names would take 10 ms for that.
 */
export const READY = 0;
const INDEX = 1;
const INDEX_PARTS = 64;
const HEADER_WORDS = INDEX + INDEX_PARTS;

/** The word that says where the part of the index is that has a hash. */
export function indexAt(hash: number): number {
  return INDEX + ((hash >>> PART_SHIFT) & (INDEX_PARTS - 1));
}

/** Those words. */
export function indexParts(): number[] {
  return Array.from({ length: INDEX_PARTS }, (_, part) => INDEX + part);
}

/** Neither the lowest bits of a hash, which say where in a part it is, nor the highest, which a slot holds. */
const PART_SHIFT = 20;

/** Memory is given out in units, so that a 32-bit slot of the index holds one and six bits of a hash. */
export const UNIT = 16;
const WORDS_PER_UNIT = UNIT / 4;
const SMALLEST = 1 << 20;

/** Address space, not memory: the system gives memory to what is written. If it does not give as much, half of it, and so on. */
export function createMemory(size: number): ZoneMemory {
  try {
    return openMemory(new SharedArrayBuffer(size));
  } catch (error) {
    if (size <= SMALLEST) throw error;
    return createMemory(size / 2);
  }
}

export function openMemory(buffer: SharedArrayBuffer): ZoneMemory {
  return { buffer, words: new Int32Array(buffer), bytes: new Uint8Array(buffer) };
}

/** Gives out pieces of the memory; for the one thread that writes. Places are indices of words. */
export interface Allocator {
  allocate(bytes: number): number;
  /** Gives a piece back that readers may still be looking at. */
  retire(at: number, bytes: number): void;
  /** Bytes in use, with those that are retired. */
  readonly used: number;
}

/** Calls back when no thread can still be reading what was not reachable at the time of the call. */
export type WhenUnread = (done: () => void) => void;

/** So many retired pieces are given back together: each time all threads have to be waited for. */
const RETIRED_AT_ONCE = 1024;
/** Larger pieces have the size of a power of two, so that they fit the next one that is needed. */
const EXACT_UNITS = 64;

export function createAllocator(memory: ZoneMemory, whenUnread: WhenUnread): Allocator {
  const capacity = memory.buffer.byteLength / UNIT;
  const free = new Map<number, number[]>();
  let next = Math.ceil(HEADER_WORDS / WORDS_PER_UNIT);
  let retired: { unit: number; units: number }[] = [];
  let waiting = false;

  function reclaim(): void {
    if (waiting || retired.length < RETIRED_AT_ONCE) return;
    const pieces = retired;
    retired = [];
    waiting = true;
    whenUnread(() => {
      waiting = false;
      for (const { unit, units } of pieces) {
        const same = free.get(units);
        if (same) same.push(unit);
        else free.set(units, [unit]);
      }
    });
  }

  return {
    allocate(bytes) {
      const units = unitsOf(bytes);
      const again = free.get(units)?.pop();
      if (again !== undefined) return again * WORDS_PER_UNIT;
      if (next + units > capacity) throw new Error(`the records do not fit into ${capacity * UNIT} bytes`);
      next += units;
      return (next - units) * WORDS_PER_UNIT;
    },
    retire(at, bytes) {
      retired.push({ unit: at / WORDS_PER_UNIT, units: unitsOf(bytes) });
      reclaim();
    },
    get used() {
      return next * UNIT;
    },
  };
}

function unitsOf(bytes: number): number {
  const units = Math.ceil(bytes / UNIT);
  return units <= EXACT_UNITS ? units : 2 ** Math.ceil(Math.log2(units));
}
