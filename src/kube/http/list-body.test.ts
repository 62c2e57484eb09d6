import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { turnsDuring } from '../../../test/support/turns.ts';
import { ApiError } from './errors.ts';
import { readListBody } from './list-body.ts';

async function* inChunks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const item = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 });

suite('the body of a list', () => {
  test('is read as JSON.parse reads it, wherever it is cut', async () => {
    const list = fc.record({
      kind: fc.string(),
      metadata: fc.dictionary(fc.constantFrom('items', 'continue', 'a"b', '\\'), fc.jsonValue()),
      items: fc.array(item, { maxLength: 5 }),
      more: fc.jsonValue(),
    });
    await fc.assert(
      fc.asyncProperty(list, fc.integer({ min: 1, max: 40 }), fc.nat(2), async (value, size, indent) => {
        for (const keys of [Object.keys(value), Object.keys(value).toReversed()]) {
          const ordered = Object.fromEntries(keys.map((key) => [key, value[key as keyof typeof value]]));
          const text = JSON.stringify(ordered, null, indent);
          assert.deepEqual(await readListBody(inChunks(text, size), 1e6), JSON.parse(text));
        }
      }),
    );
  });

  test('may have no items, or none at all', async () => {
    const read = (text: string) => readListBody(inChunks(text, 3), 1000);
    assert.deepEqual(await read('{"kind":"List","items":null}'), { kind: 'List', items: [] });
    assert.deepEqual(await read('{"kind":"List"}'), { kind: 'List', items: [] });
    assert.deepEqual(await read('{"metadata":{"items":[1]},"items":[]}'), {
      metadata: { items: [1] },
      items: [],
    });
  });

  test('is refused where it is broken, or too large', async () => {
    for (const text of [
      '',
      '{',
      '{"items":[{"a":1},{"b"]}',
      '{"items":[{"a":}]}',
      'no JSON',
      '{"items":[{}',
    ]) {
      const read = readListBody(inChunks(text, 2), 1000);
      await assert.rejects(read, (error) => error instanceof ApiError && error.reason === 'Malformed', text);
    }
    const large = readListBody(inChunks(JSON.stringify({ items: [{ a: 'x'.repeat(200) }] }), 50), 100);
    await assert.rejects(large, (error) => error instanceof ApiError && error.reason === 'TooLarge');
  });

  test('lets others work while a large one is read', async () => {
    const items = Array.from({ length: 20_000 }, (_, i) => ({
      metadata: { name: `n${i}` },
      data: 'x'.repeat(200),
    }));
    const body = JSON.stringify({ items });
    const { result, turns } = await turnsDuring(() => readListBody(inChunks(body, body.length), 1e8));
    assert.equal((result['items'] as unknown[]).length, items.length);
    assert.ok(turns > 100, `${turns} turns`);
  });
});
