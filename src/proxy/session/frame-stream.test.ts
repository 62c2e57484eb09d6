import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ClusterBudget } from '../net/byte-budget.ts';
import { MemoryAccount, OverBudget, ProcessBudget } from '../net/byte-budget.ts';
import { BadTraffic, FrameStream, GATHER, MORE, PASS, WAIT } from './frame-stream.ts';
import type { Decision, FrameRules } from './frame-stream.ts';

/** Frames of this made-up protocol begin with a byte that says what to do with them, and one that says how long a head is. */
const HEAD = 6;

/** A stream and what it has written; frames that it gathers are taken as soon as they are whole. */
function recorder(budget = 1e9) {
  let begun = 0;
  const written: Buffer[] = [];
  const self = {
    stopBefore: Infinity,
    written,
    stream: undefined as unknown as FrameStream,
    feed,
    mayWait: false,
    cluster: undefined as unknown as ClusterBudget,
  };
  const limits = {
    maxBufferedBytes: budget,
    maxBufferedBytesPerVirtualCluster: 1e9,
    maxBufferedBytesPerConnection: 1e9,
  };
  const cluster = { process: new ProcessBudget(), used: { value: 0 }, waits: { value: 0 } };
  const account = new MemoryAccount(cluster, limits, () => {});
  const rules: FrameRules = {
    minHead: HEAD,
    maxFrame: 100_000,
    firstGather: 100,
    mayBegin: () => begun < self.stopBefore,
    decide(bytes, at, end): Decision {
      if (end - at < HEAD + bytes[at + 5]!) return MORE;
      if (self.mayWait) return WAIT;
      begun++;
      return bytes[at + 4]! % 2 === 0 ? PASS : GATHER;
    },
    badLength: (length) => `length ${length}`,
    account,
  };
  self.cluster = cluster;
  self.stream = new FrameStream(rules, (bytes) => void written.push(Buffer.from(bytes)));
  function feed(bytes: Buffer, at: number, end: number): number {
    for (;;) {
      at = self.stream.feed(bytes, at, end);
      if (!self.stream.frame) return at;
      written.push(transformed(self.stream.frame));
      self.stream.release()?.();
    }
  }
  return self;
}

const transformed = (frame: Buffer) => Buffer.concat([Buffer.from('<'), frame, Buffer.from('>')]);

const frame = fc
  .tuple(fc.nat(1), fc.nat(20), fc.oneof(fc.nat(40), fc.nat(3000)), fc.nat(255))
  .map(([kind, head, body, fill]) => {
    const bytes = Buffer.alloc(HEAD + head + body, fill);
    bytes.writeInt32BE(bytes.length - 4, 0);
    bytes[4] = kind;
    bytes[5] = head;
    return bytes;
  });

/** Feeds in pieces, each in the same buffer, which is spoilt in between: nothing may be kept that is not copied. */
function feedInPieces(stream: ReturnType<typeof recorder>, bytes: Buffer, sizes: number[]): void {
  const shared = Buffer.alloc(4096);
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = Math.min(sizes[i % sizes.length]!, bytes.length - at, shared.length);
    bytes.copy(shared, 0, at, at + size);
    assert.equal(stream.feed(shared, 0, size), size);
    shared.fill(0xee);
    at += size;
  }
}

test('in whatever pieces it comes, every frame comes out once, in order, as it was decided', () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 1, maxLength: 6 }),
      (frames, sizes) => {
        const recorded = recorder();
        feedInPieces(recorded, Buffer.concat(frames), sizes);
        const expected = frames.map((each) => (each[4]! % 2 === 0 ? each : transformed(each)));
        assert.deepEqual(Buffer.concat(recorded.written), Buffer.concat(expected));
        assert.ok(recorded.stream.atBoundary);
      },
    ),
    { numRuns: 300 },
  );
});

const plain = (length: number, kind = 0) => {
  const bytes = Buffer.alloc(length, 7);
  bytes.writeInt32BE(length - 4, 0);
  bytes[4] = kind;
  bytes[5] = 0;
  return bytes;
};

const lengths = (written: Buffer[]) => written.map(({ length }) => length);

test('a chunk of several frames that pass is one write', () => {
  const { stream, written } = recorder();
  stream.feed(Buffer.concat([plain(20), plain(30), plain(40)]), 0, 90);
  assert.deepEqual(lengths(written), [90]);
});

