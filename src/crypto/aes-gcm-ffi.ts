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
  EVP_CipherUpdate: { arguments: [POINTER, POINTER, POINTER, POINTER, 'i32'], return: 'i32' },
  EVP_CipherFinal_ex: { arguments: [POINTER, POINTER, POINTER], return: 'i32' },
} as const satisfies Record<string, Signature>;

type Init = (context: bigint, cipher: bigint, engine: bigint, key: bigint, iv: bigint) => number;

interface Evp {
  CRYPTO_zalloc(bytes: bigint, file: bigint, line: number): bigint;
  EVP_aes_256_gcm(): bigint;
  EVP_CIPHER_CTX_new(): bigint;
  EVP_CIPHER_CTX_free(context: bigint): void;
  EVP_CIPHER_CTX_ctrl(context: bigint, command: number, length: number, pointer: bigint): number;
  EVP_EncryptInit_ex: Init;
  EVP_DecryptInit_ex: Init;
  EVP_CipherUpdate(context: bigint, out: bigint, outLength: bigint, input: bigint, length: number): number;
  EVP_CipherFinal_ex(context: bigint, out: bigint, outLength: bigint): number;
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

/** The implementation, or undefined where it cannot be used. */
export function ffiGcm(): GcmImplementation | undefined {
  try {
    const ffi = process.getBuiltinModule('node:ffi') as unknown as Ffi | undefined;
    if (!ffi) return undefined;
    const evp = ffi.dlopen(null, SIGNATURES).functions as unknown as Evp;
    const implementation = build(ffi, evp);
    return givesTheKnownAnswer(implementation) ? implementation : undefined;
  } catch {
    return undefined; // no such module, not permitted, or a Node that keeps OpenSSL elsewhere
  }
}

function build(ffi: Ffi, evp: Evp): GcmImplementation {
  // OpenSSL insists on telling how much it wrote; nobody needs to know. Its own memory, which is never collected.
  const writtenAt = evp.CRYPTO_zalloc(16n, NULL, 0);
  const algorithm = evp.EVP_aes_256_gcm();
  return {
    name: 'OpenSSL by node:ffi',
    pin: (buffer): Pinned => ({ buffer, address: ffi.getRawPointer(buffer) }),
    createCipher(key, direction) {
      if (key.length !== KEY_BYTES) throw new RangeError('a key has 32 bytes');
      const context = evp.EVP_CIPHER_CTX_new();
      inUse.source = key;
      const init = direction === 'seal' ? evp.EVP_EncryptInit_ex : evp.EVP_DecryptInit_ex;
      const ready = init(context, algorithm, NULL, ffi.getRawPointer(key), NULL);
      inUse.source = undefined;
      if (ready !== 1) throw new Error('OpenSSL refused the key');
      return cipherOf(evp, init, context, writtenAt);
    },
  };
}

function cipherOf(evp: Evp, init: Init, context: bigint, writtenAt: bigint): Cipher {
  const sealing = init === evp.EVP_EncryptInit_ex;
  let alive = true;
  return {
    apply(source, start, end, target = source, at = start) {
      // The callee would write wherever it is told to; only these checks stand between a bug and the heap.
      if (!alive) throw new Error('the key has been wiped');
      if (!(start >= IV_BYTES && end >= start && end + TAG_BYTES <= source.buffer.length)) {
        throw new RangeError('no room for the IV or the tag');
      }
      if (!(at >= 0 && at + end - start <= target.buffer.length) || (sealing && target !== source)) {
        throw new RangeError('no room for the text');
      }
      inUse.source = source.buffer;
      inUse.target = target.buffer;
      const text = source.address + BigInt(start);
      const tag = source.address + BigInt(end);
      const out = target.address + BigInt(at);
      const ok =
        init(context, NULL, NULL, NULL, text - IV_DISTANCE) === 1 &&
        (sealing || evp.EVP_CIPHER_CTX_ctrl(context, SET_TAG, TAG_BYTES, tag) === 1) &&
        evp.EVP_CipherUpdate(context, out, writtenAt, text, end - start) === 1 &&
        evp.EVP_CipherFinal_ex(context, tag, writtenAt) === 1 &&
        (!sealing || evp.EVP_CIPHER_CTX_ctrl(context, GET_TAG, TAG_BYTES, tag) === 1);
      inUse.source = inUse.target = undefined;
      if (!ok && sealing) throw new Error('OpenSSL failed to seal');
      return ok;
    },
    destroy() {
      if (alive) evp.EVP_CIPHER_CTX_free(context); // wipes the key schedule too
      alive = false;
    },
  };
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
