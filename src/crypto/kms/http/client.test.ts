import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { z } from 'zod';
import { LOOPBACK } from '../../../../test/support/kms/stand-in.ts';
import { createAuthority } from '../../../../test/support/pki.ts';
import { workspace } from '../../../../test/support/workspace.ts';
import type { Outbound } from '../../../ops/outbound.ts';
import { createHttpClient } from './client.ts';
import type { HttpOptions } from './client.ts';

async function listening(server: Server): Promise<AsyncDisposable & { port: number }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}

const serve = (listener: RequestListener) => listening(createServer(listener));

async function get(url: string, options: Partial<HttpOptions> = {}) {
  const http = createHttpClient({ outbound: LOOPBACK, ...options });
  try {
    return await http.send({ method: 'GET', url: new URL(url) });
  } finally {
    http.close();
  }
}

suite('the HTTP client of key services', () => {
  test('it gives status, headers and body', async () => {
    await using server = await serve((_, response) => response.writeHead(418, { a: 'b' }).end('{"x":1}'));
    const answer = await get(`http://kms.example:${server.port}/`);
    assert.deepEqual([answer.status, answer.header('a'), answer.text], [418, 'b', '{"x":1}']);
    assert.deepEqual(answer.json(z.object({ x: z.number() })), { x: 1 });
    assert.throws(() => answer.json(z.object({ x: z.string() })), /another form than documented/);
    assert.equal(answer.jsonIfAny(z.object({ x: z.string() })), undefined);
  });

  test('an answer without end is cut off, with and without a length', async () => {
    await using server = await serve((request, response) => {
      if (request.url === '/announced') response.setHeader('content-length', 10_000_000);
      const pour = () => {
        while (response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', pour).on('error', () => {});
      pour();
    });
    // By its size, and not when the time is over.
    for (const path of ['announced', 'not'])
      await assert.rejects(get(`http://kms.example:${server.port}/${path}`), /did not answer: .*size/i);
  });

  test('an answer that dribbles takes no longer than any other', async () => {
    await using server = await serve((_, response) => {
      const timer = setInterval(() => response.write('x'), 5);
      response.on('close', () => clearInterval(timer));
    });
    await assert.rejects(get(`http://kms.example:${server.port}/`, { timeoutMs: 100 }), /it took too long/);
  });

  test('a redirection leads nowhere', async () => {
    let asked = 0;
    await using server = await serve((_, response) => {
      asked += 1;
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    assert.equal((await get(`http://kms.example:${server.port}/`)).status, 307);
    assert.equal(asked, 1);
  });

  test('nothing is dialled that is not allowed, by name or by address', async () => {
    let asked = 0;
    await using server = await serve((_, response) => {
      asked += 1;
      response.end();
    });
    const seen: string[] = [];
    const outbound: Outbound = {
      ...LOOPBACK,
      async resolve(host, purpose) {
        seen.push(`${host} ${purpose}`);
        throw new Error('the target policy does not allow it');
      },
    };
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', 'localhost', '0x7f000001', '2130706433'])
      await assert.rejects(get(`http://${host}:${server.port}/`, { outbound }), /does not allow it/, host);
    await assert.rejects(get('http://169.254.169.254/', { outbound, purpose: 'metadata' }), /does not allow/);
    assert.equal(asked, 0);
    assert.deepEqual(seen.slice(0, 3), ['127.0.0.1 service', '::ffff:7f00:1 service', 'localhost service']);
    assert.equal(seen.at(-1), '169.254.169.254 metadata');
  });

  test('a server is trusted by the authority that is named, and by no other', async () => {
    const [ours, theirs] = [await createAuthority('ours'), await createAuthority('theirs')];
    const { certPem: cert, keyPem: key } = await ours.issue({ commonName: 'kms', dns: ['kms.example'] });
    await using server = await listening(
      createTlsServer({ cert, key }, (_, response) => response.end('{}')).on('tlsClientError', () => {}),
    );
    const storeFile = join(workspace('trust'), 'ca.pem');
    await writeFile(storeFile, ours.certPem);
    const url = `https://kms.example:${server.port}/`;
    const trusting = (trust: object) => ({ tls: { trust } }) as Partial<HttpOptions>;
    assert.equal((await get(url, trusting({ certificates: ours.certPem }))).status, 200);
    assert.equal((await get(url, trusting({ storeFile, storeType: 'PEM' }))).status, 200);
    const wrong = [trusting({ certificates: theirs.certPem }), {}];
    for (const options of wrong) await assert.rejects(get(url, options), /did not answer/);
    const other = `https://other.example:${server.port}/`;
    await assert.rejects(get(other, trusting({ certificates: ours.certPem })), /did not answer/);
  });

  test('authorities that cannot be read are read again the next time', async () => {
    const authority = await createAuthority('late');
    const { certPem: cert, keyPem: key } = await authority.issue({ commonName: 'kms', dns: ['kms.example'] });
    await using server = await listening(createTlsServer({ cert, key }, (_, response) => response.end()));
    const storeFile = join(workspace('trust'), 'ca.pem');
    const http = createHttpClient({ outbound: LOOPBACK, tls: { trust: { storeFile, storeType: 'PEM' } } });
    const ask = () => http.send({ method: 'GET', url: new URL(`https://kms.example:${server.port}/`) });
    await assert.rejects(ask(), /ENOENT/);
    await writeFile(storeFile, authority.certPem);
    assert.equal((await ask()).status, 200);
    http.close();
  });
});
