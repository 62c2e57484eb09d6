/**
 * Keys that stand in the configuration. For tests and for trying things out: whoever reads the file has the keys.
 * What is wrapped here the original's `UnitTestingKmsService` unwraps, given the same keys, and the other way round.
 *
 *   1 byte tag length in bits, 1 byte IV length, IV, 16 bytes id of the key, AES-256-GCM of the data key with its tag
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { KEY_BYTES } from '../cipher.ts';
import { BadEnvelope, UnknownKey } from '../kms.ts';
import type { DekPair, Kms } from '../kms.ts';

const UUID_BYTES = 16;
const TAG_BITS = [96, 104, 112, 120, 128] as const;

const keySchema = z.strictObject({
  uuid: z.guid(),
  key: z
    .base64()
    .refine((text) => Buffer.from(text, 'base64').length === KEY_BYTES, 'must be 32 bytes in base64'),
  algorithm: z.literal('AES'),
  alias: z.string().min(1),
});

export const inMemorySchema = z.strictObject({
  numIvBytes: z.int().min(1).max(255).default(12),
  numAuthBits: z.literal(TAG_BITS).default(128),
  existingKeks: z.array(keySchema).default([]),
});

/** Makes the key service of a configuration. */
export function inMemoryKms(config: z.output<typeof inMemorySchema>): Kms {
  const keys = new Map(
    config.existingKeks.map(({ uuid, key }) => [uuid.toLowerCase(), Buffer.from(key, 'base64')]),
  );
  const aliases = new Map(config.existingKeks.map(({ uuid, alias }) => [alias, uuid.toLowerCase()]));

  const keyOf = (id: string): Buffer => {
    const key = keys.get(id);
    if (!key) throw new UnknownKey(`the key ${id}`);
    return key;
  };

  return {
    resolveAlias: async (alias) => aliases.get(alias),
    generateDek: async (kekId) => wrap(kekId, keyOf(kekId), config.numIvBytes, config.numAuthBits),
    kekOf: (edek) => readEdek(edek).keyId,
    async decryptEdek(edek) {
      const { tagBytes, iv, keyId, wrapped } = readEdek(edek);
      const decipher = createDecipheriv('aes-256-gcm', keyOf(keyId), iv, { authTagLength: tagBytes });
      decipher.setAuthTag(wrapped.subarray(wrapped.length - tagBytes));
      try {
        return Buffer.concat([
          decipher.update(wrapped.subarray(0, wrapped.length - tagBytes)),
          decipher.final(),
        ]);
      } catch (cause) {
        throw new BadEnvelope('its data key was not wrapped by the key it names', { cause });
      }
    },
    close() {
      for (const key of keys.values()) key.fill(0);
      keys.clear();
    },
  };
}

function wrap(kekId: string, kek: Buffer, ivBytes: number, tagBits: number): DekPair {
  const dek = randomBytes(KEY_BYTES);
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', kek, iv, { authTagLength: tagBits / 8 });
  const edek = Buffer.concat([
    Buffer.from([tagBits, ivBytes]),
    iv,
    Buffer.from(kekId.replaceAll('-', ''), 'hex'),
    cipher.update(dek),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return { dek, edek };
}

function readEdek(edek: Buffer): { tagBytes: number; iv: Buffer; keyId: string; wrapped: Buffer } {
  const tagBits = edek[0];
  const ivEnd = 2 + (edek[1] ?? 0);
  const wrapped = edek.subarray(ivEnd + UUID_BYTES);
  if (!TAG_BITS.some((bits) => bits === tagBits) || ivEnd === 2)
    throw new BadEnvelope('its data key is cut off');
  const tagBytes = tagBits! / 8;
  if (wrapped.length <= tagBytes) throw new BadEnvelope('its data key is cut off');
  const hex = edek.toString('hex', ivEnd, ivEnd + UUID_BYTES);
  const keyId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return { tagBytes, iv: edek.subarray(2, ivEnd), keyId, wrapped };
}
