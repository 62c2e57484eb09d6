import assert from 'node:assert/strict';
import { mock, suite, test } from 'node:test';
import { MalformedMessage } from '../malformed.ts';
import { cutBatches } from './batch.ts';
import { isResting, letRest } from './compression-thread.ts';
import { compress, decompressAside } from './compression.ts';
import { beginBatch, isWhole, roomForMessage, unpackAside } from './unpack.ts';
import { encodeBatch } from './write.ts';

const KIB = 1024;
const batchOf = (bytes: number, compression: 'none' | 'gzip' | 'zstd' = 'gzip') => {
  const value = Buffer.alloc(bytes, 'abc');
  const record = { offsetDelta: 0, timestampDelta: 0, key: null, value, headers: [] };
  return cutBatches(encodeBatch({ compression }, [record])).unread[0]!;
};

suite('the room for what is unpacked of a message', () => {
  test('what its batches unpack to is taken from it, and what is more than it holds is refused', async () => {
    const room = roomForMessage(250 * KIB);
    for (const compression of ['gzip', 'zstd'] as const) {
      const batch = await unpackAside(batchOf(100 * KIB, compression), {}, room);
      assert.equal([...batch.records()][0]!.value!.length, 100 * KIB);
    }
    assert.ok(room.left > 0 && room.left < 50 * KIB, `${room.left}`);
    await assert.rejects(unpackAside(batchOf(100 * KIB), {}, room), MalformedMessage);
    assert.equal(room.left, 0);
    // Not even a little, which would have fitted before.
    await assert.rejects(unpackAside(batchOf(10), {}, room), MalformedMessage);
    await unpackAside(batchOf(100 * KIB, 'none'), {}, room); // takes what it took to send
  });

  test('records that are broken have taken what may have been unpacked of them', async () => {
    const room = roomForMessage();
    const { magic, bytes } = batchOf(20_000 * KIB);
    await assert.rejects(unpackAside({ magic, bytes }, {}, room), MalformedMessage); // far more than was sent
    assert.equal(room.size - room.left, 4096 * KIB);
  });

  test('a batch begins only where there is room for whatever it may unpack to, or for all that there ever is', () => {
    const [packed, plain] = [batchOf(10), batchOf(10, 'none')];
    const room = roomForMessage(4 * 1024 * KIB);
    assert.ok(beginBatch(room, packed)); // it is whole
    assert.ok(!isWhole(room));
    assert.equal(beginBatch(room, packed), false);
    assert.ok(beginBatch(room, plain));
    room.left = 0;
    assert.equal(beginBatch(room, plain), false);
    assert.equal(beginBatch(room, { magic: 1, bytes: Buffer.alloc(20) }), false);
  });

  test('whoever sends more than there is room for waits afterwards, with what is short, too; others do not', async () => {
    let now = 1_000_000;
    const clock = mock.method(performance, 'now', () => now);
    try {
      const [hostile, other] = [{}, {}];
      const room = roomForMessage(50 * KIB);
      now += 100;
      await assert.rejects(unpackAside(batchOf(100 * KIB), hostile, room), MalformedMessage);
      assert.equal(isResting(hostile), true);
      assert.equal(isResting(other), false);
      now += 899;
      assert.equal(isResting(hostile), true);
      now += 2;
      assert.equal(isResting(hostile), false);
    } finally {
      clock.mock.restore();
    }
    const short = compress('gzip', Buffer.from('short'));
    const [hostile, other] = [{}, {}];
    letRest(hostile, 1000);
    const unpacked = decompressAside('gzip', short, KIB, hostile);
    assert.ok(unpacked instanceof Promise && Buffer.isBuffer(decompressAside('gzip', short, KIB, other)));
    assert.equal((await unpacked).toString(), 'short');
  });
});
