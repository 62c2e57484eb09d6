/** Loopback addresses for pods and nodes: all of 127.0.0.0/8 is this machine's, so each can have the ports it wants. */
import { randomInt } from 'node:crypto';
import { lock, tryLock } from '../../../src/store/embedded/mutex.ts';
import type { Lock } from '../../../src/store/embedded/mutex.ts';

export interface Addresses {
  /** An address that no other run on this machine is given until all of ours are released. */
  take(): Promise<string>;
  /** The one address of the other family that loopback has; waits until no other run on this machine has it. */
  takeSix(): Promise<string>;
  release(): Promise<void>;
}

/** Gives out addresses, none of them twice. */
export function createAddresses(): Addresses {
  const locks: Lock[] = [];
  let hasSix = false;
  return {
    async take() {
      for (;;) {
        // 127.0.x.y is left to whoever chooses addresses by hand.
        const address = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(1, 255)}`;
        const held = await tryLock(`address ${address}`);
        if (!held) continue;
        locks.push(held);
        return address;
      }
    },
    async takeSix() {
      if (!hasSix) locks.push(await lock('address ::1'));
      hasSix = true;
      return '::1';
    },
    async release() {
      hasSix = false;
      await Promise.all(locks.splice(0).map((held) => held.release()));
    },
  };
}
