import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { kafkaSchemas } from '../../../tools/kafka-schemas.ts';

test('the schemas are those of the Kafka that the testbed runs', async () => {
  for (const [name, text] of await kafkaSchemas()) {
    const written = readFileSync(join(import.meta.dirname, '../../../src/kafka/schemas', name), 'utf8');
    assert.ok(written === text, `${name} is out of date: run \`node tools/run.mjs tools/kafka-schemas.ts\``);
  }
});
