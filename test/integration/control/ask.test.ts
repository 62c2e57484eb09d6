/** What the operator learns from a pod: from a real proxy, and from whatever else may be behind its address. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { pino } from 'pino';
import { askAt } from '../../../src/control/proxy/pods/pod-client.ts';
import type { PodAccess } from '../../../src/control/proxy/pods/pod-client.ts';
import { apiOf } from '../../../src/kafka/apis.ts';
import { encodeBatch } from '../../../src/kafka/records/write.ts';
import { selfSigned } from '../../../src/pki/self-signed.ts';
import { runProxy } from '../../../src/proxy/workers/run.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startVault } from '../../support/kms/vault.ts';
import { workspace } from '../../support/workspace.ts';
import { startFakeBroker } from '../proxy/fake-broker.ts';
import { askKafka, portGateway, reserveBlock, startProxyProcess } from '../proxy/proxy-process.ts';

const signal = new AbortController().signal;

async function serving<T>(
  answer: RequestListener,
  use: (port: number, server: Server) => Promise<T>,
): Promise<T> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  try {
    return await use((server.address() as AddressInfo).port, server);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const ask = (port: number, access?: PodAccess) => askAt(port)('127.0.0.1', access, signal);

suite('asking a pod', () => {
  test('a real proxy says what it has loaded, and that its target cannot be reached', async () => {
    await using ports = await reserveBlock(6);
    // Nobody listens at the last port of the block.
    const targetCluster = { bootstrapServers: `127.0.0.1:${ports.first + 5}` };
    const cluster = { name: 'lost', targetCluster, gateways: [portGateway(ports.first)] };
    await using proxy = await startProxyProcess({ virtualClusters: [cluster] }, { waitUntilReady: false });
    const { hash } = await waitFor('the configuration', async () => {
      const status = await proxy.status();
      return status.hash === undefined ? undefined : status;
    });
    const answer = await waitFor('the problem', async () => {
      const said = await ask(proxy.managementPort);
      return said.problems ? said : undefined;
    });
    assert.equal(answer.hash, hash);
    const problem = answer.problems?.get('lost');
    assert.equal(problem?.isTarget, true);
    assert.match(problem.message, /cannot be reached/);
  });

  test('a real proxy is ready without the key service of a filter, and says so until that is back', async () => {
    await using broker = await startFakeBroker();
    await using vault = await startVault(['KEK'], Date.now);
    await using ports = await reserveBlock(4);
    broker.nodes = [[1, broker.port]];
    broker.answer = ({ apiKey }) => (apiKey === apiOf('Produce').key ? { responses: [] } : undefined);
    const token = vault.issue(0);
    await vault.stop();
    const config = {
      kms: 'vault',
      kmsConfig: { vaultTransitEngineUrl: `${vault.url}/v1/transit`, vaultToken: { password: token } },
      rules: [{ topic: 't', action: 'seal', key: 'KEK' }],
    };
    const cluster = {
      name: 'keyless',
      targetCluster: { bootstrapServers: `127.0.0.1:${broker.port}` },
      gateways: [portGateway(ports.first)],
      filters: ['encrypt'],
    };
    const filterDefinitions = [{ name: 'encrypt', type: 'record-encryption', config }];
    // Not all of them need to have noticed.
    const document = { workers: 2, filterDefinitions, virtualClusters: [cluster] };
    await using proxy = await startProxyProcess(document);
    const problem = async () => (await ask(proxy.managementPort)).problems?.get('keyless');
    const write = async () => {
      const client = await askKafka(ports.first);
      const value = Buffer.from('v');
      const records = encodeBatch({}, [{ offsetDelta: 0, timestampDelta: 0, key: null, value, headers: [] }]);
      const topicData = [{ name: 't', partitionData: [{ index: 0, records }] }];
      await client.request('Produce', { acks: -1, timeoutMs: 1000, topicData });
      client.close();
    };
    const told = await waitFor('the problem', async () => {
      await write();
      return problem();
    });
    assert.deepEqual([told.ofFilter, told.isLoad], ['KeyServiceUnavailable', false]);
    assert.match(told.message, /^filter "encrypt": its key service does not answer/);
    assert.ok(!told.message.includes(token) && !told.message.includes(vault.url));
    assert.ok(await proxy.ready());
    await vault.start();
    await waitFor('no problem', async () => {
      await write();
      return (await problem()) === undefined;
    });
  });

  test('a proxy with a token tells only whoever has it, and is told it only if it shows its certificate', async () => {
    await using ports = await reserveBlock(1);
    const directory = workspace('token');
    const host = 'p-management.default';
    const validity = { now: new Date(), validityMs: 60 * 60 * 1000 };
    const { certificate, privateKey } = await selfSigned(host, validity);
    const files = { tokenFile: 'the-token\n', certificateFile: certificate, keyFile: privateKey };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    const fileOf = (name: keyof typeof files) => join(directory, name);
    const management = {
      bindAddress: '127.0.0.1',
      port: ports.first,
      tokenFile: fileOf('tokenFile'),
      tls: { certificateFile: fileOf('certificateFile'), keyFile: fileOf('keyFile') },
    };
    const file = join(directory, 'proxy.yaml');
    writeFileSync(file, JSON.stringify({ management, workers: 1, virtualClusters: [] }));
    const logs: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => void logs.push(line) });
    const proxy = await runProxy(file, { log });
    const access = { token: 'the-token', certificate, host };
    try {
      const { hash } = await ask(ports.first, access);
      assert.ok(hash);
      assert.equal(hash, proxy.status()?.hash);
      for (const one of [undefined, { ...access, token: 'another' }])
        assert.match((await ask(ports.first, one)).unreachable ?? '', /does not take the token .*401/);
      const other = await selfSigned(host, validity);
      for (const one of [
        { ...access, certificate: other.certificate },
        { ...access, host: 'q-management.default' },
      ])
        assert.match((await ask(ports.first, one)).unreachable ?? '', /shows another certificate/);
      // Probes of a kubelet.
      assert.equal((await fetch(`http://127.0.0.1:${ports.first}/livez`)).status, 200);
      assert.ok(!logs.join('').includes('the-token'));
    } finally {
      await proxy.close();
    }
  });

  test('the token is not sent to who speaks no TLS', async () => {
    let heard = '';
    const listener: RequestListener = (request, response) => {
      heard += JSON.stringify(request.headers);
      response.end('{}');
    };
    const { certificate } = await selfSigned('h', { now: new Date(), validityMs: 60_000 });
    const access = { token: 'the-token', certificate, host: 'h' };
    assert.match(
      (await serving(listener, (port) => ask(port, access))).unreachable ?? '',
      /connection fails/,
    );
    assert.ok(!heard.includes('the-token'));
  });

  test('of what does not answer, or not like a proxy, it is only known why', async () => {
    const answers: Record<string, RequestListener> = {
      silence: () => {},
      'half an answer': (_, response) => void response.writeHead(200).write('{"hash":'),
      garbage: (_, response) => void response.end('\u0000<html>'),
      'not an object': (_, response) => void response.end('[1]'),
      'an error': (_, response) => void response.writeHead(503).end('{"hash":"h"}'),
      'somewhere else': (_, response) => void response.writeHead(302, { location: '/other' }).end(),
    };
    const whys = new Map<string, string | undefined>();
    for (const [what, answer] of Object.entries(answers)) {
      const { unreachable, ...said } = await serving(answer, (port) => ask(port));
      assert.deepEqual(said, {}, what);
      assert.ok(unreachable, what);
      whys.set(what, unreachable);
    }
    assert.match(whys.get('silence') ?? '', /does not answer within 1 s/);
    assert.match(whys.get('garbage') ?? '', /not as a proxy does/);
    assert.match(whys.get('not an object') ?? '', /not as a proxy does/);
    assert.match(whys.get('an error') ?? '', /HTTP 503/);
    assert.match((await ask(1)).unreachable ?? '', /ECONNREFUSED|connection fails/);
  });

  test('an answer without end is not read to its end', async () => {
    let sent = 0;
    const endless: RequestListener = (_, response) => {
      const chunk = Buffer.alloc(64 * 1024, 0x20);
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        sent += chunk.length;
      };
      response.on('drain', more);
      more();
    };
    await serving(endless, async (port, server) => {
      assert.match((await ask(port)).unreachable ?? '', /not as a proxy|does not answer/);
      await waitFor('the connection to end', async () => {
        const { promise, resolve } = Promise.withResolvers<number>();
        server.getConnections((_, count) => resolve(count));
        return (await promise) === 0;
      });
    });
    assert.ok(sent < 64 * 1024 * 1024, `${sent} bytes were taken`);
  });
});
