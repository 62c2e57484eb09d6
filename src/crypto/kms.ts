import type { Outbound } from '../ops/outbound.ts';

/** What a key service does for us. Its ids are opaque: a UUID, an ARN, a key's name. */
export interface Kms {
  /** The id of the key-encryption key that an alias stands for; undefined when there is none. */
  resolveAlias(alias: string): Promise<string | undefined>;
  /** A new data-encryption key of 32 bytes, bare and wrapped by the key-encryption key. The caller wipes the bare one. */
  generateDek(kekId: string): Promise<DekPair>;
  /** The key-encryption key by which `decryptEdek` would unwrap this; throws BadEnvelope. Asks nobody. */
  kekOf(edek: Buffer): string;
  /** Unwraps what `generateDek` wrapped. The caller wipes the result. */
  decryptEdek(edek: Buffer): Promise<Buffer>;
  close(): void;
}

/** What a key service gets when it is made. */
export interface KmsSetting {
  outbound: Outbound;
  now?: () => number;
  /** How long one request may take. */
  timeoutMs?: number;
}

export interface DekPair {
  dek: Buffer;
  /** In the service's own format, which names the key-encryption key: it travels with every record. */
  edek: Buffer;
}

/** The key service does not know the key. Asking again will not help. */
export class UnknownKey extends Error {
  constructor(which: string) {
    super(`the key service does not know ${which}`);
    this.name = 'UnknownKey';
  }
}

/** The key service answered that it will not: no rights, a disabled key. Asking again at once will not help; later it may. */
export class KmsRefused extends Error {
  override readonly name = 'KmsRefused';
}

/** The key service wants to be asked less often. */
export class KmsThrottled extends Error {
  override readonly name = 'KmsThrottled';
  /** How long it wants to be left alone, where it said so. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 0) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The key service did not answer, or not usefully. Nothing was sealed or opened; a later try may succeed. */
export class KmsUnavailable extends Error {
  constructor(operation: string, cause: unknown) {
    super(`the key service failed at ${operation}`, { cause });
    this.name = 'KmsUnavailable';
  }
}

/** Bytes that claim to be sealed but cannot be opened: cut off, tampered with, or of a version nobody here knows. */
export class BadEnvelope extends Error {
  constructor(what: string, options?: { cause?: unknown }) {
    super(`the sealed value cannot be opened: ${what}`, options);
    this.name = 'BadEnvelope';
  }
}
