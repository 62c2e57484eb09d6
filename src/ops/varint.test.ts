import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  readUnsignedVarint,
  readVarint,
  readVarlong,
  skipVarlong,
  takeBytes,
  unsignedVarintSize,
  varintSize,
  varlongSize,
  writeUnsignedVarint,
  writeVarint,
  writeVarlong,
} from './varint.ts';
import type { Cursor } from './varint.ts';

class Refused extends Error {}

const cursorOf = (bytes: Buffer, at: number, end: number): Cursor => ({
  bytes,
  at,
  end,
  fail(reason) {
    throw new Refused(reason);
  },
});

const on = (bytes: readonly number[]) => cursorOf(Buffer.from(bytes), 0, bytes.length);

const READS = [readUnsignedVarint, readVarint, readVarlong, skipVarlong];

const FORMS = [
  {
    what: 'unsignedVarint',
    read: readUnsignedVarint,
    numbers: fc.integer({ min: 0, max: 0xffff_ffff }),
    write: writeUnsignedVarint,
    size: unsignedVarintSize,
  },
  { what: 'varint', read: readVarint, numbers: fc.integer(), write: writeVarint, size: varintSize },
  {
    what: 'varlong',
    read: readVarlong,
    numbers: fc.integer({ min: -(2 ** 52) + 1, max: 2 ** 52 - 1 }),
    write: writeVarlong,
    size: varlongSize,
  },
] as const;

/** Numbers of every size are as likely as large ones. */
const ofAnySize = (numbers: fc.Arbitrary<number>) =>
  fc.tuple(numbers, fc.nat(52)).map(([value, bits]) => Math.trunc(value / 2 ** bits) + 0); // no -0

for (const { what, read, numbers, write, size } of FORMS) {
  suite(what, () => {
    test('reads what was written, wherever it stands', () => {
      fc.assert(
        fc.property(ofAnySize(numbers), fc.nat(9), (value, start) => {
          const bytes = Buffer.alloc(start + 10 + 1, 0xff);
          const end = write(bytes, start, value);
          assert.equal(end - start, size(value));
          assert.equal(bytes[end], 0xff, 'nothing is written behind it');
          const cursor = cursorOf(bytes, start, end);
          assert.equal(read(cursor), value);
          assert.equal(cursor.at, end);
        }),
      );
    });

    test('refuses it when it is cut off anywhere, though the buffer goes on', () => {
      fc.assert(
        fc.property(ofAnySize(numbers), fc.nat(9), (value, cut) => {
          const bytes = Buffer.alloc(11, 0x01);
          const end = cut % write(bytes, 0, value);
          assert.throws(() => read(cursorOf(bytes, 0, end)), Refused);
        }),
      );
    });
  });
}

test('random bytes give a number within bounds, or the one error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), fc.constantFrom(...READS), (bytes, read) => {
      const cursor = on([...bytes]);
      try {
        const value = read(cursor);
        assert.ok(value === undefined || Number.isSafeInteger(value));
        assert.ok(cursor.at <= (read === readUnsignedVarint || read === readVarint ? 5 : 10));
      } catch (error) {
        assert.ok(error instanceof Refused);
      }
      assert.ok(cursor.at <= bytes.length);
    }),
    { numRuns: 1000 },
  );
});

suite('the bounds', () => {
  const padded = (bytes: number) => [...Array.from({ length: bytes - 1 }, () => 0x80), 0];

  test('of 32 bits are five bytes, padding included, and no bit above', () => {
    assert.equal(readUnsignedVarint(on([0xff, 0xff, 0xff, 0xff, 0x0f])), 0xffff_ffff);
    assert.equal(readVarint(on([0xff, 0xff, 0xff, 0xff, 0x0f])), -(2 ** 31));
    assert.equal(readUnsignedVarint(on(padded(5))), 0);
    for (const bytes of [padded(6), [0xff, 0xff, 0xff, 0xff, 0x1f], [0x80, 0x80, 0x80, 0x80, 0x10]])
      for (const read of [readUnsignedVarint, readVarint])
        assert.throws(() => read(on(bytes)), /more than 32 bits/);
  });

  test('of 64 bits are ten bytes to skip, and 2^53 to read', () => {
    skipVarlong(on(padded(10)));
    assert.throws(() => skipVarlong(on(padded(11))), /more than 64 bits/);
    assert.equal(readVarlong(on(padded(9))), 0);
    assert.throws(() => readVarlong(on(padded(10))), /beyond 2\^53/);
    const largest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f];
    assert.equal(readVarlong(on(largest)), -(2 ** 52));
    assert.throws(() => readVarlong(on(largest.with(7, 0x10))), /beyond 2\^53/);
  });

  test('of bytes are those that are there', () => {
    assert.equal(takeBytes(on([1, 2, 3]), 3), 0);
    assert.throws(() => takeBytes(on([1, 2, 3]), 4), /4 bytes wanted, 3 left/);
    assert.throws(() => takeBytes(on([1, 2, 3]), -1), Refused);
  });
});
