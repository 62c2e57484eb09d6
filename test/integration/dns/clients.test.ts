/** Other people's clients against our server: dig, kdig, CoreDNS forwarding to us, BIND as a secondary, the C libraries. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { readReply } from '../../support/dns/testing.ts';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { run, startServer, waitFor } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';
import { askAll } from './ask.ts';
import { startForwarder } from './forwarder.ts';
import { ensureMuslProgram } from './musl.ts';
import { startOurs } from './server.ts';
import { ensureDnsTools } from './tools.ts';
import type { DnsRecord } from '../../../src/dns/wire/record.ts';

const many: DnsRecord[] = Array.from({ length: 100 }, (_, i) => ({
  name: 'many.example.test',
  type: 'A',
  data: `10.0.1.${i}`,
}));
const records: DnsRecord[] = [
  { name: 'ns.example.test', type: 'A', data: '10.0.0.53' },
  { name: 'a.example.test', type: 'A', data: '10.0.0.1', ttl: 77 },
  { name: 'a.example.test', type: 'AAAA', data: 'fd00::1' },
  { name: 'www.example.test', type: 'CNAME', data: 'a.example.test' },
  { name: '_web._tcp.example.test', type: 'SRV', data: '1 2 80 a.example.test' },
  { name: 'text.example.test', type: 'TXT', data: '"two words" "and more"' },
  { name: '*.wild.example.test', type: 'A', data: '10.0.0.2' },
  ...many,
];
const config = { zones: [{ name: 'example.test' }], records, transferAllow: ['127.0.0.1'] };
const tools = await ensureDnsTools();

for (const client of ['dig', 'kdig']) {
  test(`${client} as a client`, async (t) => {
    await using server = await startOurs({ ...config, listen: ['127.0.0.1:0', '[::1]:0'] });
    const ask = async (...args: string[]) => {
      const { code, stdout, stderr } = await tools.run(client, [
        '@127.0.0.1',
        '-p',
        String(server.port),
        ...args,
      ]);
      assert.equal(code, 0, stderr + stdout);
      return stdout.replaceAll(/[ \t]+/g, ' ');
    };
    await t.test('answers of each type', async () => {
      assert.match(await ask('A.example.test', 'A'), /^a.example.test. 77 IN A 10.0.0.1$/im);
      assert.match(await ask('a.example.test', 'AAAA', '+short'), /^fd00::1$/m);
      assert.match(await ask('_web._tcp.example.test', 'SRV', '+short'), /^1 2 80 a.example.test.$/m);
      assert.match(await ask('text.example.test', 'TXT', '+short'), /^"two words" "and more"$/m);
      assert.match(await ask('www.example.test', 'A', '+short'), /a.example.test.\n10.0.0.1/);
      assert.match(await ask('x.wild.example.test', 'A', '+short'), /^10.0.0.2$/m);
    });
    await t.test('negative answers', async () => {
      assert.match(await ask('no.example.test', 'A'), /NXDOMAIN[^]*example.test. 10 IN SOA ns.example.test./);
      assert.match(await ask('a.example.test', 'TXT'), /NOERROR[^]*example.test. 10 IN SOA ns.example.test./);
      assert.match(await ask('a.elsewhere.test', 'A'), /REFUSED/);
    });
    await t.test('TCP, IPv6, without EDNS, with DO', async () => {
      assert.match(await ask('a.example.test', 'A', '+tcp', '+short'), /^10.0.0.1$/m);
      assert.match(await ask('a.example.test', 'A', '+noedns', '+short'), /^10.0.0.1$/m);
      assert.match(await ask('a.example.test', 'A', '+dnssec'), /flags: do/i);
      const six = await tools.run(client, ['@::1', '-p', String(server.port), 'a.example.test', '+short']);
      assert.match(six.stdout, /^10.0.0.1$/m);
    });
    await t.test('a truncated answer is fetched again over TCP', async () => {
      const whole = await ask('many.example.test', 'A', '+short');
      assert.equal(whole.match(/^10\.0\.1\.\d+$/gm)?.length, 100);
      const cut = await ask('many.example.test', 'A', '+ignore', '+noedns');
      assert.match(cut, /flags:[^;]* tc/i);
    });
    await t.test('zone transfer', async () => {
      const lines = (await ask('example.test', 'AXFR')).match(/^\S+ \d+ IN .*$/gm)!;
      assert.equal(lines.length, records.length + 3);
    });
    await t.test('cookies: one is given, and accepted', async () => {
      const args = client === 'dig' ? ['+cookie'] : ['+cookie=0102030405060708'];
      // The client's 8 bytes, and 16 of ours behind them.
      const given = /COOKIE: ([0-9a-f]{48})\b/i.exec(await ask('a.example.test', 'A', ...args))?.[1];
      assert.ok(given);
      const again = await ask('a.example.test', 'A', `+cookie=${given}`);
      assert.match(again, /NOERROR[^]*COOKIE: [0-9a-f]{48}\b[^]*10\.0\.0\.1/i);
    });
  });
}

test('the rate limit: clients without a cookie are sent to TCP, those with one are not limited', async () => {
  await using server = await startOurs({
    ...config,
    rateLimit: { responsesPerSecond: 1, slip: 1, exempt: [] },
  });
  const at = ['@127.0.0.1', '-p', String(server.port), 'a.example.test', 'A'];
  // Others of the same network use up what room there is, however slow the machine.
  const again = Array.from({ length: 20 }, () => ({ name: 'a.example.test', type: 'A' }));
  const over = new AbortController();
  let limited = 0;
  const crowd = (async () => {
    while (!over.signal.aborted)
      for (const reply of await askAll(server.port, again)) limited += Number(readReply(reply).truncated);
  })();
  try {
    await waitFor('answers beyond the limit', async () => limited > 0);
    await waitFor('dig to come back over TCP', async () => {
      const { stdout } = await tools.run('dig', [...at, '+nocookie']);
      assert.match(stdout, /10.0.0.1/);
      return stdout.includes('(TCP)');
    });
  } finally {
    over.abort();
    await crowd;
  }
  const first = await tools.run('dig', [...at, '+tcp', '+qr']);
  const cookie = [...first.stdout.matchAll(/COOKIE: ([0-9a-f]{48})/g)].at(-1)![1]!;
  for (let i = 0; i < 3; i++) {
    const { stdout } = await tools.run('dig', [...at, `+cookie=${cookie}`, '+ignore', '+notcp']);
    assert.match(stdout, /flags: qr aa rd; [^]*10.0.0.1/);
  }
  assert.match(await server.metrics(), /isthmus_dns_rate_slipped_total [1-9]/);
});

test('CoreDNS forwards a zone to us, as a cluster’s own DNS does', async () => {
  await using server = await startOurs({ ...config, listen: ['127.0.0.1:0'] });
  await using core = await startForwarder('example.test', server.port);
  const dig = async (...args: string[]) =>
    (await tools.run('dig', ['@127.0.0.1', '-p', String(core.port), ...args])).stdout;
  assert.match(await dig('a.example.test', 'A', '+short'), /10.0.0.1/);
  assert.match(await dig('no.example.test', 'A'), /NXDOMAIN/);
  assert.match(await dig('a.example.test', 'TXT'), /NOERROR/);
  assert.equal((await dig('many.example.test', 'A', '+short')).match(/10\.0\.1\./g)?.length, 100);
  assert.match(await dig('x.wild.example.test', 'A', '+short'), /10.0.0.2/);
});

test('BIND as a secondary takes the zone over and answers the same', async () => {
  await using server = await startOurs(config);
  const folder = workspace('secondary');
  await using ports = await reservePorts(1);
  const [port] = ports.numbers as [number];
  await writeFile(
    join(folder, 'named.conf'),
    `options { directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}"; listen-on port ${port} { 127.0.0.1; };
       listen-on-v6 { none; }; recursion no; notify no; dnssec-validation no; minimal-responses no-auth; };
     controls { };
     zone "example.test" { type secondary; file "copy"; masterfile-format text; primaries port ${server.port} { 127.0.0.1; }; };`,
  );
  const named = startServer('named', 'named', ['-g', '-c', join(folder, 'named.conf')], {
    logFile: join(folder, 'log'),
    env: tools.env,
  });
  try {
    const questions = ['a', 'www', 'x.wild', 'many', 'no'].map((label) => ({
      name: `${label}.example.test`,
      type: 'A',
    }));
    const answers = async (at: number) =>
      (await askAll(at, questions, { payload: 4096 })).map((reply) => {
        const { rcode, answer, truncated } = readReply(reply);
        return { rcode, answer: truncated ? [] : answer.toSorted() };
      });
    const isTransferred = async () => (await answers(port))[0]!.rcode === 'NOERROR';
    await waitFor('transfer', () => isTransferred().catch(() => false));
    assert.deepEqual(await answers(port), await answers(server.port));
  } finally {
    await named.stop();
  }
});

const canUnshare = spawnSync('unshare', ['--net', '--mount', 'true']).status === 0;
test(
  'the resolvers of glibc and musl',
  { skip: canUnshare ? false : 'needs the right to make network and mount namespaces' },
  async () => {
    const program = await ensureMuslProgram(tools);
    const script = join(import.meta.dirname, 'inside-namespace.ts');
    const { code, stdout, stderr } = await run('unshare', [
      '--net',
      '--mount',
      process.execPath,
      script,
      program,
      workspace('inside'),
    ]);
    assert.equal(code, 0, stderr);
    const seen = JSON.parse(stdout) as Record<string, string>;
    for (const library of ['glibc', 'musl']) {
      assert.match(seen[`${library} a.example.test`]!, /10\.0\.0\.1/);
      assert.match(seen[`${library} a.example.test`]!, /fd00::1/);
      assert.match(seen[`${library} www.example.test`]!, /10\.0\.0\.1/);
      assert.match(seen[`${library} a`]!, /10\.0\.0\.1/, 'by the search list');
      assert.equal(seen[`${library} no.example.test`]!.trim(), '');
      // Too large for plain UDP: glibc comes back over TCP, and musl does so from 1.2.4 on.
      const addresses = seen[`${library} many.example.test`]!.match(/10\.0\.1\.\d+/g)?.length ?? 0;
      assert.ok(library === 'glibc' ? addresses === 60 : addresses >= 28, `${library}: ${addresses} of 60`);
    }
  },
);
