/**
 * Deflate (RFC 1951) for a run of records that differ from one another in a byte or two: each is compared with the one
 * before it and with nothing else. zlib makes it a little shorter, in ten times the time, most of which is its set-up.
 *
 * One block with the fixed codes: literals of 8 or 9 bits, lengths of 7 or 8 bits, distances of 5 bits.
 */
import { createWorkload } from './time-slice.ts';
import type { YieldTurn } from './time-slice.ts';

/** A code as it is written, lowest bit first, and how many bits it has. */
interface Code {
  bits: number;
  length: number;
}

const END_OF_BLOCK = 256;
const LONGEST_MATCH = 258;
const SHORTEST_MATCH = 3;
/** The last block, with fixed codes: three bits. */
const BLOCK_HEAD: Code = { bits: 0b011, length: 3 };

function reversed(value: number, length: number): number {
  let result = 0;
  for (let i = 0; i < length; i++) result |= ((value >> i) & 1) << (length - 1 - i);
  return result;
}

function fixedCode(symbol: number): Code {
  const [base, first, length] =
    symbol < 144
      ? [0x30, 0, 8]
      : symbol < 256
        ? [0x190, 144, 9]
        : symbol < 280
          ? [0, 256, 7]
          : [0xc0, 280, 8];
  return { bits: reversed(base + symbol - first, length), length };
}

/** A code followed by extra bits, which are not reversed. */
function withExtra(code: Code, extra: number, extraBits: number): Code {
  return { bits: code.bits | (extra << code.length), length: code.length + extraBits };
}

const SYMBOLS: readonly Code[] = Array.from({ length: 286 }, (_, symbol) => fixedCode(symbol));

/** By the length of a match. */
const LENGTHS: readonly Code[] = (() => {
  const codes: Code[] = [];
  let length = SHORTEST_MATCH;
  for (let symbol = 257; symbol < 285; symbol++) {
    const extraBits = symbol < 265 ? 0 : (symbol - 261) >> 2;
    for (let extra = 0; extra < 1 << extraBits; extra++)
      codes[length++] = withExtra(SYMBOLS[symbol]!, extra, extraBits);
  }
  codes[LONGEST_MATCH] = SYMBOLS[285]!;
  return codes;
})();

/** By distance, as far as records are long. */
const DISTANCES: readonly Code[] = (() => {
  const codes: Code[] = [];
  let distance = 1;
  for (let symbol = 0; symbol < 10; symbol++) {
    const extraBits = symbol < 2 ? 0 : (symbol - 2) >> 1;
    const code = { bits: reversed(symbol, 5), length: 5 };
    for (let extra = 0; extra < 1 << extraBits; extra++)
      codes[distance++] = withExtra(code, extra, extraBits);
  }
  return codes;
})();

/** So long may a record be, its length included; that is then one byte. */
export const LONGEST_RECORD = DISTANCES.length - 1;

class BitWriter {
  readonly #bytes: Buffer;
  #at = 0;
  #bits = 0;
  #held = 0;

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  write({ bits, length }: Code): void {
    this.#bits |= bits << this.#held;
    this.#held += length;
    while (this.#held >= 8) {
      this.#bytes[this.#at++] = this.#bits;
      this.#bits >>>= 8;
      this.#held -= 8;
    }
  }

  done(): Buffer {
    if (this.#held > 0) this.#bytes[this.#at++] = this.#bits;
    return this.#bytes.subarray(0, this.#at);
  }
}

/** Deflates records, each at most LONGEST_RECORD bytes long. */
export async function deflateRecords(records: Buffer, yieldTurn: YieldTurn): Promise<Buffer> {
  const writer = new BitWriter(16 + records.length + (records.length >> 2)); // no literal has more than nine bits
  writer.write(BLOCK_HEAD);
  let matched = 0;
  let distance = 0;
  const flush = (at: number) => {
    if (matched >= SHORTEST_MATCH) {
      writer.write(LENGTHS[matched]!);
      writer.write(DISTANCES[distance]!);
    } else for (let i = at - matched; i < at; i++) writer.write(SYMBOLS[records[i]!]!);
    matched = 0;
  };
  const workload = createWorkload(yieldTurn);
  for (let start = 0; start < records.length;) {
    const turn = workload(0);
    if (turn) await turn;
    const size = (records[start]! >> 1) + 1;
    const isLikeBefore = size === distance;
    if (!isLikeBefore) flush(start);
    distance = size;
    for (let at = start; at < start + size; at++) {
      if (isLikeBefore && records[at] === records[at - size]) {
        if (++matched === LONGEST_MATCH) flush(at + 1);
      } else {
        flush(at);
        writer.write(SYMBOLS[records[at]!]!);
      }
    }
    start += size;
  }
  flush(records.length);
  writer.write(SYMBOLS[END_OF_BLOCK]!);
  return writer.done();
}
