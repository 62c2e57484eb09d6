/** What every key service must do, whichever it is. Each provider's test calls this with a service of its own. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Kms } from '../../src/crypto/kms.ts';
import { BadEnvelope, UnknownKey } from '../../src/crypto/kms.ts';

export interface KmsUnderTest {
  kms: Kms;
  /** Aliases of two different keys that exist. */
  aliases: readonly [string, string];
  /** The id of a key that does not exist, in the service's own form. */
  unknownKekId: string;
}

export function testKmsContract(name: string, make: () => Promise<KmsUnderTest>): void {
  describe(`${name} keeps the contract of a key service`, () => {
    it('resolves aliases, and says so when there is no key', async () => {
      const { kms, aliases } = await make();
      const [one, two] = await Promise.all(aliases.map((alias) => kms.resolveAlias(alias)));
      assert.ok(one && two && one !== two);
      assert.equal(await kms.resolveAlias('no such alias'), undefined);
      kms.close();
    });

    it('unwraps the data keys that it wrapped', async () => {
      const { kms, aliases } = await make();
      for (const alias of aliases) {
        const pair = await kms.generateDek((await kms.resolveAlias(alias))!);
        assert.equal(pair.dek.length, 32);
        assert.ok(pair.edek.length <= 0x7fff, 'the wrapper has no room for more');
        assert.equal(pair.edek.includes(pair.dek), false);
        assert.deepEqual(await kms.decryptEdek(pair.edek), pair.dek);
        assert.equal(kms.kekOf(pair.edek), await kms.resolveAlias(alias));
      }
      kms.close();
    });

    it('never makes the same data key twice', async () => {
      const { kms, aliases } = await make();
      const kek = (await kms.resolveAlias(aliases[0]))!;
      const pairs = await Promise.all([1, 2, 3].map(() => kms.generateDek(kek)));
      assert.equal(new Set(pairs.map(({ dek }) => dek.toString('hex'))).size, 3);
      assert.equal(new Set(pairs.map(({ edek }) => edek.toString('hex'))).size, 3);
      kms.close();
    });

    it('gives each caller buffers of its own, to wipe', async () => {
      const { kms, aliases } = await make();
      const { dek, edek } = await kms.generateDek((await kms.resolveAlias(aliases[0]))!);
      const first = await kms.decryptEdek(edek);
      first.fill(0);
      assert.deepEqual(await kms.decryptEdek(edek), dek);
      kms.close();
    });

    it('refuses a key that it does not know', async () => {
      const { kms, unknownKekId } = await make();
      await assert.rejects(kms.generateDek(unknownKekId), UnknownKey);
      kms.close();
    });

    it('refuses a wrapped key that is cut off, changed or made up', async () => {
      const { kms, aliases } = await make();
      const { edek } = await kms.generateDek((await kms.resolveAlias(aliases[0]))!);
      const changed = Buffer.from(edek);
      changed[changed.length - 1]! ^= 1;
      for (const bad of [
        edek.subarray(0, edek.length - 1),
        edek.subarray(0, 5),
        changed,
        Buffer.alloc(0),
        randomBytes(80),
      ]) {
        await assert.rejects(
          kms.decryptEdek(bad),
          (error) => error instanceof BadEnvelope || error instanceof UnknownKey,
        );
      }
      kms.close();
    });
  });
}
