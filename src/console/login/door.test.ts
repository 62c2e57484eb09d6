import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { pino } from 'pino';
import { sourceOf, worldOf } from '../../../test/support/console/world.ts';
import type { MayRead } from '../cluster-source.ts';
import { serveConsole } from '../server.ts';
import type { Console } from '../server.ts';
import { createAccessReviews } from './access-reviews.ts';
import { MOST_FAILURES } from './attempts.ts';
import { loginDoor } from './door.ts';
import { createTokenReviews } from './token-reviews.ts';
import type { Identity } from './token-reviews.ts';

const ANNA: Identity = { user: 'anna', groups: ['team-a'] };
const PLACE = { group: 'kroxylicious.io', resource: 'virtualkafkaclusters', namespace: 'default' };

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

suite('the console behind a login', () => {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-login-'));
  const logged: string[] = [];
  let console: Console;
  /** Whose tokens are good. */
  const people = new Map<string, Identity>([['anna-token', ANNA]]);
  let clock = 0;

  before(async () => {
    const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
    const base = sourceOf(() => worldOf());
    const seenBy = (mayRead: MayRead) => ({
      ...base,
      world: async () => {
        const may = await mayRead([PLACE]);
        const world = worldOf();
        return may(PLACE) ? world : { ...world, objects: [], clusters: [] };
      },
    });
    const tokens = createTokenReviews(
      async (token) => people.get(token),
      () => clock,
    );
    const access = createAccessReviews(async ({ user }) => user === 'anna');
    const door = loginDoor({ source: { seenBy, sees: ['zones'] }, tokens, access, log });
    console = await serveConsole({
      source: base,
      log,
      port: 0,
      pages: folder,
      shared: { door, host: '127.0.0.1' },
    });
  });
  after(async () => {
    await console.close();
    rmSync(folder, { recursive: true });
  });

  function ask(
    path: string,
    headers: Record<string, string> = {},
    method = 'GET',
    body = '',
  ): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const asking = request(
      { host: '127.0.0.1', port: console.port, path, method, headers, agent: false },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      },
    );
    asking.on('error', reject).end(body);
    return promise;
  }
  const JSON_TYPE = { 'content-type': 'application/json' };
  const logIn = (token: string, headers: Record<string, string> = {}) =>
    ask('/session', { ...JSON_TYPE, ...headers }, 'POST', JSON.stringify({ token }));

  test('shows nothing to who has not logged in, and says so', async () => {
    for (const path of ['/api/fleet', '/api/traffic', '/api/object?kind=KafkaProxy&name=proxy'])
      assert.equal((await ask(path)).status, 401, path);
    assert.deepEqual(JSON.parse((await ask('/session')).text), { login: true, sees: ['zones'] });
  });

  test('a token becomes a cookie that no page can read, and it is not the token', async () => {
    const { status, headers, text } = await logIn('anna-token');
    const anna = { login: true, user: 'anna', sees: ['zones'] };
    assert.deepEqual([status, JSON.parse(text)], [200, anna]);
    const [set = ''] = headers['set-cookie'] ?? [];
    assert.match(set, /^isthmus-console=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/);
    assert.ok(!set.includes('anna-token'));
    const cookie = set.split(';')[0]!;
    assert.equal((await ask('/api/fleet', { cookie })).status, 200);
    assert.deepEqual(JSON.parse((await ask('/session', { cookie })).text), anna);
    await ask('/session', { cookie }, 'DELETE');
    assert.equal((await ask('/api/fleet', { cookie })).status, 401, 'logged out');
  });

  test('a stream ends when its token does', async () => {
    const token = 'short-lived';
    people.set(token, { user: 'ben', groups: [] });
    const [set = ''] = (await logIn(token)).headers['set-cookie'] ?? [];
    const headers = { cookie: set.split(';')[0]!, accept: 'text/event-stream' };
    const stream = await fetch(`${console.url}api/fleet`, { headers });
    let text = '';
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (!text.includes('data: ')) continue;
      people.delete(token);
      clock += 60_001;
    }
    assert.match(text, /data: .*"clusters":\[\]/, 'ben may read nothing');
    assert.equal((await ask('/api/fleet', headers)).status, 401);
  });

  test('scripts send the token itself', async () => {
    assert.equal((await ask('/api/fleet', { authorization: 'Bearer anna-token' })).status, 200);
    assert.equal((await ask('/api/fleet', { authorization: 'Bearer nobody' })).status, 401);
  });

  test('other sites cannot log anybody in, out, or ask', async () => {
    assert.equal((await logIn('anna-token', { origin: 'https://evil.test' })).status, 403);
    assert.equal((await logIn('anna-token', { 'sec-fetch-site': 'cross-site' })).status, 403);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    assert.equal((await ask('/session', form, 'POST', 'token=anna-token')).status, 400);
    assert.equal((await ask('/api/fleet', {}, 'POST')).status, 405);
  });

  test('a token is not taken over a network in clear text, and its cookie is for https then', async () => {
    const host = 'console.example.com';
    assert.equal((await logIn('anna-token', { host })).status, 403);
    const { status, headers } = await logIn('anna-token', { host, 'x-forwarded-proto': 'https' });
    assert.equal(status, 200);
    assert.match(headers['set-cookie']?.[0] ?? '', /; Secure$/);
  });

  test('a body without an end, or that is none, is refused', async () => {
    const statuses = await Promise.all(
      ['', '[]', 'null', '{"token":1}', `{"token":"${'x'.repeat(20_000)}"}`].map(
        async (body) => (await ask('/session', JSON_TYPE, 'POST', body)).status,
      ),
    );
    assert.deepEqual(statuses, [400, 400, 400, 400, 400]);
  });

  test('who fails too often waits, with whatever token; who is in stays in', async () => {
    const [set = ''] = (await logIn('anna-token')).headers['set-cookie'] ?? [];
    const statuses: number[] = [];
    for (let index = 0; index < MOST_FAILURES + 2; index++)
      statuses.push((await logIn(`wrong-${index}`)).status);
    assert.ok(statuses.includes(401));
    assert.equal(statuses.at(-1), 429);
    assert.equal((await logIn('anna-token')).status, 429);
    assert.equal((await ask('/api/fleet', { cookie: set.split(';')[0]! })).status, 200);
  });

  test('no log line has a token or a session in it', () => {
    const text = logged.join('');
    assert.match(text, /console login/);
    for (const secret of ['anna-token', 'short-lived', 'wrong-', 'isthmus-console='])
      assert.ok(!text.includes(secret));
  });
});
