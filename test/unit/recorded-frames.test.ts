/** Frames that real clients and a real broker once exchanged; test/integration/kafka/record-frames.ts recorded them. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { suite, test } from 'node:test';
import type { Heard } from '../integration/kafka/tap.ts';
import { verifyFrame } from '../integration/kafka/verify.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/kafka-frames');

function readFrames(file: string): Heard[] {
  const lines = readFileSync(join(FOLDER, file), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [side, apiKey, version, frame = ''] = line.split(' ');
    return {
      speaker: basename(file, '.txt'),
      side: side as Heard['side'],
      apiKey: Number(apiKey),
      version: Number(version),
      frame: Buffer.from(frame, 'base64'),
    };
  });
}

suite('recorded frames', () => {
  const files = globSync('*.txt', { cwd: FOLDER }).toSorted();

  for (const file of files) {
    test(`of ${basename(file, '.txt')} come back to the byte`, () => {
      for (const frame of readFrames(file)) verifyFrame(frame);
    });
  }

  test('are of six speakers and of many APIs', () => {
    assert.equal(files.length, 6);
    const apis = new Set(files.flatMap(readFrames).map(({ apiKey }) => apiKey));
    assert.ok(apis.size >= 40, `${apis.size} APIs`);
  });
});
