import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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

  test('needs a folder, not a file', async () => {
    const file = join(folder, 'a.yaml');
    writeFileSync(file, '');
    const options = { folder: file, log: createLog('silent'), onChange: () => {}, onProgress: () => {} };
    await assert.rejects(startUp(options), /there is no folder .*a\.yaml/);
  });
});
