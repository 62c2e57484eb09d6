/** The steps of docs/encryption.md for when keys change, leak or are lost: with a real Kafka, and a stand-in for Vault that says so. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { ERRORS } from '../../../src/kafka/errors.ts';
import { encodeBatch } from '../../../src/kafka/records/write.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { startVault } from '../../support/kms/vault.ts';
import type { VaultStandIn } from '../../support/kms/vault.ts';
import { connectTo, startOurs } from './site.ts';
import { read, recordsOf, write } from './traffic.ts';

const plain = (value: string) =>
  encodeBatch({ baseTimestamp: BigInt(Date.now()) }, [
    { offsetDelta: 0, timestampDelta: 0, key: Buffer.from('k'), value: Buffer.from(value), headers: [] },
  ]);

describe('keys that change, leak or are lost', { timeout: 600_000 }, () => {
  let kafka: KafkaCluster;
  let vault: VaultStandIn;
  let direct: string;
  before(async () => {
    kafka = await startKafka();
    direct = kafka.bootstrap.plaintext;
    vault = await startVault([], Date.now);
  });
  after(async () => {
    await vault?.[Symbol.asyncDispose]();
    await kafka?.stop();
  });

  const encryption = (rules: object[], more: object = {}) => ({
    type: 'record-encryption',
    config: {
      kms: 'VaultKmsService',
      kmsConfig: {
        vaultTransitEngineUrl: `${vault.url}/v1/transit`,
        vaultToken: { password: vault.issue(0) },
      },
      rules,
      experimental: { notFoundAliasExpireAfterWriteSeconds: 1 },
      ...more,
    },
  });
  const sealed = (topic: string, key: string, format = 'kroxylicious/2') => ({
    topic,
    action: 'seal',
    key,
    format,
  });
  const start = (rules: object[], more?: object) => startOurs(direct, encryption(rules, more));
  const valuesOf = async (bootstrap: string, topic: string) => {
    const [fetched] = await read(bootstrap, topic, 1);
    assert.equal(fetched!.errorCode, 0);
    return recordsOf({ ...fetched!, batches: fetched!.batches.filter(({ control }) => !control) }).map(
      ({ value }) => value!.toString(),
    );
  };
  const stored = async (topic: string) =>
    (await read(direct, topic, 1))[0]!.batches.map(({ bytes }) => bytes);

  it('a key is rotated: what was written stays readable, and what is written next has the new version', async () => {
    vault.keys.create('KEK-rotated');
    await kafka.createTopic('rotated');
    const rules = [sealed('rotated', 'KEK-rotated')];
    await using before = await start(rules);
    assert.deepEqual(await write(before.bootstrap, 'rotated', [plain('one')]), [0]);
    vault.keys.rotate('KEK-rotated');
    // Who has a data key goes on with it until it is renewed, within an hour; a new process has a new one.
    await using restarted = await start(rules);
    assert.deepEqual(await write(restarted.bootstrap, 'rotated', [plain('two')]), [0]);
    const [first, second] = await stored('rotated');
    assert.deepEqual([first!.includes('vault:v1:'), second!.includes('vault:v2:')], [true, true]);
    for (const { bootstrap } of [before, restarted])
      assert.deepEqual(await valuesOf(bootstrap, 'rotated'), ['one', 'two']);
  });

  it('a key is revoked: the topic is copied to a new key, clients keep its name, and the old key opens nothing any more', async () => {
    vault.keys.create('KEK-leaked');
    await kafka.createTopic('payments');
    await using old = await start([sealed('payments', 'KEK-leaked')]);
    assert.deepEqual(await write(old.bootstrap, 'payments', [plain('one')]), [0]);
    assert.deepEqual(await write(old.bootstrap, 'payments', [plain('two')]), [0]);
    const stolen = (await stored('payments'))[0]!;

    vault.keys.create('KEK-fresh');
    const fresh = sealed('payments-2', 'KEK-fresh', 'isthmus/1');
    await using both = await start([sealed('payments', 'KEK-leaked'), fresh]);
    const args = ['reseal', 'payments', '--into', 'payments-2', '--from', both.bootstrap];
    const said: string[] = [];
    const note = (text: string) => void said.push(text);
    assert.equal(await runProgram(args, { out: note, err: note, exitCode: 0 }), 0, said.join(''));
    const alias = { type: 'topic-alias', config: { aliases: [{ alias: 'payments', topic: 'payments-2' }] } };
    await using switched = await startOurs(direct, [alias, encryption([fresh])]);
    assert.deepEqual(await valuesOf(switched.bootstrap, 'payments'), ['one', 'two']);
    assert.deepEqual(await write(switched.bootstrap, 'payments', [plain('three')]), [0]);
    assert.deepEqual(await valuesOf(both.bootstrap, 'payments-2'), ['one', 'two', 'three']);

    const client = await connectTo(direct);
    const topics = [{ name: 'payments', topicId: 'AAAAAAAAAAAAAAAAAAAAAA' }];
    const deleted = await client.request('DeleteTopics', {
      topics,
      topicNames: ['payments'],
      timeoutMs: 30_000,
    });
    assert.equal(deleted.responses[0]!.errorCode, 0);
    client.close();
    vault.keys.destroy('KEK-leaked');
    assert.deepEqual(await valuesOf(switched.bootstrap, 'payments'), ['one', 'two', 'three']);
    // Whoever has kept the old bytes: neither the proxy nor the key service opens them.
    await kafka.createTopic('kept');
    assert.deepEqual(await write(direct, 'kept', [stolen]), [0]);
    await using thief = await start([sealed('kept', 'KEK-leaked')]);
    const [refused] = await read(thief.bootstrap, 'kept', 1);
    assert.notEqual(refused!.errorCode, 0);
  });

  it('the key service is away: nothing is written in the clear, who has keys reads on, and all heals by itself', async () => {
    vault.keys.create('KEK-steady');
    await kafka.createTopic('steady');
    const rules = [sealed('steady', 'KEK-steady')];
    await using warm = await start(rules);
    assert.deepEqual(await write(warm.bootstrap, 'steady', [plain('one')]), [0]);
    assert.deepEqual(await valuesOf(warm.bootstrap, 'steady'), ['one']);
    await using cold = await start(rules);
    await vault.stop();
    try {
      const refused = await write(cold.bootstrap, 'steady', [plain('two')]);
      assert.deepEqual(refused, [ERRORS.NOT_LEADER_OR_FOLLOWER.code]);
      assert.deepEqual(await valuesOf(warm.bootstrap, 'steady'), ['one']);
    } finally {
      await vault.start();
    }
    await waitFor('writes to be taken again', async () => {
      const [code] = await write(cold.bootstrap, 'steady', [plain('three')]);
      return code === 0;
    });
    assert.deepEqual(await valuesOf(cold.bootstrap, 'steady'), ['one', 'three']);
    assert.equal((await stored('steady')).length, 2);
  });

  it('a key is lost: with its backup all is readable again, without it what it had sealed can be passed over', async () => {
    vault.keys.create('KEK-lost');
    await kafka.createTopic('lost');
    const rules = [sealed('lost', 'KEK-lost', 'isthmus/1')];
    {
      await using writer = await start(rules);
      assert.deepEqual(await write(writer.bootstrap, 'lost', [plain('one')]), [0]);
    }
    const backup = vault.keys.destroy('KEK-lost');
    await using reader = await start(rules);
    const [refused] = await read(reader.bootstrap, 'lost', 1);
    assert.notEqual(refused!.errorCode, 0);
    vault.keys.restore('KEK-lost', backup);
    await waitFor('the key to be found again', async () => {
      const [fetched] = await read(reader.bootstrap, 'lost', 1);
      return fetched!.errorCode === 0;
    });
    assert.deepEqual(await valuesOf(reader.bootstrap, 'lost'), ['one']);

    vault.keys.destroy('KEK-lost');
    vault.keys.create('KEK-lost'); // the same name, and another key
    await using anew = await start(rules, { unopenable: 'skip' });
    assert.deepEqual(await write(anew.bootstrap, 'lost', [plain('two')]), [0]);
    assert.deepEqual(await valuesOf(anew.bootstrap, 'lost'), ['two']);
    await using strict = await start(rules);
    const [stopped] = await read(strict.bootstrap, 'lost', 1);
    assert.equal(stopped!.errorCode, ERRORS.CORRUPT_MESSAGE.code);
  });
});
