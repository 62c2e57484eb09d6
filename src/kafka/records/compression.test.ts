import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { suite, test } from 'node:test';
import { MalformedMessage } from '../malformed.ts';
import { checksumInTurns, checksumOf } from './checksum.ts';
import { compress, compressAside, COMPRESSIONS, decompress, decompressAside } from './compression.ts';

const MIB = 1024 * 1024;
const owner = {};
const mixed = (size: number) => Buffer.concat([randomBytes(size / 2), Buffer.alloc(size / 2, 'abc')]);

suite('compression aside', () => {
  for (const kind of COMPRESSIONS.filter((each) => each !== 'none')) {
    test(`${kind}: what is short is done at once, what is long in another thread, with the same result`, async () => {
      for (const [size, aside] of [
        [1000, false],
        [3 * MIB, true],
      ] as const) {
        const data = mixed(size);
        const compressed = compressAside(kind, data, owner);
        assert.equal(compressed instanceof Promise, aside);
        assert.deepEqual(decompress(kind, await compressed, size), data);
        const plain = decompressAside(kind, compress(kind, data), size, owner);
        assert.equal(plain instanceof Promise, aside);
        assert.deepEqual(await plain, data);
      }
    });

    test(`${kind}: short data that becomes long goes to another thread, and no further than its limit`, async () => {
      const bomb = compress(kind, Buffer.alloc(4 * MIB));
      const unpacked = decompressAside(kind, bomb, 4 * MIB, owner);
      assert.ok(unpacked instanceof Promise);
      assert.equal((await unpacked).length, 4 * MIB);
      await assert.rejects(async () => decompressAside(kind, bomb, 3 * MIB, owner), MalformedMessage);
      await assert.rejects(async () => decompressAside(kind, bomb, 1000, owner), MalformedMessage);
    });

    test(`${kind}: broken data is refused in either thread, and the thread goes on`, async () => {
      const long = compress(kind, mixed(3 * MIB));
      const broken = long.subarray(0, long.length - 100);
      await assert.rejects(async () => decompressAside(kind, broken, 64 * MIB, owner), MalformedMessage);
      await assert.rejects(
        async () => decompressAside(kind, broken.subarray(0, 500), MIB, owner),
        MalformedMessage,
      );
      assert.equal((await decompressAside(kind, long, 3 * MIB, owner)).length, 3 * MIB);
    });
  }
});

test('nobody waits for more than one job of each other, however many there are', async () => {
  const [many, one] = [{}, {}];
  const bomb = compress('gzip', Buffer.alloc(16 * MIB));
  const order: string[] = [];
  const refused = Array.from({ length: 8 }, async () => {
    await assert.rejects(async () => decompressAside('gzip', bomb, 8 * MIB, many), MalformedMessage);
    order.push('many');
  });
  const done = Promise.resolve(decompressAside('zstd', compress('zstd', mixed(MIB)), MIB, one)).then(() =>
    order.push('one'),
  );
  await Promise.all([...refused, done]);
  assert.deepEqual(order.indexOf('one'), 1, order.join(' '));
  assert.equal(order.length, 9);
});

test('who sends what is refused waits for long after it, and nobody else does', async () => {
  const [many, one] = [{}, {}];
  const data = Buffer.alloc(8 * MIB);
  const [bomb, good] = [compress('gzip', Buffer.alloc(16 * MIB)), compress('gzip', data)];
  const refused = Array.from({ length: 4 }, () =>
    assert.rejects(async () => decompressAside('gzip', bomb, 8 * MIB, many), MalformedMessage),
  );
  const over = new AbortController();
  const allRefused = Promise.all(refused).finally(() => over.abort());
  let done = 0;
  for (; !over.signal.aborted; done++) await decompressAside('gzip', good, 8 * MIB, one);
  await allRefused;
  assert.ok(done > 8, `${done} of the others' meanwhile`); // about as long each: by turns there would be four
});

test('what is refused in the other thread leaves no garbage in this one', async () => {
  const bomb = compress('gzip', Buffer.alloc(8 * MIB));
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries() as (PerformanceEntry & { detail: { kind: number } })[])
      if (detail.kind !== constants.NODE_PERFORMANCE_GC_MINOR) collections += 1;
  });
  observer.observe({ entryTypes: ['gc'] });
  for (let i = 0; i < 100; i++)
    await assert.rejects(async () => decompressAside('gzip', bomb, 7 * MIB, {}), MalformedMessage);
  observer.disconnect();
  assert.ok(collections < 8, `${collections} collections of the whole heap`);
});

test('a checksum made piece by piece is the checksum', async () => {
  for (const size of [100, 524_288, 524_289, 1_048_597, 3_000_000]) {
    const batch = randomBytes(size);
    let turns = 0;
    assert.equal(await checksumInTurns(batch, () => void turns++), checksumOf(batch), `${size} bytes`);
    assert.equal(turns, size <= 524_288 ? 0 : Math.floor((size - 21) / 524_288));
  }
});
