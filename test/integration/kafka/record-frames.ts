// Writes test/fixtures/kafka-frames: what real clients and a real broker said to each other, one of each kind.
// Run it with `node tools/run.mjs test/integration/kafka/record-frames.ts` when clients or Kafka are new.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVERYTHING, converse } from './conversations.ts';
import type { Heard } from './tap.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/kafka-frames');
/** Of each client, API, version and side, so many frames, none longer than this. */
const KEPT = 2;
const LONGEST = 3000;

const kept = new Map<string, Heard[]>();
await converse(EVERYTHING, (heard) => {
  const kind = `${heard.speaker} ${heard.apiKey} ${heard.version} ${heard.side}`;
  const frames = kept.get(kind) ?? [];
  const isNew = !frames.some((each) => each.frame.subarray(12).equals(heard.frame.subarray(12)));
  if (frames.length < KEPT && heard.frame.length <= LONGEST && isNew) kept.set(kind, [...frames, heard]);
});

mkdirSync(FOLDER, { recursive: true });
const bySpeaker = Map.groupBy([...kept.values()].flat(), ({ speaker }) => speaker);
for (const [speaker, frames] of bySpeaker) {
  const lines = frames
    .toSorted((a, b) => a.apiKey - b.apiKey || a.version - b.version)
    .map(({ side, apiKey, version, frame }) => `${side} ${apiKey} ${version} ${frame.toString('base64')}\n`);
  writeFileSync(join(FOLDER, `${speaker}.txt`), lines.join(''));
  console.log(`${speaker}: ${lines.length} frames, ${lines.join('').length} bytes`);
}
