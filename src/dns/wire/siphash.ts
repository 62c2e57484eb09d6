// SipHash-2-4 on 32-bit halves: JavaScript has no 64-bit integers that are fast. Each word is [low, high].
const state = new Uint32Array(8);

function add(a: number, b: number): void {
  const low = state[a]! + state[b]!;
  state[a + 1] = state[a + 1]! + state[b + 1]! + (low > 0xffffffff ? 1 : 0);
  state[a] = low;
}

function rotateXor(a: number, bits: number, b: number): void {
  const low = state[a]!;
  const high = state[a + 1]!;
  state[a] = ((low << bits) | (high >>> (32 - bits))) ^ state[b]!;
  state[a + 1] = ((high << bits) | (low >>> (32 - bits))) ^ state[b + 1]!;
}

function swap(a: number): void {
  const low = state[a]!;
  state[a] = state[a + 1]!;
  state[a + 1] = low;
}

function round(): void {
  add(0, 2);
  rotateXor(2, 13, 0);
  swap(0);
  add(4, 6);
  rotateXor(6, 16, 4);
  add(0, 6);
  rotateXor(6, 21, 0);
  add(4, 2);
  rotateXor(2, 17, 4);
  swap(4);
}

function readWord(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

function absorb(low: number, high: number): void {
  state[6]! ^= low;
  state[7]! ^= high;
  round();
  round();
  state[0]! ^= low;
  state[1]! ^= high;
}

/** Writes the eight bytes of SipHash-2-4(key, data[0..length)) to `out` at `at`. The key has 16 bytes. */
export function sipHash(
  key: Uint8Array,
  data: Uint8Array,
  length: number,
  out: Uint8Array,
  at: number,
): void {
  const [k0, k1, k2, k3] = [readWord(key, 0), readWord(key, 4), readWord(key, 8), readWord(key, 12)];
  state[0] = k0 ^ 0x70736575;
  state[1] = k1 ^ 0x736f6d65;
  state[2] = k2 ^ 0x6e646f6d;
  state[3] = k3 ^ 0x646f7261;
  state[4] = k0 ^ 0x6e657261;
  state[5] = k1 ^ 0x6c796765;
  state[6] = k2 ^ 0x79746573;
  state[7] = k3 ^ 0x74656462;

  const whole = length & ~7;
  for (let i = 0; i < whole; i += 8) absorb(readWord(data, i), readWord(data, i + 4));
  let low = 0;
  let high = length << 24;
  for (let i = whole; i < length; i++) {
    if (i - whole < 4) low |= data[i]! << (8 * (i - whole));
    else high |= data[i]! << (8 * (i - whole - 4));
  }
  absorb(low, high);

  state[4] ^= 0xff;
  for (let i = 0; i < 4; i++) round();
  for (let half = 0; half < 2; half++) {
    const word = state[half]! ^ state[2 + half]! ^ state[4 + half]! ^ state[6 + half]!;
    for (let i = 0; i < 4; i++) out[at + 4 * half + i] = word >>> (8 * i);
  }
}
