/** What every key service must do, whichever it is. Each provider's test calls this with a service of its own. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Kms } from '../../src/crypto/kms.ts';
import { BadEnvelope, KmsRefused, KmsThrottled, UnknownKey } from '../../src/crypto/kms.ts';
import { retryingKms } from '../../src/crypto/retry.ts';
import type { StandIn } from './kms/stand-in.ts';

export interface KmsUnderTest extends AsyncDisposable {
  kms: Kms;
  /** Aliases of two different keys that exist. */
  aliases: readonly [string, string];
  /** The id of a key that does not exist, in the service's own form. */
  unknownKekId: string;
  /** Gives a key a new version. */
  rotate?(alias: string): void | Promise<void>;
  /** Which version of its key has wrapped a data key. */
  versionIn?(edek: Buffer): string | undefined;
  /** Makes the service refuse what we identify ourselves by, and puts something better where we get it from. */
  replaceCredentials?(): void | Promise<void>;
  /** Moves the clock of the service away from ours. */
  skewClock?(ms: number): void;
  /** The server, if it does what a test says. */
  server?: Pick<StandIn, 'fault' | 'stop' | 'start' | 'requests'>;
}

/** What can be shown of a service. */
export type KmsAbility = 'rotate' | 'replaceCredentials' | 'skewClock' | 'server';

export interface KmsConditions {
  /** How long a request may take, where a test wants it to fail. */
  timeoutMs?: number;
}

type Make = (conditions?: KmsConditions) => Promise<KmsUnderTest>;

/** The id of the first key, and a data key of it. */
async function firstKey({ kms, aliases }: KmsUnderTest) {
  const kekId = (await kms.resolveAlias(aliases[0]))!;
  return { kekId, pair: await kms.generateDek(kekId) };
}

export function testKmsContract(name: string, make: Make, abilities: readonly KmsAbility[] = []): void {
  describe(`${name} keeps the contract of a key service`, () => {
    testKeys(make);
    testWrappedKeys(make);
    if (abilities.includes('rotate')) testRotation(make);
    if (abilities.includes('replaceCredentials')) testCredentials(make);
    if (abilities.includes('skewClock')) testSkew(make);
    if (abilities.includes('server')) testFaults(make);
  });
}

function testKeys(make: Make): void {
  it('resolves aliases, and says so when there is no key', async () => {
    await using under = await make();
    const { kms, aliases } = under;
    const [one, two] = await Promise.all(aliases.map((alias) => kms.resolveAlias(alias)));
    assert.ok(one && two && one !== two);
    for (const alias of ['no such alias', 'nobody', '..', '../keys', 'a/../b', '%2e%2e', ''])
      assert.equal(await kms.resolveAlias(alias), undefined, alias);
  });

  it('unwraps the data keys that it wrapped', async () => {
    await using under = await make();
    const { kms, aliases } = under;
    for (const alias of aliases) {
      const pair = await kms.generateDek((await kms.resolveAlias(alias))!);
      assert.equal(pair.dek.length, 32);
      assert.ok(pair.edek.length <= 0x7fff, 'the wrapper has no room for more');
      assert.equal(pair.edek.includes(pair.dek), false);
      assert.deepEqual(await kms.decryptEdek(pair.edek), pair.dek);
      assert.equal(kms.kekOf(pair.edek), await kms.resolveAlias(alias));
    }
  });

  it('never makes the same data key twice', async () => {
    await using under = await make();
    const kek = (await under.kms.resolveAlias(under.aliases[0]))!;
    const pairs = await Promise.all([1, 2, 3].map(() => under.kms.generateDek(kek)));
    assert.equal(new Set(pairs.map(({ dek }) => dek.toString('hex'))).size, 3);
    assert.equal(new Set(pairs.map(({ edek }) => edek.toString('hex'))).size, 3);
  });

  it('gives each caller buffers of its own, to wipe', async () => {
    await using under = await make();
    const { dek, edek } = (await firstKey(under)).pair;
    const first = await under.kms.decryptEdek(edek);
    first.fill(0);
    assert.deepEqual(await under.kms.decryptEdek(edek), dek);
  });

  it('refuses a key that it does not know', async () => {
    await using under = await make();
    await assert.rejects(under.kms.generateDek(under.unknownKekId), UnknownKey);
  });
}

