import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { turnsDuring } from '../../../test/support/turns.ts';
import { createLog } from '../../ops/log.ts';
import { records, serveText } from '../../../test/support/dns/testing.ts';
import { parseName } from '../wire/name.ts';
import { createSnapshotFile } from './snapshot-file.ts';
import type { TestContext } from 'node:test';

const LIVE = `
  web.example.test     A     10.0.0.1
  web.example.test     A     10.0.0.2
  web.example.test     AAAA  fd00::1
  alias.example.test   CNAME web.example.test
  _k._tcp.example.test 77 SRV 1 2 9092 web.example.test
  text.example.test    TXT   "a \\"b\\"" "c"
`;

const ZONE = parseName('example.test')!;

/** A server and its snapshot, as startDns joins them. */
function open(
  t: TestContext,
  file = join(mkdtempSync(join(tmpdir(), 'isthmus-snapshot-')), 'records.jsonl'),
) {
  t.after(() => rmSync(join(file, '..'), { recursive: true, force: true }));
  const server = serveText('ns.example.test A 10.9.9.9');
  server.store.setReady(false);
  const snapshot = createSnapshotFile({
    file,
    store: server.store,
    serialsOf: [ZONE],
    log: createLog('silent'),
  });
  return { ...server, snapshot, file };
}

async function written(t: TestContext): Promise<string> {
  const { store, snapshot, file } = open(t);
  store.upsert('Service a/web', records(LIVE));
  store.upsert('config records', records('static.example.test A 10.0.0.9'));
  snapshot.replace();
  await snapshot.close();
  return file;
}

test('after a restart the records of before are served, until the clusters have been read', async (t) => {
  const { store, snapshot, ask } = open(t, await written(t));
  assert.equal(await snapshot.restore(), true);
  store.setReady(true);
  assert.equal(snapshot.isStale, true);
  assert.equal(ask('web.example.test', 'A').answer.length, 2);
  assert.deepEqual(ask('_k._tcp.example.test', 'SRV').answer, [
    '_k._tcp.example.test 77 SRV 1 2 9092 web.example.test',
  ]);
  assert.equal(ask('text.example.test', 'TXT').answer.length, 1);
  assert.equal(
    ask('static.example.test', 'A').rcode,
    'NXDOMAIN',
    'the configuration says what it has itself',
  );

  // What is live already wins, name by name, and nothing of it is rejected because of the snapshot.
  assert.deepEqual(store.upsert('Service a/web', records('web.example.test CNAME other.example.test')), []);
  assert.deepEqual(ask('web.example.test', 'CNAME').answer, ['web.example.test 30 CNAME other.example.test']);

  snapshot.replace();
  assert.equal(snapshot.isStale, false);
  await snapshot.settled();
  assert.equal(ask('alias.example.test', 'A').rcode, 'NXDOMAIN');
});

test('a file that is damaged, of another version, or missing is not used', async (t) => {
  const file = await written(t);
  const good = readFileSync(file, 'utf8');
  const refuses = async (text: string | undefined) => {
    if (text === undefined) rmSync(file, { force: true });
    else writeFileSync(file, text);
    const { snapshot, ask, store } = open(t, file);
    assert.equal(await snapshot.restore(), false);
    store.setReady(true);
    assert.equal(ask('web.example.test', 'A').rcode, 'NXDOMAIN');
  };
  await refuses(good.replace('10.0.0.1', '10.0.0.7'));
  await refuses(good.slice(0, -5));
  await refuses(good.replace('"isthmusDnsSnapshot":1', '"isthmusDnsSnapshot":2'));
  await refuses('');
  await refuses('not json\n');
  await refuses(undefined);
});

test('serials that were given are kept', async (t) => {
  const { store, snapshot, file } = open(t);
  store.setSerial(ZONE, 4711);
  snapshot.replace();
  await snapshot.close();
  const again = open(t, file);
  assert.equal(await again.snapshot.restore(), true);
  assert.equal(again.store.serialOf(ZONE), 4711);
});

test('twenty thousand names come and go without keeping others from their turn', async (t) => {
  const { store, snapshot, file } = open(t);
  for (let part = 0; part < 20; part++) {
    const lines = Array.from({ length: 1000 }, (_, i) => `s${part * 1000 + i}.example.test A 10.0.0.1`);
    store.upsert(`Service a/s${part}`, records(lines.join('\n')));
  }
  snapshot.replace();
  const writing = await turnsDuring(() => snapshot.close());
  const again = open(t, file);
  const reading = await turnsDuring(() => again.snapshot.restore());
  assert.equal(reading.result, true);
  const removing = await turnsDuring(() => {
    again.snapshot.replace();
    return again.snapshot.settled();
  });
  for (const [what, { turns }] of Object.entries({ writing, reading, removing }))
    assert.ok(turns >= 8, `${what}: ${turns}`);
});

test('nothing is written before the records are complete', async (t) => {
  const { store, snapshot, file } = open(t);
  store.upsert('Service a/web', records(LIVE));
  snapshot.touch();
  await snapshot.close();
  assert.equal(existsSync(file), false);
});
