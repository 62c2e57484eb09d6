import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { sourceOf, worldOf } from '../../test/support/console/world.ts';
import { createLog } from '../ops/log.ts';
import type { FleetView } from './api.ts';
import { createRateLimit } from './http/guard.ts';
import { MOST_STREAMS } from './http/streams.ts';
import { serveConsole } from './server.ts';
import type { Console } from './server.ts';

const folder = mkdtempSync(join(tmpdir(), 'isthmus-console-'));
after(() => rmSync(folder, { recursive: true }));

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** With headers that `fetch` would not let one set. */
function ask(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const asking = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
    );
  });
  asking.on('error', reject).end();
  return promise;
}

/** The next events of a stream, as the caller asks for them. */
async function* events(url: string, signal: AbortSignal): AsyncGenerator {
  const response = await fetch(url, { headers: { accept: 'text/event-stream' }, signal });
  let rest = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split('\n\n');
    rest = parts.pop()!;
    for (const part of parts) if (part.startsWith('data: ')) yield JSON.parse(part.slice(6));
  }
}

suite('the console’s server', () => {
  let world = worldOf();
  const source = sourceOf(() => world);
  let console: Console;
  before(async () => {
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), '<!doctype html><p>page</p>');
    writeFileSync(join(folder, 'assets/a.js'), 'let a;');
    writeFileSync(join(folder, 'secret.txt'), 'not a page');
    console = await serveConsole({ source, log: createLog('silent'), port: 0, pages: folder });
  });
  after(() => console.close());

  test('listens on this machine alone, and answers to its own names alone', async () => {
    assert.match(console.url, /^http:\/\/127\.0\.0\.1:\d+\/$/);
    for (const host of [`127.0.0.1:${console.port}`, `localhost:${console.port}`, `[::1]:${console.port}`])
      assert.equal((await ask(console.port, '/api/fleet', { host })).status, 200, host);
    for (const host of ['evil.test', `evil.test:${console.port}`, '127.0.0.1', 'localhost:1'])
      assert.equal((await ask(console.port, '/api/fleet', { host })).status, 421, host);
  });

  test('is not asked by other sites, which may link to it', async () => {
    const own = `http://127.0.0.1:${console.port}`;
    const status = async (headers: Record<string, string>) =>
      (await ask(console.port, '/api/fleet', headers)).status;
    assert.equal(await status({ origin: 'https://evil.test' }), 403);
    assert.equal(await status({ origin: 'null' }), 403);
    assert.equal(await status({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }), 403);
    assert.equal(await status({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }), 200);
    assert.equal(await status({ 'sec-fetch-site': 'same-origin', origin: own }), 200);
  });

  test('only reads', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      assert.equal((await ask(console.port, '/api/fleet', {}, method)).status, 405, method);
  });

  test('lets browsers run nothing but its own files, and shows itself in nobody’s frame', async () => {
    for (const path of ['/', '/api/fleet', '/nothing.here']) {
      const { headers } = await ask(console.port, path);
      const policy = String(headers['content-security-policy']);
      assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /unsafe|http|data:/);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['access-control-allow-origin'], undefined);
    }
  });

  test('serves the page for every view, its files for long, and nothing else of the folder', async () => {
    for (const path of ['/', '/fleet', '/object?kind=KafkaProxy'])
      assert.match((await ask(console.port, path)).body.toString(), /<p>page/);
    const script = await ask(console.port, '/assets/a.js', { 'accept-encoding': 'gzip' });
    assert.equal(gunzipSync(script.body).toString(), 'let a;');
    assert.match(script.headers['cache-control'] ?? '', /immutable/);
    for (const path of ['/secret.txt', '/../secret.txt', '/assets/%2e%2e/secret.txt', '/assets/b.js', '/a/b'])
      assert.equal((await ask(console.port, path)).status, 404, path);
  });

  test('says where it has documents, where there are none of these', async () => {
    assert.equal((await ask(console.port, '/api/boats')).status, 404);
    assert.equal((await ask(console.port, '//')).status, 400);
    assert.equal((await ask(console.port, '/api/object?kind=KafkaProxy&name=none')).status, 404);
    assert.equal((await ask(console.port, `/api/fleet?q=${'x'.repeat(3000)}`)).status, 414);
  });

  test('a stream has the document at once, and again when it has changed', async () => {
    const stop = new AbortController();
    const seen = events(`${console.url}api/fleet`, stop.signal);
    const first = (await seen.next()).value as FleetView;
    assert.equal(first.problems.length, 0);
    world = worldOf({ isBroken: () => true });
    const second = (await seen.next()).value as FleetView;
    assert.equal(second.problems.length, 2);
    stop.abort();
    await assert.rejects(seen.next());
    world = worldOf();
  });

  test('traffic is tapped only while somebody looks', async () => {
    assert.equal(source.onlookers, 0);
    assert.equal((await ask(console.port, '/api/traffic')).status, 406);
    const stop = new AbortController();
    const seen = events(`${console.url}api/traffic`, stop.signal);
    assert.deepEqual((await seen.next()).value, { entries: [], missed: 3 });
    assert.equal(source.onlookers, 1);
    stop.abort();
    await assert.rejects(seen.next());
    while (source.onlookers > 0) await new Promise(setImmediate);
  });

  test('so many streams at once, and the next is told', async () => {
    const stop = new AbortController();
    const open = Array.from({ length: MOST_STREAMS }, () => events(`${console.url}api/fleet`, stop.signal));
    await Promise.all(open.map((stream) => stream.next()));
    const { body } = await ask(console.port, '/api/fleet', { accept: 'text/event-stream' });
    assert.match(body.toString(), /^event: full$/m);
    stop.abort();
    await Promise.allSettled(open.map((stream) => stream.next()));
  });
});

test('without pages it says how to build them, and serves its documents', async () => {
  const pages = join(folder, 'none');
  const console = await serveConsole({
    source: sourceOf(() => worldOf()),
    log: createLog('silent'),
    port: 0,
    pages,
  });
  try {
    const page = await ask(console.port, '/');
    assert.deepEqual([page.status, /npm run up/.test(page.body.toString())], [404, true]);
    assert.equal((await ask(console.port, '/api/fleet')).status, 200);
  } finally {
    await console.close();
  }
});

test('so many answers a second are given, and some more at once', () => {
  let now = 0;
  const mayAsk = createRateLimit(10, 3, () => now);
  const granted = (times: number) => Array.from({ length: times }, mayAsk).filter(Boolean).length;
  assert.equal(granted(5), 3);
  now += 200;
  assert.equal(granted(5), 2);
  now += 60_000;
  assert.equal(granted(5), 3);
});
