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
  arguments: readonly ('pointer' | 'u32')[];
  return: 'pointer' | 'i32' | 'void';
}

const POINTER = 'pointer';
// Of the functions that would do, those with the fewest arguments: Node checks and converts each one. The tag travels
// as a parameter, because the control call for it costs as much as everything else for a small record.
const SIGNATURES = {
  EVP_aes_256_gcm: { arguments: [], return: POINTER },
  EVP_CIPHER_CTX_new: { arguments: [], return: POINTER },
  EVP_CIPHER_CTX_free: { arguments: [POINTER], return: 'void' },
  EVP_CIPHER_CTX_get_params: { arguments: [POINTER, POINTER], return: 'i32' },
  EVP_CIPHER_CTX_set_params: { arguments: [POINTER, POINTER], return: 'i32' },
  EVP_EncryptInit: { arguments: [POINTER, POINTER, POINTER, POINTER], return: 'i32' },
  EVP_DecryptInit: { arguments: [POINTER, POINTER, POINTER, POINTER], return: 'i32' },
  EVP_Cipher: { arguments: [POINTER, POINTER, POINTER, 'u32'], return: 'i32' },
  EVP_EncryptFinal_ex: { arguments: [POINTER, POINTER, POINTER], return: 'i32' },
  EVP_DecryptFinal_ex: { arguments: [POINTER, POINTER, POINTER], return: 'i32' },
} as const satisfies Record<string, Signature>;

type Init = (context: bigint, cipher: bigint, key: bigint, iv: bigint) => number;
type Params = (context: bigint, params: bigint) => number;
type Update = (context: bigint, out: bigint, input: bigint, length: number) => number;
type Finish = (context: bigint, out: bigint, outLength: bigint) => number;

interface Evp {
  EVP_aes_256_gcm(): bigint;
  EVP_CIPHER_CTX_new(): bigint;
  EVP_CIPHER_CTX_free(context: bigint): void;
  EVP_CIPHER_CTX_get_params: Params;
  EVP_CIPHER_CTX_set_params: Params;
  EVP_EncryptInit: Init;
  EVP_DecryptInit: Init;
  EVP_Cipher: Update;
  EVP_EncryptFinal_ex: Finish;
  EVP_DecryptFinal_ex: Finish;
}

const NULL = 0n;
const IV_DISTANCE = BigInt(IV_BYTES);

