import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { IsthmusError } from '../../ops/errors.ts';
import { createLog } from '../../ops/log.ts';
import { watchRecordsFile, loadRecords, readRecords } from './records-file.ts';
import type { TestContext } from 'node:test';

test('records come from a file, in YAML or JSON', (t) => {
  const folder = temporaryFolder(t);
  const [yaml, json] = [join(folder, 'records.yaml'), join(folder, 'records.json')];
  const record = { name: 'b.example.test', type: 'A' as const, data: '10.0.0.2' };
  writeFileSync(yaml, 'records:\n  - { name: b.example.test, type: A, data: 10.0.0.2 }\n');
  writeFileSync(json, JSON.stringify({ records: [record] }));
  assert.deepEqual([loadRecords(yaml), loadRecords(json)], [[record], [record]]);
  writeFileSync(json, '{');
  assert.throws(() => loadRecords(json), /cannot be read/);
});

test('a records file is followed; a broken one changes nothing', async (t) => {
  const file = join(temporaryFolder(t), 'records.yaml');
  const write = (data: string) =>
    writeFileSync(file, `records:\n  - { name: b.example.test, type: A, data: ${data} }\n`);
  const seen: string[] = [];
  const told: string[] = [];
  const log = createLog('silent');
  log.error = (fields: { problem: string }) => void told.push(fields.problem);
  write('10.0.0.1');
  const apply = async (records: readonly { data: string }[]) => void seen.push(records[0]!.data);
  t.after(await watchRecordsFile(file, apply, log, 20));
  const until = async (reached: () => boolean) => {
    while (!reached()) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  write('10.0.0.22');
  await until(() => seen.includes('10.0.0.22'));
  write('no address at all');
  await until(() => told.length > 0);
  write('10.0.0.3');
  await until(() => seen.includes('10.0.0.3'));
  assert.deepEqual([...new Set(seen)], ['10.0.0.1', '10.0.0.22', '10.0.0.3']);
  assert.match(told[0]!, /is not an IPv4 address/);
});

test('a large file is read beside the event loop, which goes on', async (t) => {
  const file = join(temporaryFolder(t), 'records.json');
  const records = Array.from({ length: 20_000 }, (_, i) => ({
    name: `h${i}.example.test`,
    type: 'A' as const,
    data: `10.0.${i >> 8}.${i & 255}`,
  }));
  writeFileSync(file, JSON.stringify({ records }));
  let turns = 0;
  let isOver = false;
  const tick = () => {
    turns++;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  const read = await readRecords(file);
  isOver = true;
  assert.deepEqual(read, records);
  assert.ok(turns >= 40, `${turns} turns, and 500 records at most in each`);
});

test('what is wrong with a file is said as if it was read here', async (t) => {
  const file = join(temporaryFolder(t), 'records.yaml');
  writeFileSync(file, 'records:\n  - { name: b.example.test, type: A, data: nonsense }\n');
  let here: unknown;
  try {
    loadRecords(file);
  } catch (error) {
    here = error;
  }
  await assert.rejects(readRecords(file), (error) => {
    assert.ok(error instanceof IsthmusError && here instanceof IsthmusError);
    assert.deepEqual([error.code, error.message, error.hint], [here.code, here.message, here.hint]);
    return true;
  });
  await assert.rejects(readRecords(join(file, 'none')), /cannot be read/);
});

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-dns-records-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}
