import assert from 'node:assert/strict';
import { createDecipheriv, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { ffiGcm } from './aes-gcm-ffi.ts';
import { nodeGcm } from './aes-gcm-node.ts';
import { IV_BYTES, TAG_BYTES } from './cipher.ts';
import type { GcmImplementation } from './cipher.ts';

const direct = ffiGcm();
const implementations = [nodeGcm, ...(direct ? [direct] : [])];

function seal(
  gcm: GcmImplementation,
  key: Buffer,
  iv: Buffer,
  text: Buffer,
  padding = 0,
  additional?: Buffer,
): Buffer {
  const frame = Buffer.concat([Buffer.alloc(padding), iv, text, Buffer.alloc(TAG_BYTES)]);
  const cipher = gcm.createCipher(key, 'seal');
  const sealed = cipher.apply(gcm.pin(frame), padding + IV_BYTES, frame.length - TAG_BYTES, additional);
  assert.equal(sealed, true);
  cipher.destroy();
  return frame.subarray(padding);
}

function open(gcm: GcmImplementation, key: Buffer, frame: Buffer, additional?: Buffer): Buffer | undefined {
  const copy = Buffer.from(frame);
  const cipher = gcm.createCipher(key, 'open');
  const ok = cipher.apply(gcm.pin(copy), IV_BYTES, copy.length - TAG_BYTES, additional);
  cipher.destroy();
  return ok ? copy.subarray(IV_BYTES, copy.length - TAG_BYTES) : undefined;
}

test('the direct way to OpenSSL works on this Node', () => {
  assert.ok(direct, 'node:ffi or the OpenSSL symbols are missing: only the slow way is left');
});

for (const gcm of implementations) {
  test(`${gcm.name}: what it seals, node:crypto opens`, () => {
    const key = randomBytes(32);
    const iv = randomBytes(IV_BYTES);
    const frame = seal(gcm, key, iv, Buffer.from('a record'), 5);
    const decipher = createDecipheriv('aes-256-gcm', key, iv);
    decipher.setAuthTag(frame.subarray(-TAG_BYTES));
    const text = Buffer.concat([decipher.update(frame.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    assert.equal(text.toString(), 'a record');
  });

  test(`${gcm.name}: any change of IV, text or tag is noticed`, () => {
    const bytes = fc.uint8Array({ minLength: 0, maxLength: 300, size: 'max' });
    fc.assert(
      fc.property(bytes, fc.nat(), fc.integer({ min: 1, max: 255 }), (text, where, flip) => {
        const key = randomBytes(32);
        const frame = seal(gcm, key, randomBytes(IV_BYTES), Buffer.from(text));
        assert.deepEqual(open(gcm, key, frame), Buffer.from(text));
        frame[where % frame.length]! ^= flip;
        assert.equal(open(gcm, key, frame), undefined);
      }),
    );
  });

  test(`${gcm.name}: one cipher serves many records, also after a forged one`, () => {
    const key = randomBytes(32);
    const frames = Array.from({ length: 50 }, (_, i) => seal(gcm, key, randomBytes(12), Buffer.alloc(i, i)));
    const opener = gcm.createCipher(key, 'open');
    frames.forEach((frame, i) => {
      const forged = Buffer.from(frame);
      forged[forged.length - 1]! ^= 1;
      assert.equal(opener.apply(gcm.pin(forged), 12, forged.length - 16), false);
      assert.equal(opener.apply(gcm.pin(frame), 12, frame.length - 16), true);
      assert.deepEqual(frame.subarray(12, -16), Buffer.alloc(i, i));
    });
    opener.destroy();
  });
}

test('both ways give the same bytes, with and without additional data', () => {
  assert.ok(direct);
  const key = randomBytes(32);
  const bytes = (maxLength: number) =>
    fc.uint8Array({ maxLength, size: 'max' }).map((array) => Buffer.from(array));
  fc.assert(
    fc.property(bytes(5000), fc.nat({ max: 40 }), fc.option(bytes(300)), (text, padding, more) => {
      const additional = more ?? undefined;
      const iv = randomBytes(IV_BYTES);
      const one = seal(nodeGcm, key, iv, text, padding, additional);
      assert.deepEqual(seal(direct, key, iv, text, padding, additional), one);
    }),
  );
});

for (const gcm of implementations)
  test(`${gcm.name}: what was sealed with additional data is opened with the same alone`, () => {
    const key = randomBytes(32);
    const frame = seal(gcm, key, randomBytes(IV_BYTES), Buffer.from('text'), 0, Buffer.from('here'));
    assert.deepEqual(open(gcm, key, frame, Buffer.from('here')), Buffer.from('text'));
    for (const other of [undefined, Buffer.alloc(0), Buffer.from('there'), Buffer.from('here '), frame])
      assert.equal(open(gcm, key, frame, other), undefined);
  });

test('the direct way refuses to write outside the buffer, and to use a wiped key', () => {
  assert.ok(direct);
  const cipher = direct.createCipher(randomBytes(32), 'seal');
  const pinned = direct.pin(Buffer.alloc(100));
  assert.throws(() => cipher.apply(pinned, 11, 20), RangeError);
  assert.throws(() => cipher.apply(pinned, 12, 85), RangeError);
  assert.throws(() => cipher.apply(pinned, 30, 20), RangeError);
  assert.throws(() => cipher.apply(pinned, Number.NaN, 20), RangeError);
  cipher.destroy();
  cipher.destroy();
  assert.throws(() => cipher.apply(pinned, 12, 84), /wiped/);
});
