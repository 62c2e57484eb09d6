import { aesGcm } from './aes-gcm.ts';
import type { Cipher, Direction } from './cipher.ts';

/**
 * A data key ready for one direction, shared by everyone who needs it. The cache may let go of it while a batch still
 * waits for another key, so the key is wiped only when it has been dropped and the last holder has released it.
 */
export interface DataKey {
  readonly cipher: Cipher;
  /** False when it is too late: it has been wiped, and the ring must be asked again. */
  hold(): boolean;
  release(): void;
  /** The cache has let go of it. */
  drop(): void;
}

/** Makes a data key from its bytes, and wipes the bytes. */
export function createDataKey(bytes: Buffer, direction: Direction): DataKey {
  const cipher = aesGcm.createCipher(bytes, direction);
  bytes.fill(0);
  let holders = 0;
  let dropped = false;
  let wiped = false;
  const wipeIfUnused = () => {
    if (!dropped || holders > 0) return;
    wiped = true;
    cipher.destroy();
  };
  return {
    cipher,
    hold() {
      if (!wiped) holders += 1;
      return !wiped;
    },
    release() {
      holders -= 1;
      wipeIfUnused();
    },
    drop() {
      dropped = true;
      wipeIfUnused();
    },
  };
}
