import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createMetrics, metricsText } from '../ops/metrics.ts';
import { createBreaker } from './breaker.ts';
import { BadEnvelope, KmsRefused, KmsThrottled, UnknownKey } from './kms.ts';
import type { Kms } from './kms.ts';
import { meteredKms, reportBreaker } from './metered.ts';

const LABELS = { virtual_cluster: 'vc', filter: 'f' };

function setUp(decryptEdek: () => Promise<Buffer> = async () => Buffer.alloc(32)) {
  const metrics = createMetrics();
  const inner: Kms = {
    resolveAlias: async (alias) => `id-of-${alias}`,
    generateDek: async () => ({ dek: Buffer.alloc(32), edek: Buffer.alloc(1) }),
    kekOf: () => 'id-of-a',
    decryptEdek,
    close() {},
  };
  const text = async () => metricsText([await metrics.snapshot()]);
  return { kms: meteredKms(inner, metrics, LABELS), metrics, text };
}

suite('metrics of a key service', () => {
  test('requests are counted under the alias that a key was found by', async () => {
    const { kms, text } = setUp();
    const id = (await kms.resolveAlias('a'))!;
    await kms.generateDek(id);
    await kms.decryptEdek(Buffer.alloc(1));
    await kms.decryptEdek(Buffer.alloc(1));
    const report = await text();
    const count = (operation: string) =>
      new RegExp(
        `requests_total\\{virtual_cluster="vc",filter="f",key="a",operation="${operation}",outcome="ok"\\} (\\d+)`,
      ).exec(report)?.[1];
    assert.deepEqual(['resolve', 'generate', 'unwrap'].map(count), ['1', '1', '2'], report);
    assert.match(report, /request_seconds_count\{virtual_cluster="vc",filter="f",key="a"\} 4/);
  });

  test('each failure says of which kind it was, and comes through', async () => {
    const errors = {
      unknown_key: new UnknownKey('x'),
      bad_envelope: new BadEnvelope('x'),
      refused: new KmsRefused('x'),
      throttled: new KmsThrottled('x'),
      failed: new Error('x'),
    };
    for (const [outcome, error] of Object.entries(errors)) {
      const { kms, text } = setUp(() => Promise.reject(error));
      await assert.rejects(kms.decryptEdek(Buffer.alloc(1)), error);
      assert.match(await text(), new RegExp(`outcome="${outcome}"\\} 1`));
    }
  });

  test('keys that requests make up do not get metrics each', async () => {
    const { kms, text } = setUp();
    for (let i = 0; i < 150; i++) await kms.resolveAlias(`made-up-${i}`);
    const report = await text();
    assert.equal(report.match(/requests_total\{[^}]*key="made-up-/g)!.length, 100);
    assert.match(report, /requests_total\{[^}]*key="\(others\)"[^}]*\} 50/);
  });

  test('an open breaker is reported until its service is closed', async () => {
    const { metrics, text } = setUp();
    const breaker = createBreaker({ failures: 1 });
    const stop = reportBreaker(breaker, metrics, LABELS);
    assert.match(await text(), /breaker_open\{[^}]*\} 0/);
    breaker.failed();
    assert.match(await text(), /breaker_open\{[^}]*\} 1/);
    stop();
    assert.doesNotMatch(await text(), /breaker_open\{/);
  });
});
