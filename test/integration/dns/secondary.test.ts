/** Secondaries of our zones: real BIND and Knot, told of changes and signed for, and replicas that show the same serials. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { readReply } from '../../support/dns/testing.ts';
import { workspace } from '../../support/workspace.ts';
import { askAll } from './ask.ts';
import { SECONDARIES, reservePort } from './secondary-servers.ts';
import { startOurs } from './server.ts';
import { ensureDnsTools } from './tools.ts';
import type { DnsTools } from './tools.ts';
import type { TestServer } from './server.ts';

const ZONE = 'example.test';
const key = { name: 'copy.test', secret: randomBytes(32).toString('base64') };
const PATIENT = { timeoutMs: 180_000, everyMs: 100 };

async function ask(port: number, name: string, type: string): Promise<string[]> {
  const [bytes] = await askAll(port, [{ name, type }]).catch(() => []);
  return bytes ? readReply(bytes).answer : [];
}
const addressAt = async (port: number, name: string) => (await ask(port, name, 'A'))[0]?.split(' ').at(-1);
const serialAt = async (port: number) => Number((await ask(port, ZONE, 'SOA'))[0]?.split(' ')[5] ?? 0);
const untilAddress = (port: number, name: string, address: string) =>
  waitFor(`${name} at port ${port}`, async () => (await addressAt(port, name)) === address, PATIENT);

suite('secondaries', () => {
  let tools: DnsTools;
  let secretFile: string;
  before(async () => {
    tools = await ensureDnsTools();
    const folder = workspace('secondary-keys');
    await mkdir(folder, { recursive: true });
    await writeFile((secretFile = join(folder, 'copy')), `${key.secret}\n`);
  });
  const keyed = () => ({
    zones: [{ name: ZONE, retry: 1 }],
    tsigKeys: [{ name: key.name, secretFile }],
    transferKeys: [key.name],
  });
  const dig = async (port: number, ...args: string[]) =>
    (await tools.run('dig', ['@127.0.0.1', '-p', String(port), '+time=30', '+tries=1', ...args])).stdout;

  for (const [name, start] of Object.entries(SECONDARIES)) {
    test(`${name} copies a zone by a key, and has a change as soon as it is told of it`, async () => {
      await using at = await reservePort();
      const notify = [{ address: `127.0.0.1:${at.port}`, key: key.name }];
      await using server = await startOurs({ ...keyed(), notify });
      server.upsert('a', [{ name: 'a.example.test', type: 'A', data: '10.0.0.1' }]);
      await using stack = new AsyncDisposableStack();
      stack.use(
        await start({
          tools,
          zone: ZONE,
          port: at.port,
          primaryPorts: [server.port],
          key,
        }),
      );
      await untilAddress(at.port, 'a.example.test', '10.0.0.1');
      // Without NOTIFY it would ask in an hour.
      server.upsert('a', [{ name: 'a.example.test', type: 'A', data: '10.0.0.2' }]);
      await untilAddress(at.port, 'a.example.test', '10.0.0.2');
      assert.equal(await serialAt(at.port), await serialAt(server.port));
      const line = /isthmus_dns_notifications_total\{result="answered"\} [1-9]/;
      await waitFor('the response', async () => line.test(await server.metrics()), PATIENT);
    });
  }

  test('who has no key, another one, or a wrong secret gets no zone; a large one is signed throughout', async () => {
    await using server = await startOurs(keyed());
    const names = Array.from({ length: 3000 }, (_, i) => `h${i}.example.test`);
    server.upsert(
      'a',
      names.map((name) => ({ name, type: 'A', data: '10.0.0.1' })),
    );
    const transfer = ['AXFR', ZONE];
    assert.match(await dig(server.port, ...transfer), /Transfer failed/);
    const wrong = randomBytes(32).toString('base64');
    for (const used of [`hmac-sha256:${key.name}:${wrong}`, `hmac-sha256:other.test:${key.secret}`])
      assert.match(await dig(server.port, '-y', used, ...transfer), /Transfer failed|NOTAUTH|BADKEY|BADSIG/);
    const whole = await dig(server.port, '-y', `hmac-sha256:${key.name}:${key.secret}`, ...transfer);
    assert.equal(whole.match(/^h\d+\.example\.test\.\s/gm)?.length, 3000);
    assert.doesNotMatch(whole, /verify|failed/i);
    const udp = await dig(server.port, '-y', `hmac-sha256:${key.name}:${key.secret}`, 'h7.example.test', 'A');
    assert.match(udp, /status: NOERROR[^]*10\.0\.0\.1[^]*TSIG/);
    assert.doesNotMatch(udp, /couldn't verify|expected a TSIG/i);
  });

  test('replicas show the same serial, and give nobody an older zone for it', async () => {
    const start = () => startOurs(keyed(), { serials: 'given' });
    await using one = await start();
    await using two = await start();
    const put = (server: TestServer, data: string) =>
      server.upsert('a', [{ name: 'a.example.test', type: 'A', data }]);
    const version = (serial: number) => ({ serial, content: one.versions.contents().get(ZONE)! });
    const show = (serial: number) => {
      const shown = version(serial);
      for (const server of [one, two]) server.versions.setVersion(ZONE, shown);
    };
    for (const server of [one, two]) put(server, '10.0.0.1');
    show(100);
    const transfer = (server: TestServer) =>
      dig(server.port, '-y', `hmac-sha256:${key.name}:${key.secret}`, 'AXFR', ZONE);
    for (const server of [one, two]) assert.match(await transfer(server), /10\.0\.0\.1/);
    put(one, '10.0.0.2');
    show(101);
    assert.deepEqual([await serialAt(one.port), await serialAt(two.port)], [101, 101]);
    assert.match(await transfer(one), /10\.0\.0\.2/);
    assert.match(await transfer(two), /Transfer failed/);
    put(two, '10.0.0.2');
    assert.match(await transfer(two), /10\.0\.0\.2/);
    put(two, '10.0.0.3');
    assert.match(await transfer(two), /10\.0\.0\.3/, 'newer than the serial says: the next one follows');
  });

  test('a secondary of two replicas, one of them behind, never goes back to what it had', async () => {
    await using at = await reservePort();
    await using one = await startOurs(keyed(), { serials: 'given' });
    await using two = await startOurs(keyed(), { serials: 'given' });
    const zone = { zone: ZONE, port: at.port, primaryPorts: [two.port, one.port] };
    const put = (server: TestServer, i: number) =>
      server.upsert('a', [{ name: 'a.example.test', type: 'A', data: `10.0.0.${i}` }]);
    for (const server of [one, two]) {
      put(server, 1);
      server.versions.setVersion(ZONE, { serial: 100, content: one.versions.contents().get(ZONE)! });
    }
    await using stack = new AsyncDisposableStack();
    stack.use(await SECONDARIES.bind({ tools, key, ...zone }));
    await untilAddress(at.port, 'a.example.test', '10.0.0.1');
    put(one, 2);
    const shown = { serial: 101, content: one.versions.contents().get(ZONE)! };
    for (const server of [one, two]) server.versions.setVersion(ZONE, shown);
    // Only one of them has it, and the other is the first to be asked. Told by hand, with the same program's tools.
    await waitFor(
      'the newer one',
      async () => {
        await tell(at.port);
        return (await addressAt(at.port, 'a.example.test')) === '10.0.0.2';
      },
      { ...PATIENT, everyMs: 1000 },
    );
    assert.equal(await serialAt(at.port), 101);
  });

  /** Sends NOTIFY, as our server does. */
  async function tell(port: number): Promise<void> {
    const notify = [{ address: `127.0.0.1:${port}`, key: key.name }];
    await using server = await startOurs({ ...keyed(), notify }, { serials: 'given' });
    server.versions.announce(ZONE);
    const isTold = async () => /notifications_total\{result="answered"\} 1/.test(await server.metrics());
    await waitFor('the response', isTold, PATIENT);
  }
});
