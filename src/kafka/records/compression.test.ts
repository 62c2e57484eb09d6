import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { suite, test } from 'node:test';
import { MalformedMessage } from '../malformed.ts';
import { checksumInTurns, checksumOf } from './checksum.ts';
import { compress, compressAside, COMPRESSIONS, decompress, decompressAside } from './compression.ts';

const MIB = 1024 * 1024;
const mixed = (size: number) => Buffer.concat([randomBytes(size / 2), Buffer.alloc(size / 2, 'abc')]);

suite('compression aside', () => {
  for (const kind of COMPRESSIONS.filter((each) => each !== 'none')) {
    test(`${kind}: what is short is done at once, what is long in another thread, with the same result`, async () => {
      for (const [size, aside] of [
        [1000, false],
        [3 * MIB, true],
      ] as const) {
        const data = mixed(size);
        const compressed = compressAside(kind, data);
        assert.equal(compressed instanceof Promise, aside);
        assert.deepEqual(decompress(kind, await compressed, size), data);
        const plain = decompressAside(kind, compress(kind, data), size);
        assert.equal(plain instanceof Promise, aside);
        assert.deepEqual(await plain, data);
      }
    });

    test(`${kind}: short data that becomes long goes to another thread, and no further than its limit`, async () => {
      const bomb = compress(kind, Buffer.alloc(4 * MIB));
      const unpacked = decompressAside(kind, bomb, 4 * MIB);
      assert.ok(unpacked instanceof Promise);
      assert.equal((await unpacked).length, 4 * MIB);
      await assert.rejects(async () => decompressAside(kind, bomb, 3 * MIB), MalformedMessage);
      await assert.rejects(async () => decompressAside(kind, bomb, 1000), MalformedMessage);
    });

    test(`${kind}: broken data is refused in either thread, and the thread goes on`, async () => {
      const long = compress(kind, mixed(3 * MIB));
      const broken = long.subarray(0, long.length - 100);
      await assert.rejects(async () => decompressAside(kind, broken, 64 * MIB), MalformedMessage);
      await assert.rejects(async () => decompressAside(kind, broken.subarray(0, 500), MIB), MalformedMessage);
      assert.equal((await decompressAside(kind, long, 3 * MIB)).length, 3 * MIB);
    });
  }
});

test('a checksum made piece by piece is the checksum', async () => {
  for (const size of [100, 524_288, 524_289, 1_048_597, 3_000_000]) {
    const batch = randomBytes(size);
    let turns = 0;
    assert.equal(await checksumInTurns(batch, () => void turns++), checksumOf(batch), `${size} bytes`);
    assert.equal(turns, size <= 524_288 ? 0 : Math.floor((size - 21) / 524_288));
  }
});
