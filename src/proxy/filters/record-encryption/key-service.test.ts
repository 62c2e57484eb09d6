/** The filter with a key service that is somewhere else: how often that is asked, and what goes on while it is away. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startVault } from '../../../../test/support/kms/vault.ts';
import { LOOPBACK } from '../../../../test/support/kms/stand-in.ts';
import { errorOf } from '../../../kafka/errors.ts';
import { readBatches } from '../../../kafka/records/batch.ts';
import { encodeBatch } from '../../../kafka/records/write.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import { createLog } from '../../../ops/log.ts';
import { createMetrics, metricsText } from '../../../ops/metrics.ts';
import type { ConnectionContext, MessageContext } from '../../filter.ts';
import { recordEncryptionSchema } from './config.ts';
import { recordEncryption } from './record-encryption.ts';
import { ALONE } from '../../../../test/support/alone.ts';

const message = {} as MessageContext;
const NAMES = ['one', 'two', 'three'];

async function setUp() {
  await using starting = new AsyncDisposableStack();
  const vault = starting.use(
    await startVault(
      NAMES.map((name) => `KEK-${name}`),
      Date.now,
    ),
  );
  const token = vault.issue(0);
  const config = recordEncryptionSchema.parse({
    kms: 'VaultKmsService',
    kmsConfig: { vaultTransitEngineUrl: `${vault.url}/v1/transit`, vaultToken: { password: token } },
    selector: 'TemplateKekSelector',
    selectorConfig: { template: 'KEK-$(topicName)' },
  });
  const [metrics, log] = [createMetrics(), createLog('silent')];
  const setting = { virtualCluster: 'vc', name: 'f', log, metrics, outbound: LOOPBACK, peers: ALONE };
  const filter = await recordEncryption.create(config, setting);
  starting.defer(() => filter.close!());
  const connection = filter.connect({ log } as ConnectionContext);
  const asked = (path: string) => vault.requests.filter((request) => request.path.includes(path)).length;
  const started = starting.move();
  const problem = () => filter.problem!()?.reason;
  return {
    vault,
    token,
    metrics,
    connection,
    asked,
    problem,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

type Site = Awaited<ReturnType<typeof setUp>>;

/** What becomes of a value that is written: its sealed records, or the error. */
async function written({ connection }: Site, name: string): Promise<Buffer | string> {
  const value = Buffer.from(`hello ${name}`);
  const records = encodeBatch({}, [{ offsetDelta: 0, timestampDelta: 0, key: null, value, headers: [] }]);
  const topicData = [{ name, topicId: '', partitionData: [{ index: 0, records }] }];
  const request = {
    transactionalId: null,
    acks: -1,
    timeoutMs: 1,
    topicData,
  } as unknown as Requests['Produce'];
  const verdict = await connection.onRequest!.Produce!(request, message);
  if (verdict && 'answer' in verdict) return verdict.answer;
  assert.ok(verdict && 'forward' in verdict);
  return verdict.forward.topicData[0]!.partitionData[0]!.records!;
}

/** What is read of sealed records: the value, or the error. */
async function read({ connection }: Site, topic: string, sealed: Buffer): Promise<string> {
  const partitions = [{ partitionIndex: 0, errorCode: 0, records: Buffer.from(sealed) }];
  const response = { responses: [{ topic, topicId: '', partitions }] } as unknown as Responses['Fetch'];
  await connection.onResponse!.Fetch!(response, message);
  const { errorCode, records: opened } = response.responses[0]!.partitions[0]!;
  if (errorCode !== 0) return errorOf(errorCode).name;
  return [...readBatches(opened!).batches[0]!.records()][0]!.value!.toString();
}

suite('a key service elsewhere', () => {
  test('however many write and read at once, it is asked once', async () => {
    await using site = await setUp();
    const sealed = await Promise.all(Array.from({ length: 30 }, () => written(site, 'one')));
    assert.ok(sealed.every((one) => Buffer.isBuffer(one)));
    assert.deepEqual(
      await Promise.all(sealed.map((one) => read(site, 'one', one))),
      Array(30).fill('hello one'),
    );
    assert.deepEqual([site.asked('/keys/'), site.asked('/datakey/'), site.asked('/decrypt/')], [1, 1, 1]);
  });

  test('while it is down what is known goes on, the rest is refused so that it is tried again, and all heals by itself', async () => {
    await using site = await setUp();
    const sealed = await written(site, 'one');
    assert.ok(Buffer.isBuffer(sealed));
    assert.equal(await read(site, 'one', sealed), 'hello one');
    assert.equal(site.problem(), undefined);
    const unread = await written(site, 'three');
    assert.ok(Buffer.isBuffer(unread));

    await site.vault.stop();
    assert.ok(Buffer.isBuffer(await written(site, 'one')), 'its data key is good for a while');
    assert.equal(await read(site, 'one', sealed), 'hello one');
    // Retriable, and means that nothing was written.
    assert.equal(await written(site, 'two'), 'NOT_LEADER_OR_FOLLOWER');
    assert.equal(await read(site, 'three', unread), 'NOT_LEADER_OR_FOLLOWER');
    // Five failures in a row, two requests with their retries, are no accident.
    assert.equal(site.problem(), 'KeyServiceUnavailable');

    await site.vault.start();
    while (!Buffer.isBuffer(await written(site, 'two'))) await delay(50);
    assert.equal(site.problem(), undefined);
    assert.equal(await read(site, 'three', unread), 'hello three');
  });

  test('its metrics say which keys it was asked for, and nothing that is secret', async () => {
    await using site = await setUp();
    const sealed = await written(site, 'one');
    assert.ok(Buffer.isBuffer(sealed));
    await read(site, 'one', sealed);
    assert.equal(await written(site, 'nobody'), 'RESOURCE_NOT_FOUND');
    const report = await metricsText([await site.metrics.snapshot()]);
    for (const operation of ['resolve', 'generate', 'unwrap'])
      assert.match(
        report,
        new RegExp(`kms_requests_total\\{[^}]*key="KEK-one",operation="${operation}",outcome="ok"\\} 1`),
      );
    assert.match(report, /kms_breaker_open\{virtual_cluster="vc",filter="f"\} 0/);
    assert.ok(!report.includes(site.token) && !report.includes('vault:v1'));
  });
});
