import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import type { TrafficEntry } from '../../console/api.ts';
import { runProgram } from '../program.ts';
import type { Terminal } from '../terminal.ts';

const entry = (more: Partial<TrafficEntry>): TrafficEntry => ({
  at: Date.parse('2026-01-01T10:20:30.456Z'),
  virtualCluster: 'orders',
  client: '192.0.2.1',
  api: 'Produce',
  apiVersion: 12,
  topic: 'paid',
  verdict: 'forwarded',
  latencyMs: 1.234,
  requestBytes: 100,
  responseBytes: 40,
  ...more,
});

const BATCH = {
  entries: [
    entry({}),
    entry({ topic: 'other' }),
    entry({ api: undefined, verdict: 'closed', reason: 'bad_traffic', latencyMs: undefined }),
  ],
  missed: 7,
};

suite('isthmus tap', () => {
  let server: Server;
  let url: string;
  const asked: (string | undefined)[] = [];
  before(async () => {
    server = createServer((request, response) => {
      asked.push(request.url);
      if (request.url === '/tap') return response.writeHead(401).end('a bearer token is needed here\n');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // In pieces, as networks do.
      const text = `retry: 1\n\ndata: ${JSON.stringify(BATCH)}\n\n: \n\n`;
      response.write(text.slice(0, 40));
      return response.end(text.slice(40));
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', () => ready()));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  after(() => server.close());

  async function tap(...args: string[]) {
    const written = { out: '', err: '' };
    const terminal: Terminal = {
      out: (text) => void (written.out += text),
      err: (text) => void (written.err += text),
      exitCode: 0,
    };
    return { code: await runProgram(['tap', ...args], terminal), ...written };
  }

  test('prints a line a request, says how many it did not show, and ends with the stream', async () => {
    const { code, out, err } = await tap('--console', url);
    const [headings, ...lines] = out.trimEnd().split('\n');
    assert.match(headings!, /^TIME +CLIENT +VIRTUAL CLUSTER +API +TOPIC +VERDICT +LATENCY +BYTES IN +OUT$/);
    assert.match(
      lines[0]!,
      /^10:20:30\.456 +192\.0\.2\.1 +orders +Produce v12 +paid +forwarded +1\.2 ms +100 +40$/,
    );
    assert.match(lines[2]!, /connection .* closed .*bad_traffic$/);
    assert.match(err, /… and 7 more[^]*has ended[^]*\[CONSOLE_UNREACHABLE\]/);
    assert.equal(code, 3);
  });

  test('only what one asks for, for programs', async () => {
    const words = await tap('PAID', 'orders', '--verdict', 'forwarded', '--console', url, '-o', 'json');
    assert.deepEqual(
      words.out
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as TrafficEntry).topic),
      ['paid'],
    );
  });

  test('a proxy that wants a token says so', async () => {
    const { code, err } = await tap('--proxy', url);
    assert.deepEqual([code, asked.at(-1)], [3, '/tap']);
    assert.match(err, /it answers 401: a bearer token is needed here/);
  });

  test('an address that is none is wrong usage', async () => {
    assert.equal((await tap('--console', 'orders')).code, 2);
  });
});