test('bytes of a frame that passes do not wait for the rest of it', () => {
  const { stream, written } = recorder();
  stream.feed(plain(5000), 0, 1000);
  assert.deepEqual(lengths(written), [1000]);
  assert.equal(stream.left, 4000);
  assert.equal(stream.atBoundary, false);
});

test('it stops behind a frame that is wanted whole, until that is released', () => {
  const { stream, written } = recorder();
  const bytes = Buffer.concat([plain(20), plain(30, 1), plain(40)]);
  assert.equal(stream.feed(bytes, 0, 90), 50);
  assert.equal(stream.frame?.length, 30);
  assert.equal(stream.atBoundary, false);
  assert.equal(stream.feed(bytes, 50, 90), 50);
  stream.release()?.();
  assert.equal(stream.feed(bytes, 50, 90), 90);
  assert.deepEqual(lengths(written), [20, 40]);
});

test('no frame begins while it may not', () => {
  const recorded = recorder();
  recorded.stopBefore = 1;
  const bytes = Buffer.concat([plain(20), plain(30)]);
  assert.equal(recorded.feed(bytes, 0, 50), 20);
  assert.ok(recorded.stream.atBoundary);
  recorded.stopBefore = 2;
  assert.equal(recorded.feed(bytes, 20, 50), 50);
});

test('where asked to, it stops between two frames, not within one', () => {
  const { stream, written } = recorder();
  stream.stopAtBoundary = true;
  const bytes = Buffer.concat([plain(20), plain(30)]);
  assert.equal(stream.feed(bytes, 0, 10), 10);
  assert.equal(stream.feed(bytes, 10, 50), 20);
  assert.equal(stream.feed(bytes, 20, 50), 50);
  assert.deepEqual(lengths(written), [10, 10, 30]);
});

test('impossible lengths are refused before anything is allocated', () => {
  for (const length of [0x7fff_ffff, 100_001, -1, 0, 1]) {
    const bytes = Buffer.alloc(12);
    bytes.writeInt32BE(length, 0);
    assert.throws(() => recorder().feed(bytes, 0, 12), BadTraffic);
    const stream = recorder();
    assert.throws(() => {
      for (let at = 0; at < 12; at++) stream.feed(bytes, at, at + 1);
    }, BadTraffic);
  }
});

test('a frame that ends within its head is refused, also when it comes byte by byte', () => {
  const bytes = plain(10);
  bytes[5] = 200;
  const stream = recorder();
  assert.throws(() => {
    for (let at = 0; at < 10; at++) stream.feed(bytes, at, at + 1);
  }, /header does not end/);
});

test('a frame that has to wait is decided upon again, also where its head came in pieces and nothing follows', () => {
  for (const pieces of [[30], [3, 7, 20], [15, 15]]) {
    const recorded = recorder();
    recorded.mayWait = true;
    const bytes = plain(30);
    let at = 0;
    for (const size of pieces) {
      const end = at + size;
      at = recorded.feed(bytes, at, end);
      if (recorded.stream.waiting) break;
    }
    assert.ok(recorded.stream.waiting, pieces.join());
    assert.deepEqual(recorded.written, []);
    recorded.mayWait = false;
    assert.equal(recorded.feed(bytes, at, 30), 30);
    assert.deepEqual(Buffer.concat(recorded.written), bytes);
  }
});

test('a frame waits where there is no memory for it, and gives back what it had', () => {
  const recorded = recorder(5000);
  const { process, used } = recorded.cluster;
  process.used = 4500;
  const bytes = plain(1000, 1);
  const at = recorded.feed(bytes, 0, 400);
  assert.ok(recorded.stream.waiting && at === 0);
  assert.deepEqual([used.value, recorded.cluster.waits.value], [0, 1]);
  process.used = 0;
  assert.equal(recorded.feed(bytes, at, 400), 400);
  assert.equal(used.value, 800);
  assert.equal(recorded.feed(bytes, 400, 1000), 1000);
  assert.deepEqual(Buffer.concat(recorded.written), transformed(bytes));
  assert.deepEqual([used.value, process.used], [0, 0]);
});

test('a frame that never fits is refused by its head', () => {
  const recorded = recorder(5000);
  assert.throws(() => recorded.feed(plain(5001, 1), 0, 100), OverBudget);
  assert.equal(recorded.feed(plain(5001), 0, 100), 100);
});