/** Holds the buffers that OpenSSL works on: without it, the collector could free their memory between two calls. */
const inUse: { buffer: Buffer | undefined; additional: Buffer | undefined } = {
  buffer: undefined,
  additional: undefined,
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
 * V8 calls a native function directly only where it knows at compile time which one: a constant of the module. Looked
 * up in an object, or chosen between, a call costs three times as much.
 */
const loaded = load();
const { EVP_EncryptInit: initSeal, EVP_DecryptInit: initOpen } = loaded?.evp ?? ({} as Evp);
const { EVP_EncryptFinal_ex: finishSeal, EVP_DecryptFinal_ex: finishOpen } = loaded?.evp ?? ({} as Evp);
const { EVP_CIPHER_CTX_get_params: getParams, EVP_CIPHER_CTX_set_params: setParams } =
  loaded?.evp ?? ({} as Evp);
const { EVP_Cipher: transform } = loaded?.evp ?? ({} as Evp);

/**
 * Memory that OpenSSL reads and writes, and that lives as long as the module: a list (OSSL_PARAM) with one parameter,
 * the tag; its name; the tag itself; and a place for the number of written bytes, which nobody needs to know.
 */
const TAG_NAME_AT = 80;
const TAG_AT = 96;
const WRITTEN_AT = 112;
const OCTET_STRING = 5;
const shared = Buffer.alloc(256);
const sharedAt = loaded?.ffi.getRawPointer(shared) ?? NULL;
const writtenAt = sharedAt + BigInt(WRITTEN_AT);
shared.write('tag\0', TAG_NAME_AT, 'latin1');
shared.writeBigUInt64LE(sharedAt + BigInt(TAG_NAME_AT), 0);
shared.writeUInt32LE(OCTET_STRING, 8);
shared.writeBigUInt64LE(sharedAt + BigInt(TAG_AT), 16);
shared.writeBigUInt64LE(BigInt(TAG_BYTES), 24);

/** The implementation, or undefined where it cannot be used. */
export function ffiGcm(): GcmImplementation | undefined {
  if (!loaded) return undefined;
  const implementation = build(loaded.ffi, loaded.evp);
  return givesTheKnownAnswer(implementation) ? implementation : undefined;
}

function build(ffi: Ffi, evp: Evp): GcmImplementation {
  const algorithm = evp.EVP_aes_256_gcm();
  const pin = (buffer: Buffer): Pinned => ({ buffer, address: ffi.getRawPointer(buffer) });
  return {
    name: 'OpenSSL by node:ffi',
    pin,
    createCipher(key, direction): Cipher {
      if (key.length !== KEY_BYTES) throw new RangeError('a key has 32 bytes');
      const context = evp.EVP_CIPHER_CTX_new();
      inUse.buffer = key;
      const init = direction === 'seal' ? initSeal : initOpen;
      const ready = init(context, algorithm, ffi.getRawPointer(key), NULL);
      inUse.buffer = undefined;
      if (ready !== 1) throw new Error('OpenSSL refused the key');
      let alive = true;
      return {
        apply(pinned, start, end, additional) {
          if (!alive) throw new Error('the key has been wiped');
          checkRoom(pinned, start, end);
          const more = additional && additional.length > 0 ? pin(additional) : undefined;
          return direction === 'seal'
            ? seal(context, pinned, start, end, more)
            : open(context, pinned, start, end, more);
        },
        destroy() {
          if (alive) evp.EVP_CIPHER_CTX_free(context); // wipes the key schedule too
          alive = false;
        },
      };
    },
  };
}

/** The callee would write wherever it is told to; only this check stands between a bug and the heap. */
function checkRoom({ buffer }: Pinned, start: number, end: number): void {
  if (!(start >= IV_BYTES && end >= start && end + TAG_BYTES <= buffer.length)) {
    throw new RangeError('no room for the IV or the tag');
  }
}

/** Without a place to write to, the cipher takes what it reads as additional data. */
function addMore(context: bigint, more: Pinned | undefined): boolean {
  if (!more) return true;
  inUse.additional = more.buffer;
  const { length } = more.buffer;
  const added = transform(context, NULL, more.address, length) === length;
  inUse.additional = undefined;
  return added;
}

function seal(
  context: bigint,
  { buffer, address }: Pinned,
  start: number,
  end: number,
  more: Pinned | undefined,
): boolean {
  inUse.buffer = buffer;
  const text = address + BigInt(start);
  const ok =
    initSeal(context, NULL, NULL, text - IV_DISTANCE) === 1 &&
    addMore(context, more) &&
    transform(context, text, text, end - start) === end - start &&
    finishSeal(context, writtenAt, writtenAt) === 1 &&
    getParams(context, sharedAt) === 1;
  inUse.buffer = undefined;
  if (!ok) throw new Error('OpenSSL failed to seal');
  for (let i = 0; i < TAG_BYTES; i++) buffer[end + i] = shared[TAG_AT + i]!;
  return true;
}

function open(
  context: bigint,
  { buffer, address }: Pinned,
  start: number,
  end: number,
  more: Pinned | undefined,
): boolean {
  inUse.buffer = buffer;
  const text = address + BigInt(start);
  for (let i = 0; i < TAG_BYTES; i++) shared[TAG_AT + i] = buffer[end + i]!;
  const ok =
    initOpen(context, NULL, NULL, text - IV_DISTANCE) === 1 &&
    setParams(context, sharedAt) === 1 &&
    addMore(context, more) &&
    transform(context, text, text, end - start) === end - start &&
    finishOpen(context, writtenAt, writtenAt) === 1;
  inUse.buffer = undefined;
  return ok;
}

function givesTheKnownAnswer(implementation: GcmImplementation): boolean {
  const key = Buffer.alloc(KEY_BYTES, 7);
  const text = Buffer.from('known answer');
  const additional = Buffer.from('what is known, too');
  const mine = Buffer.concat([Buffer.alloc(IV_BYTES, 9), text, Buffer.alloc(TAG_BYTES)]);
  const apply = (direction: 'seal' | 'open') => {
    const cipher = implementation.createCipher(key, direction);
    const done = cipher.apply(implementation.pin(mine), IV_BYTES, IV_BYTES + text.length, additional);
    cipher.destroy();
    return done;
  };
  const reference = createCipheriv('aes-256-gcm', key, Buffer.alloc(IV_BYTES, 9)).setAAD(additional);
  const expected = Buffer.concat([reference.update(text), reference.final(), reference.getAuthTag()]);
  const sealed = apply('seal') && mine.subarray(IV_BYTES).equals(expected);
  return sealed && apply('open') && mine.subarray(IV_BYTES, IV_BYTES + text.length).equals(text);
}
