/** Filters of users' own that stop or end the process that they are in: the fault of one virtual cluster is its own. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { environmentWith } from '../../support/filter-modules.ts';
import { startFakeBroker } from './fake-broker.ts';
import type { FakeBroker } from './fake-broker.ts';
import { askKafka, portGateway, reserveBlock, startProxyProcess } from './proxy-process.ts';
import type { PortBlock, ProxyProcess } from './proxy-process.ts';

const MODULES = new Map([['faulty-filter', new URL('./faulty-filter.ts', import.meta.url).href]]);
/** So little memory that a test need not take all of the machine's. */
const ENVIRONMENT = { NODE_OPTIONS: `${environmentWith(MODULES)['NODE_OPTIONS']} --max-old-space-size=600` };

describe('faulty filters', () => {
  let broker: FakeBroker;
  let block: PortBlock;

  before(async () => {
    [broker, block] = await Promise.all([startFakeBroker(), reserveBlock(12)]);
  });
  after(async () => {
    await broker?.[Symbol.asyncDispose]();
    await block?.[Symbol.asyncDispose]();
  });

  /** Three virtual clusters: of the first two each has such a filter, the third none. */
  const NAMES = ['bad', 'neighbour', 'plain'];
  const portOf = (name: string) => block.first + NAMES.indexOf(name) * 4;
  const document = (workers: number, config: object = {}, more: object = {}) => ({
    workers,
    filterModules: [{ name: 'faulty-filter' }],
    filterDefinitions: ['bad', 'neighbour'].map((name) => ({
      name,
      type: 'module:faulty-filter',
      config: { atCheck: 'nothing', atStart: 'nothing', version: 1, ...(name === 'bad' && config) },
    })),
    virtualClusters: NAMES.map((name) => ({
      name,
      targetCluster: { bootstrapServers: `127.0.0.1:${broker.port}` },
      gateways: [portGateway(portOf(name))],
      ...(name === 'plain' ? more : { filters: [name] }),
    })),
  });

  /** Whether a client gets an answer about such a topic. */
  async function ask(name: string, topic: string): Promise<boolean> {
    const client = await askKafka(portOf(name)).catch(() => undefined);
    if (!client) return false;
    const answered = await client.metadata([topic]).then(
      () => true,
      () => false,
    );
    client.close();
    return answered;
  }

  async function isRefused(name: string): Promise<boolean> {
    const socket = connect(portOf(name), '127.0.0.1');
    try {
      await once(socket, 'connect');
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
    } finally {
      socket.destroy();
    }
  }

  const statusOf = async (proxy: ProxyProcess, name: string) =>
    (await proxy.status()).virtualClusters.find((one) => one.name === name)!;

  /** The first is out of service and says so; the others are served, and have no problem. */
  async function assertOnlyBadIsOut(proxy: ProxyProcess, why: RegExp): Promise<void> {
    await waitFor('the problem', async () => why.test(String((await statusOf(proxy, 'bad')).problems)));
    assert.equal((await statusOf(proxy, 'bad')).loaded, false);
    await waitFor('the port to be closed', () => isRefused('bad'));
    for (const name of ['neighbour', 'plain']) {
      await waitFor(`${name} to be served`, () => ask(name, 'fine'));
      assert.deepEqual((await statusOf(proxy, name)).problems, []);
    }
    const metric = (cluster: string) =>
      proxy.metric('isthmus_proxy_virtual_cluster_loaded', { virtual_cluster: cluster });
    assert.deepEqual(await Promise.all(NAMES.map(metric)), [0, 1, 1]);
  }

  const HUNG = /out of service: the filter "bad" computed without an end/;
  /** On a machine that is too busy to tell, it takes two times. */
  const OUT = /out of service: the filter "bad" (computed without an end|ended a process)/;

  test('one that computes without an end is out of service until its own configuration changes', async () => {
    await using proxy = await startProxyProcess(document(2), { env: ENVIRONMENT });
    for (const name of NAMES) assert.ok(await ask(name, 'fine'));
    let version = 1;
    for (const fault of ['hang-later', 'hang-expression']) {
      assert.ok(await ask('bad', 'fine'));
      await waitFor('the problem', async () => {
        await ask('bad', fault);
        return (await statusOf(proxy, 'bad')).problems.length > 0;
      });
      await assertOnlyBadIsOut(proxy, OUT);
      // The change of another is no reason to try it again.
      await proxy.reload(document(2, { version }, { drainTimeout: `${version}s` }));
      await assertOnlyBadIsOut(proxy, OUT);
      await proxy.reload(document(2, { version: ++version }));
      await waitFor('to be served again', () => ask('bad', 'fine'));
      assert.deepEqual((await statusOf(proxy, 'bad')).problems, []);
    }
    assert.ok((await proxy.metric('isthmus_proxy_worker_exits_total', { reason: 'stuck' })) >= 2);
  });

  test('one that takes all memory is out of service, whether the machine is fast enough for that to end the process or not', async () => {
    await using proxy = await startProxyProcess(document(2), { env: ENVIRONMENT });
    await waitFor('the problem', async () => {
      await ask('bad', 'memory');
      return (await statusOf(proxy, 'bad')).problems.length > 0;
    });
    await assertOnlyBadIsOut(proxy, OUT);
  });

  test('one that ends the process does so twice, by an exit or an error that nobody catches', async () => {
    const ENDED = /out of service: the filter "bad" ended a process/;
    for (const fault of ['exit', 'throw']) {
      await using proxy = await startProxyProcess(document(2), { env: ENVIRONMENT });
      for (let time = 0; time < 2; time++) {
        await waitFor('to be served', () => ask('bad', 'fine'));
        void ask('bad', fault);
        const exits = () => proxy.metric('isthmus_proxy_worker_exits_total', { reason: 'exit' });
        await waitFor('the end of a worker', async () => (await exits()) > time);
      }
      await assertOnlyBadIsOut(proxy, ENDED);
    }
  });

  test('one whose schema does not come to its end goes on as it was, and keeps no change from the others', async () => {
    await using proxy = await startProxyProcess(document(2), { env: ENVIRONMENT });
    const status = await proxy.reload(document(2, { atCheck: 'hang' }, { drainTimeout: '5s' }));
    const loaded = status.virtualClusters.map(({ name, loaded: isLoaded }) => [name, isLoaded]);
    assert.deepEqual(Object.fromEntries(loaded), { bad: false, neighbour: true, plain: true });
    assert.match(String((await statusOf(proxy, 'bad')).problems), /does not come to its end/);
    for (const name of NAMES) assert.ok(await ask(name, 'fine'));
  });

  test('one whose schema does not come to its end keeps others of its package waiting at the start, but not for good', async () => {
    await using proxy = await startProxyProcess(document(2, { atCheck: 'hang' }), { env: ENVIRONMENT });
    for (const name of ['neighbour', 'plain']) await waitFor(`${name} to be served`, () => ask(name, 'fine'));
    assert.match(String((await statusOf(proxy, 'bad')).problems), /does not come to its end/);
    assert.deepEqual((await statusOf(proxy, 'neighbour')).problems, []);
  });

  test('one that does not come to its end while it is made keeps nobody from being served, not even with one worker', async () => {
    await using proxy = await startProxyProcess(document(1), { env: ENVIRONMENT });
    assert.equal(proxy.workerPids().length, 1);
    proxy.write(document(1, { atStart: 'hang' }));
    await assertOnlyBadIsOut(proxy, HUNG);
    await proxy.reload(document(1, { version: 2 }));
    await waitFor('to be served again', () => ask('bad', 'fine'));
  });
});
