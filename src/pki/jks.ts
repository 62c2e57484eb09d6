import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * JKS, the store of Java before version 9: magic, version, count; each entry a tag, an alias and a date, and then a certificate, or a
 * key with its chain. All lengths are checked against what is there.
 */

export const JKS_MAGIC = 0xfeed_feed;

const PRIVATE_KEY = 1;
const TRUSTED_CERTIFICATE = 2;

export interface JksKey {
  /** An EncryptedPrivateKeyInfo, in DER. */
  encrypted: Buffer;
  /** In DER, the key's own first. */
  chain: Buffer[];
}

export interface JksEntries {
  keys: JksKey[];
  certificates: Buffer[];
}

export function readJks(store: Buffer): JksEntries {
  let at = 0;
  const take = (length: number) => {
    if (length > store.length - at) throw new Error('is not a JKS store, or is cut short');
    at += length;
    return store.subarray(at - length, at);
  };
  const number = () => take(4).readUInt32BE();
  const skipText = () => void take(take(2).readUInt16BE());
  const certificate = () => {
    skipText();
    return take(number());
  };
  if (number() !== JKS_MAGIC) throw new Error('is not a JKS store');
  take(4);
  const found: JksEntries = { keys: [], certificates: [] };
  // Each entry has twenty bytes at least, so that a count cannot make this long.
  for (let left = number(); left > 0; left--) {
    const tag = number();
    skipText();
    take(8);
    if (tag === TRUSTED_CERTIFICATE) found.certificates.push(certificate());
    else if (tag === PRIVATE_KEY) {
      const encrypted = take(number());
      const chain: Buffer[] = [];
      for (let more = number(); more > 0; more--) chain.push(certificate());
      found.keys.push({ encrypted, chain });
    } else throw new Error('is not a JKS store that can be read');
  }
  return found;
}

const DIGEST_BYTES = 20;

/**
 * Opens a key as Sun's KeyProtector closed it: 20 bytes of salt, the key XOR a chain of SHA-1 digests that begins with password and
 * salt, and the SHA-1 of password and key. Weak, and what every JKS file has.
 */
export function openJksKey(closed: Buffer, password: string): Buffer {
  const secret = Buffer.from(password, 'utf16le').swap16();
  const digest = (data: Buffer) => createHash('sha1').update(secret).update(data).digest();
  if (closed.length <= 2 * DIGEST_BYTES) throw new Error('has a key that is cut short');
  const key = Buffer.from(closed.subarray(DIGEST_BYTES, -DIGEST_BYTES));
  let stream = closed.subarray(0, DIGEST_BYTES);
  for (let index = 0; index < key.length; index++) {
    if (index % DIGEST_BYTES === 0) stream = digest(stream);
    key[index]! ^= stream[index % DIGEST_BYTES]!;
  }
  if (!timingSafeEqual(digest(key), closed.subarray(-DIGEST_BYTES)))
    throw new Error('has a key that cannot be decrypted: is the password right?');
  return key;
}
