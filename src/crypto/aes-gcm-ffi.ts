/**
 * AES-256-GCM by calling the OpenSSL that is part of the Node binary, with one context kept per key.
 * node:ffi is experimental and can be absent or forbidden; and a wrong signature would corrupt memory rather than fail.
 * So every symbol is looked up first, and a known answer is compared with node:crypto's before this is ever used.
 * The garbage collector does not know that an address is in use: see `inUse`.
 */
import { createCipheriv } from 'node:crypto';
import { IV_BYTES, KEY_BYTES, TAG_BYTES } from './cipher.ts';
import type { Cipher, GcmImplementation, Pinned } from './cipher.ts';

/** The little of node:ffi that is used here; its types are not in @types/node yet. */
interface Ffi {
  dlopen(path: null, signatures: Record<string, Signature>): { functions: Record<string, unknown> };
  getRawPointer(buffer: Buffer): bigint;
}
interface Signature {
  arguments: readonly ('pointer' | 'u64' | 'i32')[];
  return: 'pointer' | 'i32' | 'void';
}

const POINTER = 'pointer';
const SIGNATURES = {
  CRYPTO_zalloc: { arguments: ['u64', POINTER, 'i32'], return: POINTER },
  EVP_aes_256_gcm: { arguments: [], return: POINTER },
  EVP_CIPHER_CTX_new: { arguments: [], return: POINTER },
  EVP_CIPHER_CTX_free: { arguments: [POINTER], return: 'void' },
  EVP_CIPHER_CTX_ctrl: { arguments: [POINTER, 'i32', 'i32', POINTER], return: 'i32' },
  // Not EVP_CipherInit_ex: Node's fast path ends at five arguments, and the sixth costs as much as the whole AES.
  EVP_EncryptInit_ex: { arguments: [POINTER, POINTER, POINTER, POINTER, POINTER], return: 'i32' },
  EVP_DecryptInit_ex: { arguments: [POINTER, POINTER, POINTER, POINTER, POINTER], return: 'i32' },
  EVP_EncryptUpdate: { arguments: [POINTER, POINTER, POINTER, POINTER, 'i32'], return: 'i32' },
  EVP_DecryptUpdate: { arguments: [POINTER, POINTER, POINTER, POINTER, 'i32'], return: 'i32' },
  EVP_EncryptFinal_ex: { arguments: [POINTER, POINTER, POINTER], return: 'i32' },
  EVP_DecryptFinal_ex: { arguments: [POINTER, POINTER, POINTER], return: 'i32' },
} as const satisfies Record<string, Signature>;

type Init = (context: bigint, cipher: bigint, engine: bigint, key: bigint, iv: bigint) => number;
type Update = (context: bigint, out: bigint, outLength: bigint, input: bigint, length: number) => number;
type Finish = (context: bigint, out: bigint, outLength: bigint) => number;

interface Evp {
  CRYPTO_zalloc(bytes: bigint, file: bigint, line: number): bigint;
  EVP_aes_256_gcm(): bigint;
  EVP_CIPHER_CTX_new(): bigint;
  EVP_CIPHER_CTX_free(context: bigint): void;
  EVP_CIPHER_CTX_ctrl: (context: bigint, command: number, length: number, pointer: bigint) => number;
  EVP_EncryptInit_ex: Init;
  EVP_DecryptInit_ex: Init;
  EVP_EncryptUpdate: Update;
  EVP_DecryptUpdate: Update;
  EVP_EncryptFinal_ex: Finish;
  EVP_DecryptFinal_ex: Finish;
}

const GET_TAG = 0x10;
const SET_TAG = 0x11;
const NULL = 0n;
const IV_DISTANCE = BigInt(IV_BYTES);

/** Holds the buffers that OpenSSL works on: without it, the collector could free their memory between two calls. */
const inUse: { source: Buffer | undefined; target: Buffer | undefined } = {
  source: undefined,
  target: undefined,
};

function load(): { ffi: Ffi; evp: Evp } | undefined {
  try {
    const ffi = process.getBuiltinModule('node:ffi') as unknown as Ffi | undefined;
    return ffi && { ffi, evp: ffi.dlopen(null, SIGNATURES).functions as unknown as Evp };
  } catch {
    return undefined; // no such module, not permitted, or a Node that keeps OpenSSL elsewhere
  }
}

/**
 * V8 calls a native function directly only where it knows at compile time which one: a constant of the module, called
 * in a place of its own. Looked up in an object, or shared between sealing and opening, a call costs three times as much.
 */
