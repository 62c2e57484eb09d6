/**
 * Memory for large frames that are put together here. Fresh memory costs a page fault for every 4 KiB and brings the
 * next garbage collection nearer, and both cost more than what is done with the bytes: so a little of it is kept.
 */

/** Smaller frames are not worth the care. */
export const LARGE_FRAME = 32_768;
const LARGEST = 8_388_608;
const KEPT_BYTES = 16_777_216;

export interface FrameMemory {
  /** A buffer of at least this size. */
  take(size: number): Buffer;
  /** Takes back a buffer that nobody uses any more. */
  give(buffer: Buffer): void;
}

/** Sizes are powers of two, so that a buffer fits many frames. At most `keep` bytes wait for their next use. */
export function createFrameMemory(keep = KEPT_BYTES): FrameMemory {
  const free = new Map<number, Buffer[]>();
  for (let size = LARGE_FRAME; size <= LARGEST; size *= 2) free.set(size, []);
  let kept = 0;
  return {
    take(size) {
      if (size < LARGE_FRAME || size > LARGEST) return Buffer.allocUnsafe(size);
      const rounded = 2 ** Math.ceil(Math.log2(size));
      const buffer = free.get(rounded)!.pop();
      if (!buffer) return Buffer.allocUnsafeSlow(rounded);
      kept -= rounded;
      return buffer;
    },
    give(buffer) {
      const list = free.get(buffer.length);
      if (!list || kept + buffer.length > keep) return;
      list.push(buffer);
      kept += buffer.length;
    },
  };
}

/** What the connections of this process share. */
export const frameMemory = createFrameMemory();