function testWrappedKeys(make: Make): void {
  it('refuses a wrapped key that is cut off, changed or made up', async () => {
    await using under = await make();
    const { edek } = (await firstKey(under)).pair;
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
        under.kms.decryptEdek(bad),
        (error) => error instanceof BadEnvelope || error instanceof UnknownKey,
      );
    }
  });
}

function testRotation(make: Make): void {
  it('unwraps with every version of a key, and wraps with the newest', async () => {
    await using under = await make();
    const { kekId, pair: before } = await firstKey(under);
    await under.rotate!(under.aliases[0]);
    const after = await under.kms.generateDek(kekId);
    assert.deepEqual(await under.kms.decryptEdek(before.edek), before.dek);
    assert.deepEqual(await under.kms.decryptEdek(after.edek), after.dek);
    const [former, newest] = [before, after].map(({ edek }) => under.versionIn!(edek));
    assert.ok(former && newest && former !== newest, `${former}, then ${newest}`);
    assert.equal(await under.kms.resolveAlias(under.aliases[0]), kekId);
    assert.equal(under.kms.kekOf(after.edek), kekId);
  });
}

function testCredentials(make: Make): void {
  it('goes on with new credentials when the old ones are refused', async () => {
    await using under = await make();
    const { pair } = await firstKey(under);
    await under.replaceCredentials!();
    assert.deepEqual(await under.kms.decryptEdek(pair.edek), pair.dek);
  });
}

function testSkew(make: Make): void {
  it('goes by the clock of the service where its own is wrong', async () => {
    for (const ms of [3_600_000, -3_600_000]) {
      await using under = await make();
      under.skewClock!(ms);
      const { pair } = await firstKey(under);
      assert.deepEqual(await under.kms.decryptEdek(pair.edek), pair.dek);
    }
  });
}

function testFaults(make: Make): void {
  it('tells a refusal from a service that is asked too often', async () => {
    await using under = await make();
    const { kekId, pair } = await firstKey(under);
    for (const [fault, kind] of [
      ['refuse', KmsRefused],
      ['throttle', KmsThrottled],
    ] as const) {
      under.server!.fault = fault;
      await assert.rejects(under.kms.resolveAlias(under.aliases[1]), kind);
      await assert.rejects(under.kms.generateDek(kekId), kind);
      await assert.rejects(under.kms.decryptEdek(pair.edek), kind);
    }
    under.server!.fault = undefined;
    assert.deepEqual(await under.kms.decryptEdek(pair.edek), pair.dek);
  });

  it('is tried again when it was asked too often, and answers then', async () => {
    await using under = await make();
    const { pair } = await firstKey(under);
    const { server } = under;
    server!.fault = 'throttle';
    const sleep = async () => {
      server!.fault = undefined;
    };
    assert.deepEqual(await retryingKms(under.kms, { sleep }).decryptEdek(pair.edek), pair.dek);
  });

  it('is not waited for without end', async () => {
    await using under = await make({ timeoutMs: 50 });
    under.server!.fault = 'hang';
    await assert.rejects(under.kms.resolveAlias(under.aliases[0]), /did not answer/);
  });

  it('fails while it is down, and answers as soon as it is back', async () => {
    await using under = await make();
    const { kekId, pair } = await firstKey(under);
    await under.server!.stop();
    await assert.rejects(under.kms.generateDek(kekId), /did not answer/);
    await under.server!.start();
    assert.deepEqual(await under.kms.decryptEdek(pair.edek), pair.dek);
  });

  it('says nothing of keys and credentials in its errors', async () => {
    await using under = await make();
    const { pair } = await firstKey(under);
    const sent = under.server!.requests.flatMap(({ headers, body }) => [
      ...[headers.authorization, headers['x-vault-token']].filter((value) => value !== undefined),
      ...(body.length > 20 ? [body] : []),
    ]);
    assert.ok(sent.length > 0);
    for (const fault of ['refuse', 'throttle'] as const) {
      under.server!.fault = fault;
      await assert.rejects(under.kms.decryptEdek(pair.edek), (error: Error) => {
        const said = `${error.message} ${error.stack} ${String(error.cause)}`;
        for (const text of [...sent, pair.edek.toString('base64'), pair.dek.toString('base64')])
          assert.ok(!said.includes(text), said);
        return true;
      });
    }
  });
}
