import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BadTraffic, Flow, GATHER, MORE, PASS } from './frames.ts';
import type { Decision, FrameOwner } from './frames.ts';

/** Frames of this made-up protocol begin with a byte that says what to do with them, and one that says how long a head is. */
const HEAD = 6;

interface Recorder extends FrameOwner {
  written: Buffer[];
  hold: boolean;
  stopBefore: number;
}

function recorder(): Recorder {
  let begun = 0;
  const self: Recorder = {
    minHead: HEAD,
    maxFrame: 100_000,
    due: false,
    firstGather: 100,
    keepsFrame: false,
    program: [],
    written: [],
    hold: false,
    stopBefore: Infinity,
    mayBegin: () => begun < self.stopBefore,
    decide(bytes, at, end): Decision {
      if (end - at < HEAD + bytes[at + 5]!) return MORE;
      begun++;
      return bytes[at + 4]! % 2 === 0 ? PASS : GATHER;
    },
    take(frame) {
      if (self.hold) return false;
      self.write(transformed(frame));
      return true;
    },
    write: (bytes) => void self.written.push(Buffer.from(bytes)),
    writeDue: () => {},
    endpointsHidden: () => {},
    badLength: (length) => `length ${length}`,
  };
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
function feedInPieces(flow: Flow, bytes: Buffer, sizes: number[]): void {
  const shared = Buffer.alloc(4096);
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = Math.min(sizes[i % sizes.length]!, bytes.length - at, shared.length);
    bytes.copy(shared, 0, at, at + size);
    assert.equal(flow.feed(shared, 0, size), size);
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
        const owner = recorder();
        const flow = new Flow(owner);
        feedInPieces(flow, Buffer.concat(frames), sizes);
        const expected = frames.map((each) => (each[4]! % 2 === 0 ? each : transformed(each)));
        assert.deepEqual(Buffer.concat(owner.written), Buffer.concat(expected));
        assert.ok(flow.atBoundary);
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

test('a chunk of several frames that pass is one write', () => {
  const owner = recorder();
  new Flow(owner).feed(Buffer.concat([plain(20), plain(30), plain(40)]), 0, 90);
  assert.deepEqual(
    owner.written.map(({ length }) => length),
    [90],
  );
});

test('bytes of a frame that passes do not wait for the rest of it', () => {
  const owner = recorder();
  const flow = new Flow(owner);
  flow.feed(plain(5000), 0, 1000);
  assert.equal(owner.written[0]?.length, 1000);
  assert.equal(flow.left, 4000);
  assert.equal(flow.atBoundary, false);
});

test('a frame that is being worked on holds everything behind it back', () => {
  const owner = recorder();
  const flow = new Flow(owner);
  owner.hold = true;
  const bytes = Buffer.concat([plain(20), plain(30, 1), plain(40)]);
  assert.equal(flow.feed(bytes, 0, 90), 50);
  assert.ok(flow.waiting);
  assert.equal(flow.feed(bytes, 50, 90), 50);
  flow.proceed();
  assert.equal(flow.feed(bytes, 50, 90), 90);
  assert.deepEqual(
    owner.written.map(({ length }) => length),
    [20, 40],
  );
});

test('no frame begins while it may not', () => {
  const owner = recorder();
  const flow = new Flow(owner);
  owner.stopBefore = 1;
  const bytes = Buffer.concat([plain(20), plain(30)]);
  assert.equal(flow.feed(bytes, 0, 50), 20);
  assert.ok(flow.atBoundary);
  owner.stopBefore = 2;
  assert.equal(flow.feed(bytes, 20, 50), 50);
});

test('what is due is written between two frames, not within one', () => {
  const owner = recorder();
  const flow = new Flow(owner);
  Object.assign(owner, { due: true, writeDue: () => owner.write(Buffer.from('!')) });
  flow.feed(Buffer.concat([plain(20), plain(30)]), 0, 50);
  assert.deepEqual(
    owner.written.map(({ length }) => length),
    [20, 1, 30, 1],
  );
});

test('impossible lengths are refused before anything is allocated', () => {
  for (const length of [0x7fff_ffff, 100_001, -1, 0, 1]) {
    const bytes = Buffer.alloc(12);
    bytes.writeInt32BE(length, 0);
    assert.throws(() => new Flow(recorder()).feed(bytes, 0, 12), BadTraffic);
    const flow = new Flow(recorder());
    assert.throws(() => {
      for (let at = 0; at < 12; at++) flow.feed(bytes, at, at + 1);
    }, BadTraffic);
  }
});

test('a frame that ends within its head is refused, also when it comes byte by byte', () => {
  const bytes = plain(10);
  bytes[5] = 200;
  const flow = new Flow(recorder());
  assert.throws(() => {
    for (let at = 0; at < 10; at++) flow.feed(bytes, at, at + 1);
  }, /header that does not end/);
});
