/** Requests that several worker processes carry, seen at the one management port of their proxy. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { TrafficEntry } from '../../../src/console/api.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { produce } from '../../support/clients.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { portGateway, reserveBlock, startProxyProcess } from '../proxy/proxy-process.ts';
import type { PortBlock, ProxyProcess } from '../proxy/proxy-process.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');

suite('isthmus tap --proxy', () => {
  let kafka: KafkaCluster;
  let block: PortBlock;
  let proxy: ProxyProcess;
  before(async () => {
    [kafka, block] = await Promise.all([startKafka(), reserveBlock(4)]);
    const targetCluster = { bootstrapServers: kafka.bootstrap.plaintext };
    const gateways = [portGateway(block.first)];
    proxy = await startProxyProcess({
      workers: 2,
      virtualClusters: [{ name: 'orders', targetCluster, gateways }],
    });
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
    await block?.[Symbol.asyncDispose]();
  });

  test('prints what each worker carries, as long as it looks', async () => {
    const url = `http://127.0.0.1:${proxy.managementPort}/`;
    const tap = spawn(process.execPath, [MAIN, 'tap', 'tapped', '--proxy', url, '-o', 'json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    tap.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    try {
      const bootstrap = `127.0.0.1:${block.first}`;
      const line = await waitFor('a line', async () => {
        await produce('kafkajs', { bootstrap, topic: 'tapped', records: [{ key: null, value: 'v' }] });
        return printed.split('\n').find((one) => one.includes('"api":"Produce"'));
      });
      const { topic, verdict, virtualCluster, latencyMs } = JSON.parse(line) as TrafficEntry;
      assert.deepEqual([topic, verdict, virtualCluster], ['tapped', 'forwarded', 'orders']);
      assert.ok(latencyMs! > 0);
      // Connections are spread by the kernel: that all of so many are with one worker does not happen.
      const topics = Array.from({ length: 16 }, (_, i) => `tapped-${i}`);
      for (const each of topics)
        await produce('kafkajs', { bootstrap, topic: each, records: [{ key: null, value: 'v' }] });
      const isShown = (each: string) =>
        printed
          .split('\n')
          .some((one) => one.includes('"api":"Produce"') && one.includes(`"topic":"${each}"`));
      await waitFor('a line of every one', async () => topics.every(isShown));
    } finally {
      tap.kill('SIGKILL');
    }
  });

  test('a proxy that is not there is told of, and ends it with 3', async () => {
    const tap = spawn(process.execPath, [MAIN, 'tap', '--proxy', 'http://127.0.0.1:1/'], { stdio: 'ignore' });
    const { promise, resolve: ended } = Promise.withResolvers<number | null>();
    tap.once('exit', ended);
    assert.equal(await promise, 3);
  });
});
