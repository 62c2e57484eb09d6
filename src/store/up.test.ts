import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { createLog } from '../ops/log.ts';
import { readAllocation, startUp, writeAllocation } from './up.ts';

suite('the state of a folder that is served', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'isthmus-up-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  test('is what was written, and nothing is left beside it', () => {
    const allocation = {
      held: { 'a/b': { start: 9082, size: 4, nodes: [{ start: 0, end: 2, offset: 0 }] } },
      released: [],
    };
    writeAllocation(folder, allocation);
    assert.deepEqual(readAllocation(folder), allocation);
    assert.deepEqual(readdirSync(folder), ['ports.json']);
  });

  test('that cannot be read says which file, and what to do', () => {
    writeFileSync(join(folder, 'ports.json'), '{ "held": ');
    assert.throws(() => readAllocation(folder), /ports\.json \(.*; remove it/);
  });

  test('is remembered by itself for each port that was chosen', () => {
    const allocation = { held: { 'a/b': { start: 7000, size: 1, nodes: [] } }, released: [] };
    writeAllocation(folder, allocation, 'ports-7000.json');
    assert.deepEqual(readAllocation(folder, 'ports-7000.json'), allocation);
    assert.deepEqual(readAllocation(folder).held, {});
  });

  test('a port that another program has is refused with a sentence, before anything is started', async () => {
    const example = join(import.meta.dirname, '../../deploy/examples/quickstart');
    cpSync(example, folder, { recursive: true, filter: (path) => !path.includes('.isthmus') });
    await using taken = createServer();
    await new Promise<void>((ready) => taken.listen(0, '127.0.0.1', () => ready()));
    const { port } = taken.address() as AddressInfo;
    const told: string[] = [];
    const options = {
      folder,
      port,
      log: createLog('silent'),
      onChange: () => told.push('change'),
      onProgress: () => told.push('progress'),
    };
    await assert.rejects(startUp(options), (error: Error) => {
      assert.match(error.message, new RegExp(`another program has ports? ${port}\\b.* --port`));
      return true;
    });
    assert.deepEqual(told, []);
    assert.ok(!existsSync(join(folder, '.isthmus')));
  });

  test('needs a folder, not a file', async () => {
    const file = join(folder, 'a.yaml');
    writeFileSync(file, '');
    const options = { folder: file, log: createLog('silent'), onChange: () => {}, onProgress: () => {} };
    await assert.rejects(startUp(options), /there is no folder .*a\.yaml/);
  });
});
