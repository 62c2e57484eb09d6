import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite, test } from 'node:test';
import { askHealth, readHealth } from './health.ts';

const HEALTHY = {
  is_healthy: true,
  unhealthy_reasons: [],
  controller_id: 0,
  all_nodes: [0, 1, 2],
  nodes_down: [],
  leaderless_partitions: [],
  under_replicated_partitions: [],
};

const problemOf = (change: object) => readHealth({ ...HEALTHY, ...change }, 0)?.problem;

suite('the health of a Redpanda cluster', () => {
  test('is whole when every partition has its replicas', () => {
    assert.deepEqual(readHealth(HEALTHY, 7), { at: 7, brokers: [0, 1, 2], down: [], problem: undefined });
  });

  test('says what stands against a restart', () => {
    assert.match(problemOf({ is_healthy: false, nodes_down: [1] }) ?? '', /brokers 1 are down/);
    assert.match(problemOf({ controller_id: -1 }) ?? '', /no controller/);
    assert.match(problemOf({ leaderless_partitions: ['kafka/a/0'] }) ?? '', /1 partitions have no leader/);
    assert.match(problemOf({ under_replicated_partitions: ['a', 'b'] }) ?? '', /2 partitions lack replicas/);
    assert.match(problemOf({ is_healthy: false }) ?? '', /not healthy/);
  });

  test('is not known of a version that does not tell who lags', () => {
    assert.match(problemOf({ under_replicated_partitions: undefined }) ?? '', /this version does not tell/);
  });

  test('is not taken from anything else', () => {
    for (const answer of [
      undefined,
      null,
      [],
      {},
      { ...HEALTHY, all_nodes: ['0'] },
      { ...HEALTHY, nodes_down: 1 },
    ])
      assert.equal(readHealth(answer, 0), undefined);
  });

  test('is asked for until a broker answers as Redpanda does', async () => {
    const answers = [() => 'x'.repeat(2 * 1024 * 1024), () => '{}', () => JSON.stringify(HEALTHY)];
    const server = createServer((_request, response) => void response.end(answers.shift()?.()));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const signal = new AbortController().signal;
    const ask = (count: number) => askHealth(Array<string>(count).fill('127.0.0.1'), port, () => 5, signal);
    const odd = await ask(2);
    assert.equal(odd.health, undefined);
    assert.match(odd.problem ?? '', /does not answer as Redpanda does/);
    assert.deepEqual(await ask(1), { health: { at: 5, brokers: [0, 1, 2], down: [], problem: undefined }, problem: undefined }); // prettier-ignore
    await new Promise((resolve) => server.close(resolve));
    assert.match((await ask(1)).problem ?? '', /ECONNREFUSED/);
    assert.match((await ask(0)).problem ?? '', /no broker has an address/);
  });
});
