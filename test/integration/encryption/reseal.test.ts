/** `isthmus reseal` through our proxy in front of a real Kafka: what it copies, and what happens when it is cut off. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Kafka } from 'kafkajs';
import { runProgram } from '../../../src/cli/program.ts';
import { copyTopic } from '../../../src/cli/reseal/copy.ts';
import { describeTopic, fetchFrom, offsetsOf } from '../../../src/cli/reseal/source.ts';
import { TRANSACTION_VERSIONS } from '../../../src/cli/reseal/target.ts';
import { openAdmin } from '../../../src/kafka/admin/admin.ts';
import type { Admin } from '../../../src/kafka/admin/admin.ts';
import { COMPRESSIONS } from '../../../src/kafka/records/compression.ts';
import { encodeBatch } from '../../../src/kafka/records/write.ts';
import type { TopicState } from '../../../src/cli/reseal/source.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { PATIENT_KAFKAJS } from '../../support/clients/kafkajs.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { KEK, startOurs } from './site.ts';
import type { Ours } from './site.ts';
import { read, write } from './traffic.ts';

const OLD = { ...KEK, alias: 'KEK-old' };
const NEW = {
  ...KEK,
  uuid: KEK.uuid.replace('1111', '2222'),
  key: Buffer.alloc(32, 7).toString('base64'),
  alias: 'KEK-new',
};

const filterOf = (existingKeks: object[], rules: object[]) => ({
  type: 'record-encryption',
  config: { kms: 'UnitTestingKmsService', kmsConfig: { existingKeks }, rules },
});
const BY_OLD = { prefix: 'orders', action: 'seal', key: OLD.alias };
const BY_NEW = { prefix: 'new-', action: 'seal', key: NEW.alias, format: 'isthmus/1' };

async function run(...args: string[]) {
  let [out, err] = ['', ''];
  const code = await runProgram(['reseal', ...args], {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    exitCode: 0,
  });
  return { code, out, err };
}

describe('a topic that is copied to another key and format', { timeout: 600_000 }, () => {
  let kafka: KafkaCluster;
  let proxy: Ours;
  before(async () => {
    kafka = await startKafka();
    proxy = await startOurs(kafka.bootstrap.plaintext, filterOf([OLD, NEW], [BY_OLD, BY_NEW]));
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
  });

  const open = (bootstrap: string): Admin => {
    const [host = '', port] = bootstrap.split(':');
    return openAdmin({ bootstrap: [{ host, port: Number(port) }], newestVersions: TRANSACTION_VERSIONS });
  };
  /** The ends of partitions, as soon as nothing of a transaction holds anything back: its end is written after its producer was told. */
  const settledEnd = (admin: Admin, topic: string, state: TopicState) =>
    waitFor(`all transactions of ${topic} to be ended`, async () => {
      const { end } = await offsetsOf(admin, topic, state);
      const partitions = end.map((_, partitionIndex) => ({ partitionIndex, timestamp: -1n }));
      const { value } = await admin.send('ListOffsets', {
        replicaId: -1,
        topics: [{ name: topic, partitions }],
      });
      const last = value!.topics[0]!.partitions.toSorted((a, b) => a.partitionIndex - b.partitionIndex);
      return last.every(({ offset }, i) => offset === end[i]) ? end : undefined;
    });
  /** What consumers see that read what is committed, by partition. */
  const contents = async (bootstrap: string, topic: string) => {
    const admin = open(bootstrap);
    try {
      const state = (await describeTopic(admin, topic))!;
      const end = await settledEnd(admin, topic, state);
      return await Promise.all(
        state.leaders.map(async (node, partition) => {
          const found: object[] = [];
          for (let at = 0n; at < end[partition]!;) {
            const { fetched } = await fetchFrom(admin, topic, node, new Map([[partition, at]]));
            for (const { records } of fetched[0]!.chunks)
              for (const { key, value, headers, timestamp } of records)
                found.push([key?.toString(), value?.toString(), headers.map((each) => each.key), timestamp]);
            at = fetched[0]!.next!;
          }
          return found;
        }),
      );
    } finally {
      admin.close();
    }
  };
  const batch = (from: number, count: number, compression: (typeof COMPRESSIONS)[number] = 'none') =>
    encodeBatch(
      { compression, baseTimestamp: 1_700_000_000_000n },
      Array.from({ length: count }, (_, i) => ({
        offsetDelta: i,
        timestampDelta: i * 1000,
        key: Buffer.from(`key-${from + i}`),
        value: i === 3 ? null : Buffer.from(`value-${from + i}`),
        headers: [{ key: `header-${from + i}`, value: null }],
      })),
    );
  const fill = async (topic: string) => {
    await kafka.createTopic(topic, { partitions: 2, configs: { 'retention.ms': '-1' } });
    for (const [i, compression] of COMPRESSIONS.entries())
      assert.deepEqual(
        await write(proxy.bootstrap, topic, [
          batch(i * 10, 5, compression),
          batch(1000 + i * 10, 7, compression),
        ]),
        [0, 0],
      );
  };

  it('has all that was committed, in its order, with keys, headers and times, and nobody reads it with the old key', async () => {
    await fill('orders');
    const producer = new Kafka({ ...PATIENT_KAFKAJS, brokers: [proxy.bootstrap] }).producer({
      transactionalId: 'tx',
      idempotent: true,
      maxInFlightRequests: 1,
    });
    await producer.connect();
    for (const end of ['abort', 'commit'] as const) {
      const transaction = await producer.transaction();
      await transaction.send({
        topic: 'orders',
        messages: [{ partition: 0, key: 'k', value: `to ${end}`, timestamp: '5' }],
      });
      await transaction[end]();
    }
    await producer.disconnect();
    const before = await contents(proxy.bootstrap, 'orders');

    const plan = await run('orders', '--into', 'new-orders', '--from', proxy.bootstrap, '--dry-run');
    assert.deepEqual([plan.code, plan.err], [0, '']);
    assert.match(plan.out, /new-orders would be made, with 2 partitions\n {2}retention\.ms=-1\n/);
    assert.match(plan.out, /(\d+) of \1 records of orders would be copied/);
    const admin = open(proxy.bootstrap);
    assert.equal(await describeTopic(admin, 'new-orders'), undefined);
    admin.close();

    const copied = await run('orders', '--into', 'new-orders', '--from', proxy.bootstrap);
    assert.equal(copied.code, 0, copied.err);
    assert.match(copied.out, /^61 records of orders copied into new-orders/);
    assert.match(copied.err, /100%, 0 of \d+ records left/);
    const now = await contents(proxy.bootstrap, 'new-orders');
    assert.deepEqual(now, before);
    assert.deepEqual(
      now.map(({ length }) => length),
      [26, 35],
    );
    assert.deepEqual(now[0]!.at(-1), ['k', 'to commit', [], 5n]);

    const again = await run('orders', '--into', 'new-orders', '--from', proxy.bootstrap);
    assert.match(again.out, /^0 records/);
    assert.deepEqual(await write(proxy.bootstrap, 'orders', [batch(5000, 1), batch(6000, 2)]), [0, 0]);
    assert.match((await run('orders', '--into', 'new-orders', '--from', proxy.bootstrap)).out, /^3 records/);
    assert.deepEqual(
      await contents(proxy.bootstrap, 'new-orders'),
      await contents(proxy.bootstrap, 'orders'),
    );

    const stored = await read(kafka.bootstrap.plaintext, 'new-orders', 2);
    for (const { batches } of stored)
      for (const { bytes } of batches)
        for (const text of ['value-', 'key-', 'header-']) assert.ok(!bytes.includes(text));
    await using onlyNew = await startOurs(kafka.bootstrap.plaintext, filterOf([NEW], [BY_NEW]));
    assert.equal((await contents(onlyNew.bootstrap, 'new-orders'))[0]!.length, 27);
    await using onlyOld = await startOurs(
      kafka.bootstrap.plaintext,
      filterOf([OLD], [{ ...BY_NEW, key: OLD.alias }]),
    );
    await assert.rejects(contents(onlyOld.bootstrap, 'new-orders'), /CORRUPT_MESSAGE/);
  });

  it('has nothing twice and lacks nothing, wherever the copy is cut off, and goes on from there', async () => {
    await fill('orders-cut');
    const expected = await contents(proxy.bootstrap, 'orders-cut');
    /** Ends before the request of this number, or when its answer is there. */
    const mortal = (admin: Admin, last: number, when: 'before' | 'behind') => {
      let sent = 0;
      const send = (async (...args: Parameters<Admin['send']>) => {
        const number = ++sent; // others are on their way at the same time
        if (number === last && when === 'before') throw new Error('cut off');
        const answer = await admin.send(...args);
        if (number === last) throw new Error('cut off');
        return answer;
      }) as Admin['send'];
      return { admin: { ...admin, send }, sent: () => sent };
    };
    const [from, to] = [open(proxy.bootstrap), open(proxy.bootstrap)];
    try {
      let most = 1;
      for (let last = 1; last <= most; last++)
        for (const when of ['before', 'behind'] as const) {
          const into = `new-${when}-${last}`;
          await kafka.createTopic(into, { partitions: 2 });
          const work = { from, topic: 'orders-cut', into, group: `copy-${into}` };
          const quiet = { onProgress: () => {}, attempts: 1 };
          const { admin, sent } = mortal(to, last, when);
          await copyTopic({ ...work, to: admin }, quiet).then(
            () => assert.ok(sent() < last, 'an end that was not noticed'),
            (error: Error) => assert.match(error.message, /cut off/),
          );
          if (sent() >= last) most = last + 1;
          await copyTopic({ ...work, to }, { onProgress: () => {} });
          assert.deepEqual(await contents(proxy.bootstrap, into), expected, into);
        }
      assert.ok(most > 8, `${most} requests`);
    } finally {
      from.close();
      to.close();
    }
  });

  it('is written by one copy at a time: a second one takes over, and the first one ends', async () => {
    await fill('orders-twice');
    const [from, to] = [open(proxy.bootstrap), open(proxy.bootstrap)];
    try {
      await kafka.createTopic('new-twice', { partitions: 2 });
      const work = { from, to, topic: 'orders-twice', into: 'new-twice', group: 'twice' };
      const quiet = { onProgress: () => {} };
      let second: Promise<unknown> | undefined;
      const send = (async (...args: Parameters<Admin['send']>) => {
        if (args[0] === 'EndTxn') await (second ??= copyTopic(work, quiet));
        return to.send(...args);
      }) as Admin['send'];
      await assert.rejects(
        copyTopic({ ...work, to: { ...to, send } }, quiet),
        /another run of the same copy/,
      );
      assert.deepEqual(
        await contents(proxy.bootstrap, 'new-twice'),
        await contents(proxy.bootstrap, 'orders-twice'),
      );
    } finally {
      from.close();
      to.close();
    }
  });

  it('is refused where it could not be one: into itself, with fewer partitions, without a key', async () => {
    await fill('orders-odd');
    const from = ['--from', proxy.bootstrap];
    const itself = await run('orders-odd', '--into', 'orders-odd', ...from);
    assert.deepEqual([itself.code, /the same topic/.test(itself.err)], [2, true], itself.err);
    await kafka.createTopic('new-narrow');
    assert.match((await run('orders-odd', '--into', 'new-narrow', ...from)).err, /has 1 partitions/);
    assert.match((await run('none', '--into', 'new-none', ...from)).err, /there is no topic none/);
    const refused = await run('orders-odd', '--into', 'elsewhere', ...from);
    assert.deepEqual([refused.code, /TOPIC_AUTHORIZATION_FAILED/.test(refused.err)], [1, true], refused.err);
  });
});
