import { crc32c } from '@platformatic/wasm-utils';

/** CRC-32C of batches. It is WebAssembly, a few hundred megabytes a second; large batches are read piece by piece. */

const PIECE = 512 * 1024;
/** Castagnoli's polynomial, lowest bit first. */
const POLYNOMIAL = 0x82f6_3b78;
/** Where the part of a batch begins that its checksum is of. */
const CRC_FROM = 21;

/** The checksum that a batch must have. */
export const checksumOf = (batch: Buffer): number => crc32c(batch.subarray(CRC_FROM));

/** The same, and others get their turn between the pieces of a large batch. */
export async function checksumInTurns(
  batch: Buffer,
  yieldTurn: () => Promise<void> | undefined,
): Promise<number> {
  if (batch.length <= PIECE) return checksumOf(batch);
  const bytes = batch.subarray(CRC_FROM);
  // The first piece is the odd one, so that all others have one length, and one way to go past them.
  let at = bytes.length % PIECE;
  let checksum = crc32c(bytes.subarray(0, at));
  for (; at < bytes.length; at += PIECE) {
    const turn = yieldTurn();
    if (turn) await turn;
    checksum = times(pastPiece, checksum) ^ crc32c(bytes.subarray(at, at + PIECE));
  }
  return checksum >>> 0;
}

/** A linear map of checksums: the images of their 32 bits. */
type BitMatrix = readonly number[];

function times(matrix: BitMatrix, bits: number): number {
  let product = 0;
  for (let i = 0; bits !== 0; i++, bits >>>= 1) if (bits & 1) product ^= matrix[i]!;
  return product;
}

const squared = (matrix: BitMatrix): BitMatrix => matrix.map((image) => times(matrix, image));

/** What a checksum becomes by as many zero bytes as a piece has: one bit's step, squared until it is that long. */
const pastPiece: BitMatrix = (() => {
  let matrix: BitMatrix = Array.from({ length: 32 }, (_, i) => (i === 0 ? POLYNOMIAL : 1 << (i - 1)));
  for (let bits = 1; bits < PIECE * 8; bits *= 2) matrix = squared(matrix);
  return matrix;
})();
