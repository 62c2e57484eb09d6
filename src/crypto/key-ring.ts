import { createCache } from './cache.ts';
import type { LoadingCache } from './cache.ts';
import { KEY_BYTES } from './cipher.ts';
import { createDataKey } from './data-key.ts';
import type { DataKey } from './data-key.ts';
import { BadEnvelope } from './kms.ts';
import type { Kms } from './kms.ts';
import { wrapperPrefix } from './wrapper.ts';

/** A data key that seals, with what precedes the IV of every record it seals. */
export interface SealingKey extends DataKey {
  readonly prefix: Buffer;
  /** The key itself, wrapped. */
  readonly edek: Buffer;
  /** How many more records it may seal. */
  remaining: number;
}

/** The data keys in use. Whatever it hands out is held for the caller, who must `release()` it. */
export interface KeyRing {
  /** The key-encryption key an alias stands for; undefined when the key service knows none. */
  resolveAlias(alias: string): string | undefined | Promise<string | undefined>;
  /** A data key of this key-encryption key with the right to seal so many records, or whole batches. */
  sealingKey(kekId: string, records: number): Promise<SealingKey>;
  /** The key-encryption key that `edek` was wrapped by; throws BadEnvelope. */
  kekOf(edek: Buffer): string;
  /** The data key that was wrapped to `edek`. */
  openingKey(edek: Buffer): DataKey | Promise<DataKey>;
  /** Wipes every key. */
  close(): void;
}

export interface KeyRingLimits {
  decryptedDekCacheSize: number;
  decryptedDekExpireAfterAccessSeconds: number;
  resolvedAliasCacheSize: number;
  resolvedAliasExpireAfterWriteSeconds: number;
  resolvedAliasRefreshAfterWriteSeconds: number;
  notFoundAliasExpireAfterWriteSeconds: number;
  encryptionDekRefreshAfterWriteSeconds: number;
  encryptionDekExpireAfterWriteSeconds: number;
  maxEncryptionsPerDek: number;
}

/** The original's defaults. */
export const DEFAULT_LIMITS: KeyRingLimits = {
  decryptedDekCacheSize: 1000,
  decryptedDekExpireAfterAccessSeconds: 3600,
  resolvedAliasCacheSize: 1000,
  resolvedAliasExpireAfterWriteSeconds: 600,
  resolvedAliasRefreshAfterWriteSeconds: 480,
  notFoundAliasExpireAfterWriteSeconds: 30,
  encryptionDekRefreshAfterWriteSeconds: 3600,
  encryptionDekExpireAfterWriteSeconds: 7200,
  maxEncryptionsPerDek: 5_000_000,
};

/** As many key-encryption keys as anyone writes with at a time. */
const SEALING_KEYS = 1000;
const SWEEP_EVERY_MS = 60_000;
/** Clients that are refused come again at once, all of them: the key service is not asked for each. */
const FAILURE_MS = 1000;

export function createKeyRing(kms: Kms, limits = DEFAULT_LIMITS, now: () => number = Date.now): KeyRing {
  const aliases = createCache<{ kekId: string | undefined }>({
    load: async (alias) => ({ kekId: await kms.resolveAlias(alias) }),
    lifetimeMs: ({ kekId }) =>
      1000 *
      (kekId === undefined
        ? limits.notFoundAliasExpireAfterWriteSeconds
        : limits.resolvedAliasExpireAfterWriteSeconds),
    refreshAfterMs: () => limits.resolvedAliasRefreshAfterWriteSeconds * 1000,
    failureMs: FAILURE_MS,
    maxSize: limits.resolvedAliasCacheSize,
    now,
  });
  const sealing = createCache<SealingKey>({
    load: (kekId) => newSealingKey(kms, kekId, limits.maxEncryptionsPerDek),
    lifetimeMs: () => limits.encryptionDekExpireAfterWriteSeconds * 1000,
    refreshAfterMs: () => limits.encryptionDekRefreshAfterWriteSeconds * 1000,
    failureMs: FAILURE_MS,
    maxSize: SEALING_KEYS,
    onEvict: (key) => key.drop(),
    now,
  });
  const opening = createCache<DataKey>({
    load: (edek) => newOpeningKey(kms, Buffer.from(edek, 'latin1')),
    lifetimeMs: () => limits.decryptedDekExpireAfterAccessSeconds * 1000,
    fromLastUse: true,
    failureMs: FAILURE_MS,
    maxSize: limits.decryptedDekCacheSize,
    onEvict: (key) => key.drop(),
    now,
  });
  const caches: LoadingCache<unknown>[] = [aliases, sealing, opening] as LoadingCache<unknown>[];
  const sweeper = setInterval(() => caches.forEach((cache) => cache.sweep()), SWEEP_EVERY_MS).unref();

  return {
    resolveAlias(alias) {
      const found = aliases.get(alias);
      return found instanceof Promise ? found.then(({ kekId }) => kekId) : found.kekId;
    },
    sealingKey: (kekId, records) => reserve(sealing, kekId, records, limits.maxEncryptionsPerDek),
    kekOf: (edek) => kms.kekOf(edek),
    openingKey: (edek) => take(opening, edek.toString('latin1')),
    close() {
      clearInterval(sweeper);
      for (const cache of caches) cache.clear();
      kms.close();
    },
  };
}

/** Takes a key that may still seal so many records; one that may not is retired for a new one. */
async function reserve(
  keys: LoadingCache<SealingKey>,
  kekId: string,
  records: number,
  maxPerKey: number,
): Promise<SealingKey> {
  if (records > maxPerKey) throw new Error(`${records} records at once are more than one data key may seal`);
  for (;;) {
    const key = await keys.get(kekId);
    if (key.remaining < records) keys.drop(kekId, key);
    else if (key.hold()) {
      key.remaining -= records;
      return key;
    }
  }
}

/** Between the loading of a key and our turn, a full cache may already have let go of it again: then it is loaded anew. */
function take(keys: LoadingCache<DataKey>, id: string): DataKey | Promise<DataKey> {
  const found = keys.get(id);
  if (!(found instanceof Promise)) return found.hold() ? found : take(keys, id);
  return found.then((key) => (key.hold() ? key : take(keys, id)));
}

async function newSealingKey(kms: Kms, kekId: string, maxEncryptions: number): Promise<SealingKey> {
  const { dek, edek } = await kms.generateDek(kekId);
  if (dek.length !== KEY_BYTES) throw new Error(`the key service gave a data key of ${dek.length} bytes`);
  return { ...createDataKey(dek, 'seal'), prefix: wrapperPrefix(edek), edek, remaining: maxEncryptions };
}

async function newOpeningKey(kms: Kms, edek: Buffer): Promise<DataKey> {
  const dek = await kms.decryptEdek(edek);
  if (dek.length !== KEY_BYTES) throw new BadEnvelope(`its data key has ${dek.length} bytes`);
  return createDataKey(dek, 'open');
}
