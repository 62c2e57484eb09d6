/** What the operator learns from a pod: from a real proxy, and from whatever else may be behind its address. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite, test } from 'node:test';
import { askAt } from '../../../src/control/proxy/pods/pod-client.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { portGateway, reserveBlock, startProxyProcess } from '../proxy/proxy-process.ts';

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

const ask = (port: number) => askAt(port)('127.0.0.1', signal);

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
      return said?.problems ? said : undefined;
    });
    assert.equal(answer.hash, hash);
    const problem = answer.problems?.get('lost');
    assert.equal(problem?.isTarget, true);
    assert.match(problem.message, /cannot be reached/);
  });

  test('what does not answer, or not like a proxy, is as good as silent', async () => {
    const answers: Record<string, RequestListener> = {
      silence: () => {},
      'half an answer': (_, response) => void response.writeHead(200).write('{"hash":'),
      garbage: (_, response) => void response.end('\u0000<html>'),
      'not an object': (_, response) => void response.end('[1]'),
      'an error': (_, response) => void response.writeHead(503).end('{"hash":"h"}'),
      'somewhere else': (_, response) => void response.writeHead(302, { location: '/other' }).end(),
    };
    for (const [what, answer] of Object.entries(answers))
      assert.equal(await serving(answer, ask), undefined, what);
    assert.equal(await ask(1), undefined, 'nobody');
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
      assert.equal(await ask(port), undefined);
      await waitFor('the connection to end', async () => {
        const { promise, resolve } = Promise.withResolvers<number>();
        server.getConnections((_, count) => resolve(count));
        return (await promise) === 0;
      });
    });
    assert.ok(sent < 64 * 1024 * 1024, `${sent} bytes were taken`);
  });
});
