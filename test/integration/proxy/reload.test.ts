/** A configuration that changes under traffic: only what it concerns is touched. Workers that die. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect as connectTcp, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';
import { askKafka, portGateway, reserveBlock, startProxyProcess } from './proxy-process.ts';
import type { PortBlock, ProxyProcess, Status } from './proxy-process.ts';

describe('reload', () => {
  let kafka: KafkaCluster;
  let proxy: ProxyProcess;
  let block: PortBlock;
  let one: ReturnType<typeof cluster>;
  let two: ReturnType<typeof cluster>;

  const cluster = (name: string, first: number, more: object = {}) => ({
    name,
    targetCluster: { bootstrapServers: kafka.bootstrap.plaintext },
    gateways: [portGateway(first)],
    ...more,
  });
  const loadedOf = ({ virtualClusters }: Status) =>
    Object.fromEntries(virtualClusters.map(({ name, loaded }) => [name, loaded]));
  /** Whether anybody listens there: a connection that is accepted and closed again counts. */
  const isOpen = async (port: number) => {
    const socket = connectTcp(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return true;
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ECONNREFUSED');
      return false;
    } finally {
      socket.destroy();
    }
  };
  const isAlive = (client: KafkaClient) =>
    client.metadata([]).then(
      () => true,
      () => false,
    );

  before(async () => {
    [kafka, block] = await Promise.all([startKafka(), reserveBlock(16)]);
    one = cluster('one', block.first);
    two = cluster('two', block.first + 4);
    proxy = await startProxyProcess({ workers: 2, virtualClusters: [one, two] });
  });
  after(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await kafka?.stop();
    await block?.[Symbol.asyncDispose]();
  });

  test('a virtual cluster that changes drains, and the other keeps its connections', async () => {
    const [touched, untouched] = await Promise.all([askKafka(block.first), askKafka(block.first + 4)]);
    await proxy.reload({ workers: 2, virtualClusters: [{ ...one, drainTimeout: '5s' }, two] });
    await waitFor('the drain', async () => !(await isAlive(touched)));
    assert.ok(await isAlive(untouched));
    const again = await askKafka(block.first);
    assert.ok(await isAlive(again));
    untouched.close();
    again.close();
  });

  test('a virtual cluster comes and goes, with its ports', async () => {
    const ports = [8, 9, 10, 11].map((offset) => block.first + offset);
    const open = async () => {
      const answers = await Promise.all(ports.map(isOpen));
      return ports.filter((_, i) => answers[i]);
    };
    assert.deepEqual(await open(), []);
    const three = cluster('three', block.first + 8);
    const status = await proxy.reload({ workers: 2, virtualClusters: [one, two, three] });
    assert.equal(status.error, undefined);
    assert.deepEqual(await open(), ports);
    const client = await askKafka(block.first + 8);
    await proxy.reload({ workers: 2, virtualClusters: [one, two] });
    await waitFor('the drain', async () => !(await isAlive(client)));
    await waitFor('the ports to be free', async () => (await open()).length === 0);
  });

  test('a configuration that means nothing changes nothing, and is told', async () => {
    const client = await askKafka(block.first);
    const { hash } = await proxy.status();
    const status = await proxy.reload({ virtualClusters: 5 });
    assert.match(status.error ?? '', /virtualClusters/);
    assert.equal(status.hash, hash);
    assert.ok(await isAlive(client));
    assert.ok(await proxy.ready());
    assert.equal(await proxy.metric('isthmus_proxy_reloads_total', { outcome: 'refused' }), 1);
    client.close();
    assert.equal((await proxy.reload({ workers: 2, virtualClusters: [one, two] })).error, undefined);
  });

  test('a virtual cluster that cannot be loaded goes on as it was, and the others get what is new', async () => {
    const client = await askKafka(block.first);
    const tls = { key: { certificate: 'x', privateKey: 'y' } };
    const broken = { ...one, gateways: [{ ...portGateway(block.first), tls }] };
    const missing = { name: 'missing', type: 'module:no-such-filter-module', config: {} };
    const document = {
      workers: 2,
      filterModules: [{ name: 'no-such-filter-module' }],
      filterDefinitions: [missing],
      virtualClusters: [
        broken,
        { ...two, filters: ['missing'] },
        cluster('never', block.first + 12, { filters: ['missing'] }),
        cluster('three', block.first + 8),
      ],
    };
    const status = await proxy.reload(document);
    assert.equal(status.error, undefined);
    assert.deepEqual(loadedOf(status), { never: false, one: false, three: true, two: false });
    const problemOf = (name: string) =>
      String(status.virtualClusters.find((each) => each.name === name)?.problems);
    assert.match(problemOf('one'), /gateways\[ports\]\.tls/);
    assert.match(problemOf('two'), /filterDefinitions\[missing\].*no-such-filter-module/);
    assert.ok(await isAlive(client));
    client.close();
    for (const port of [block.first, block.first + 4, block.first + 8]) (await askKafka(port)).close();
    await assert.rejects(askKafka(block.first + 12));
    assert.equal(await proxy.metric('isthmus_proxy_virtual_cluster_loaded', { virtual_cluster: 'two' }), 0);
    assert.equal(await proxy.metric('isthmus_proxy_virtual_cluster_loaded', { virtual_cluster: 'three' }), 1);
    await proxy.reload({ workers: 2, virtualClusters: [one, two] });
  });

  test('a new proxy starts with those that can be loaded', async () => {
    const missing = { name: 'missing', type: 'module:no-such-filter-module', config: {} };
    await using other = await startProxyProcess({
      filterModules: [{ name: 'no-such-filter-module' }],
      filterDefinitions: [missing],
      virtualClusters: [
        cluster('bad', block.first + 12, { filters: ['missing'] }),
        cluster('good', block.first + 8),
      ],
    });
    (await askKafka(block.first + 8)).close();
    assert.deepEqual(loadedOf(await other.status()), { bad: false, good: true });
  });

  test('a port that is taken is a problem of its own virtual cluster, until it is free', async () => {
    const taken = createServer().listen(block.first + 8, '127.0.0.1');
    await once(taken, 'listening');
    await proxy.reload({ workers: 2, virtualClusters: [one, two, cluster('three', block.first + 8)] });
    const problemsOf = async (name: string) =>
      (await proxy.status()).virtualClusters.find((each) => each.name === name)?.problems;
    await waitFor('the problem', async () =>
      /cannot be bound.*EADDRINUSE/.test(String(await problemsOf('three'))),
    );
    assert.deepEqual(await problemsOf('one'), []);
    assert.ok(await proxy.ready());
    taken.close();
    await waitFor('the port', async () => (await problemsOf('three'))?.length === 0);
    (await askKafka(block.first + 8)).close();
    await proxy.reload({ workers: 2, virtualClusters: [one, two] });
  });

  test('certificates change in their files, and open connections do not care', async () => {
    const directory = workspace('certificates');
    const [certificateFile, privateKeyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
    const issue = async (commonName: string) => {
      const { certPem, keyPem } = await kafka.tls.authority.issue({ commonName, dns: ['localhost'] });
      for (const [file, text] of [
        [privateKeyFile, keyPem],
        [certificateFile, certPem],
      ] as const) {
        writeFileSync(`${file}.new`, text);
        renameSync(`${file}.new`, file);
      }
    };
    const seen = async () => {
      const socket = connectTls({
        port: block.first + 8,
        host: 'localhost',
        ca: kafka.tls.authority.certPem,
      });
      await once(socket, 'secureConnect');
      const { CN } = socket.getPeerCertificate().subject;
      socket.destroy();
      return CN;
    };
    await issue('first');
    const tls = { key: { certificateFile, privateKeyFile } };
    const secure = {
      ...cluster('secure', 0),
      gateways: [portGateway(block.first + 8, 'localhost', { tls })],
    };
    await proxy.reload({ workers: 2, virtualClusters: [one, two, secure] });
    assert.equal(await seen(), 'first');
    const trust = { ca: kafka.tls.authority.certPem };
    const open = await askKafka(block.first + 8, { host: 'localhost', tls: trust });
    await issue('second');
    await waitFor('the new certificate', async () => (await seen()) === 'second');
    assert.ok(await isAlive(open));
    open.close();
    const expires = await proxy.metric('isthmus_proxy_certificate_expiry_timestamp_seconds', {
      used_by: 'ports',
    });
    assert.ok(expires > Date.now() / 1000);
    await proxy.reload({ workers: 2, virtualClusters: [one, two] });
  });

  test('a worker that is killed is replaced, and counters do not go back', async () => {
    // So many that not all of them are with one worker.
    const clients = await Promise.all(Array.from({ length: 40 }, () => askKafka(block.first)));
    // Of this virtual cluster alone: those that an earlier test removed may be dropped from the sum at any time.
    const connections = () => proxy.metric('isthmus_proxy_connections_total', { virtual_cluster: 'one' });
    const connectionsBefore = await connections();
    const [victim = 0, ...others] = proxy.workerPids();
    assert.equal(others.length, 1);
    process.kill(victim, 'SIGKILL');
    await waitFor('another worker', async () => {
      const pids = proxy.workerPids();
      return pids.length === 2 && !pids.includes(victim);
    });
    const alive = await Promise.all(clients.map(isAlive));
    assert.ok(alive.includes(true), 'connections of the other worker live on');
    const again = await Promise.all(
      Array.from({ length: 12 }, () =>
        waitFor('a connection', () => askKafka(block.first).catch(() => undefined)),
      ),
    );
    assert.deepEqual(
      await Promise.all(again.map(isAlive)),
      again.map(() => true),
    );
    for (const client of [...clients, ...again]) client.close();
    await waitFor('the sum', async () => (await connections()) >= connectionsBefore + again.length);
  });

  test('workers do not outlive their supervisor', async () => {
    await using lost = await startProxyProcess({
      workers: 2,
      virtualClusters: [cluster('lost', block.first + 12)],
    });
    const pids = lost.workerPids();
    assert.equal(pids.length, 2);
    await lost.server.stop('SIGKILL');
    // What has ended but has not been waited for still has its entry, but no command line.
    const isRunning = (pid: number) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`).length > 0;
      } catch {
        return false;
      }
    };
    await waitFor('their end', async () => !pids.some(isRunning));
  });
});
