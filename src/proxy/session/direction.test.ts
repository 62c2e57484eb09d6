import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { MemoryAccount, ProcessBudget } from '../net/byte-budget.ts';
import type { Connection } from '../net/connection.ts';
import { Direction, HIGH_WATER } from './direction.ts';
import type { FrameOutcome, Side } from './direction.ts';
import { GATHER, PASS } from './frame-stream.ts';

const LIMITS = {
  maxBufferedBytes: 1000,
  maxBufferedBytesPerVirtualCluster: 1000,
  maxBufferedBytesPerConnection: 1000,
};

/** Frames of this made-up protocol are a length and a letter; capitals are wanted whole. */
const frame = (letters: string) => {
  const bytes = Buffer.alloc(4 + letters.length);
  bytes.writeInt32BE(letters.length, 0);
  bytes.write(letters, 4);
  return bytes;
};
const textOf = (frames: Buffer[]) => frames.map((each) => each.toString('latin1', 4));

/** A direction between two connections that are not there: what it wrote, and what it told. */
function direction(take: Side['take'], reusesBuffer = true) {
  const written: Buffer[] = [];
  const told: string[] = [];
  const write = (bytes: Buffer) => void written.push(Buffer.from(bytes));
  const sink = { backlog: 0, write, writeSoon: write };
  const source = { reusesBuffer, expected: 0, resume: () => void told.push('resume') };
  const budget = { process: new ProcessBudget(), used: { value: 0 }, waits: { value: 0 } };
  const account = new MemoryAccount(budget, LIMITS, () => void told.push('room'));
  const side = {
    minHead: 5,
    maxFrame: 1000,
    firstGather: 10,
    allowed: Infinity,
    mayBegin: () => side.allowed > 0,
    decide(bytes: Buffer, at: number) {
      side.allowed -= 1;
      return /[A-Z]/.test(String.fromCharCode(bytes[at + 4]!)) ? GATHER : PASS;
    },
    take,
    forwarded: (bytes: Buffer) => void told.push(`forwarded ${bytes.toString('latin1', 4)}`),
    badLength: String,
    account,
  };
  const events = {
    onAnswer: (answer: Buffer) => void told.push(`answer ${answer.toString('latin1')}`),
    onFinish: () => void told.push('finish'),
    onClose: (why: string) => void told.push(`close ${why}`),
    onBoundary: () => void told.push('boundary'),
    onReleased: () => void told.push('released'),
    onFailed: (error: unknown) => void told.push(`failed ${String(error)}`),
  };
  const made = new Direction(
    { source: source as unknown as Connection, sink: sink as unknown as Connection },
    side,
    events,
    { bytes: { value: 0 }, pauses: { value: 0 } },
  );
  const read = (...frames: string[]) => {
    const bytes = Buffer.concat(frames.map(frame));
    return made.read(bytes, bytes.length);
  };
  return { direction: made, written, told, sink, side, read };
}

test('what a side says becomes of a frame happens to it', () => {
  const outcomes: Record<string, FrameOutcome> = {
    PASS: 'pass',
    DROP: 'drop',
    FINISH: 'finish',
    FORWARD: { forward: frame('other') },
    ANSWER: { answer: Buffer.from('no') },
    CLOSE: { close: 'why' },
  };
  const { written, told, read } = direction((bytes) => outcomes[bytes.toString('latin1', 4)]!);
  assert.equal(read(...Object.keys(outcomes)), true);
  assert.deepEqual(textOf(written), ['PASS', 'other']);
  assert.deepEqual(told, ['forwarded PASS', 'finish', 'forwarded other', 'answer no', 'close why']);
});

test('a frame that is worked on holds back everything behind it, and nothing else', async () => {
  const work = Promise.withResolvers<FrameOutcome>();
  const { direction: held, written, told, read } = direction(() => work.promise);
  assert.equal(read('a', 'SLOW', 'b'), false);
  assert.ok(held.holding && !held.atBoundary && !held.empty);
  held.resume();
  assert.deepEqual(textOf(written), ['a']);
  work.resolve('pass');
  await turn();
  assert.deepEqual(told, ['forwarded SLOW', 'released']);
  assert.ok(!held.holding);
  held.resume();
  assert.deepEqual(textOf(written), ['a', 'SLOW', 'b']);
  assert.equal(told.at(-1), 'resume');
  assert.ok(held.empty && held.atBoundary);
});

test('work that fails is told, and the frame goes nowhere', async () => {
  const { direction: held, written, told, read } = direction(() => Promise.reject(new Error('no')));
  assert.equal(read('SLOW', 'b'), false);
  await turn();
  assert.deepEqual(told, ['failed Error: no']);
  held.resume();
  assert.deepEqual(written, []);
});

test('a frame that may not begin waits, and so do those behind it', () => {
  const { direction: waiting, written, side, read, told } = direction(() => 'pass');
  side.allowed = 1;
  assert.equal(read('a', 'b', 'c'), false);
  waiting.resume();
  assert.deepEqual(textOf(written), ['a']);
  side.allowed = 2;
  waiting.resume();
  assert.deepEqual(Buffer.concat(written), Buffer.concat(['a', 'b', 'c'].map(frame)));
  assert.deepEqual(told, ['resume']);
});

test('reading stops while the sink is slower; a reused buffer waits until all has left', () => {
  for (const [reusesBuffer, backlog] of [
    [true, 1],
    [false, HIGH_WATER + 1],
  ] as const) {
    const { direction: paused, sink, told, read } = direction(() => 'pass', reusesBuffer);
    sink.backlog = backlog;
    assert.equal(read('a'), false);
    paused.resume();
    assert.deepEqual(told, []);
    sink.backlog = backlog - 1;
    paused.resume();
    assert.deepEqual(told, ['resume']);
    assert.equal(read('b'), true);
  }
});

test('boundaries are told between any two frames, where that was asked for', () => {
  const { direction: watched, told, read } = direction(() => 'drop');
  read('a', 'B');
  assert.deepEqual(told, []);
  watched.stopAtBoundaries(true);
  read('a', 'B', 'c');
  assert.deepEqual(told, ['boundary', 'boundary', 'boundary']);
});