const loaded = load();
const { EVP_EncryptInit_ex: initSeal, EVP_DecryptInit_ex: initOpen } = loaded?.evp ?? ({} as Evp);
const { EVP_EncryptUpdate: updateSeal, EVP_DecryptUpdate: updateOpen } = loaded?.evp ?? ({} as Evp);
const { EVP_EncryptFinal_ex: finishSeal, EVP_DecryptFinal_ex: finishOpen } = loaded?.evp ?? ({} as Evp);
const { EVP_CIPHER_CTX_ctrl: control } = loaded?.evp ?? ({} as Evp);
/** OpenSSL insists on telling how much it wrote; nobody needs to know. Its own memory, which is never collected. */
const writtenAt = loaded?.evp.CRYPTO_zalloc(16n, NULL, 0) ?? NULL;

/** The implementation, or undefined where it cannot be used. */
export function ffiGcm(): GcmImplementation | undefined {
  if (!loaded) return undefined;
  const implementation = build(loaded.ffi, loaded.evp);
  return givesTheKnownAnswer(implementation) ? implementation : undefined;
}

function build(ffi: Ffi, evp: Evp): GcmImplementation {
  const algorithm = evp.EVP_aes_256_gcm();
  return {
    name: 'OpenSSL by node:ffi',
    pin: (buffer): Pinned => ({ buffer, address: ffi.getRawPointer(buffer) }),
    createCipher(key, direction): Cipher {
      if (key.length !== KEY_BYTES) throw new RangeError('a key has 32 bytes');
      const context = evp.EVP_CIPHER_CTX_new();
      inUse.source = key;
      const init = direction === 'seal' ? initSeal : initOpen;
      const ready = init(context, algorithm, NULL, ffi.getRawPointer(key), NULL);
      inUse.source = undefined;
      if (ready !== 1) throw new Error('OpenSSL refused the key');
      let alive = true;
      return {
        apply(source, start, end, target = source, at = start) {
          if (!alive) throw new Error('the key has been wiped');
          checkRoom(source, start, end, target, at);
          return direction === 'seal'
            ? seal(context, source, start, end)
            : open(context, source, start, end, target, at);
        },
        destroy() {
          if (alive) evp.EVP_CIPHER_CTX_free(context); // wipes the key schedule too
          alive = false;
        },
      };
    },
  };
}

/** The callee would write wherever it is told to; only these checks stand between a bug and the heap. */
function checkRoom(source: Pinned, start: number, end: number, target: Pinned, at: number): void {
  if (!(start >= IV_BYTES && end >= start && end + TAG_BYTES <= source.buffer.length)) {
    throw new RangeError('no room for the IV or the tag');
  }
  if (!(at >= 0 && at + end - start <= target.buffer.length)) throw new RangeError('no room for the text');
}

function seal(context: bigint, source: Pinned, start: number, end: number): boolean {
  inUse.source = source.buffer;
  const text = source.address + BigInt(start);
  const tag = source.address + BigInt(end);
  const ok =
    initSeal(context, NULL, NULL, NULL, text - IV_DISTANCE) === 1 &&
    updateSeal(context, text, writtenAt, text, end - start) === 1 &&
    finishSeal(context, tag, writtenAt) === 1 &&
    control(context, GET_TAG, TAG_BYTES, tag) === 1;
  inUse.source = undefined;
  if (!ok) throw new Error('OpenSSL failed to seal');
  return true;
}

function open(
  context: bigint,
  source: Pinned,
  start: number,
  end: number,
  target: Pinned,
  at: number,
): boolean {
  inUse.source = source.buffer;
  inUse.target = target.buffer;
  const text = source.address + BigInt(start);
  const tag = source.address + BigInt(end);
  const ok =
    initOpen(context, NULL, NULL, NULL, text - IV_DISTANCE) === 1 &&
    control(context, SET_TAG, TAG_BYTES, tag) === 1 &&
    updateOpen(context, target.address + BigInt(at), writtenAt, text, end - start) === 1 &&
    finishOpen(context, tag, writtenAt) === 1;
  inUse.source = inUse.target = undefined;
  return ok;
}

function givesTheKnownAnswer(implementation: GcmImplementation): boolean {
  const key = Buffer.alloc(32, 7);
  const text = Buffer.from('known answer');
  const mine = Buffer.concat([Buffer.alloc(IV_BYTES, 9), text, Buffer.alloc(TAG_BYTES)]);
  const cipher = implementation.createCipher(key, 'seal');
  const sealed = cipher.apply(implementation.pin(mine), IV_BYTES, IV_BYTES + text.length);
  cipher.destroy();
  const reference = createCipheriv('aes-256-gcm', key, Buffer.alloc(IV_BYTES, 9));
  const expected = Buffer.concat([reference.update(text), reference.final(), reference.getAuthTag()]);
  return sealed && mine.subarray(IV_BYTES).equals(expected);
}
