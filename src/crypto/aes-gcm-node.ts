import { createCipheriv, createDecipheriv } from 'node:crypto';
import { IV_BYTES, TAG_BYTES } from './cipher.ts';
import type { Cipher, Direction, GcmImplementation } from './cipher.ts';

/** AES-256-GCM with node:crypto. */
export const nodeGcm: GcmImplementation = {
  name: 'node:crypto',
  pin: (buffer) => ({ buffer, address: 0n }),
  createCipher(key: Buffer, direction: Direction): Cipher {
    const own = Buffer.from(key);
    return {
      apply: ({ buffer }, start, end, additional) =>
        (direction === 'seal' ? seal : open)(own, buffer, start, end, additional),
      destroy: () => void own.fill(0),
    };
  },
};

function seal(key: Buffer, buffer: Buffer, start: number, end: number, additional?: Buffer): boolean {
  const cipher = createCipheriv('aes-256-gcm', key, buffer.subarray(start - IV_BYTES, start));
  if (additional) cipher.setAAD(additional);
  cipher.update(buffer.subarray(start, end)).copy(buffer, start);
  cipher.final();
  cipher.getAuthTag().copy(buffer, end);
  return true;
}

function open(key: Buffer, buffer: Buffer, start: number, end: number, additional?: Buffer): boolean {
  const iv = buffer.subarray(start - IV_BYTES, start);
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  if (additional) decipher.setAAD(additional);
  decipher.setAuthTag(buffer.subarray(end, end + TAG_BYTES));
  decipher.update(buffer.subarray(start, end)).copy(buffer, start);
  try {
    decipher.final();
    return true;
  } catch {
    return false; // the only thing final() can object to is the tag
  }
}
