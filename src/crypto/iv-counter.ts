import { randomFillSync } from 'node:crypto';

/**
 * IVs for one run of records: a 96-bit big-endian counter from a random start that wraps around.
 * A random start per run and one step per record keep two records of a data key from sharing an IV.
 */
export interface IvCounter {
  /** Writes the next IV to target[at..at + 12). */
  writeNext(target: Buffer, at: number): void;
}

const START_BYTES = 12;
/** Randomness is fetched for many starts at a time: the call costs more than sealing a record. */
const pool = Buffer.alloc(START_BYTES * 256);
let used = pool.length;

function randomStart(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += START_BYTES;
  return pool.subarray(used - START_BYTES, used);
}

export function createIvCounter(start: Buffer = randomStart()): IvCounter {
  let high = start.readUInt32BE(0);
  let middle = start.readUInt32BE(4);
  let low = start.readUInt32BE(8);
  return {
    writeNext(target, at) {
      target.writeUInt32BE(high, at);
      target.writeUInt32BE(middle, at + 4);
      target.writeUInt32BE(low, at + 8);
      low = (low + 1) >>> 0;
      if (low === 0) middle = (middle + 1) >>> 0;
      if (low === 0 && middle === 0) high = (high + 1) >>> 0;
    },
  };
}
