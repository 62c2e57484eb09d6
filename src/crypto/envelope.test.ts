/** The formats inside a sealed value, against the original's vectors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aesGcm } from './aes-gcm.ts';
import { IV_BYTES, TAG_BYTES } from './cipher.ts';
import { createIvCounter } from './iv-counter.ts';
import { BadEnvelope } from './kms.ts';
import { parcelSize, readParcel, writeParcel } from './parcel.ts';
import { readWrapper, wrapperPrefix, wrapperSize } from './wrapper.ts';

const value = Buffer.from('hi -n\n');

function parcelOf(bytes: Buffer): Buffer {
  const target = Buffer.alloc(parcelSize(bytes.length));
  assert.equal(writeParcel(target, 0, bytes, 0, bytes.length), target.length);
  return target;
}

test('parcel: the original’s vectors', () => {
  assert.equal(parcelOf(value).toString('base64'), 'DGhpIC1uCgM=');
  const read = (base64: string) => {
    const bytes = Buffer.from(base64, 'base64');
    return readParcel(bytes, 0, bytes.length);
  };
  assert.deepEqual(read('DGhpIC1uCgM='), { value, headers: undefined });
  assert.deepEqual(read('DGhpIC1uCgA='), { value, headers: [] });
  const headers = [{ key: Buffer.from('hello\n'), value: Buffer.from('there\n') }];
  assert.deepEqual(read('DGhpIC1uCgIGaGVsbG8KDHRoZXJlCg=='), { value, headers });
});

test('parcel: null and absent parts', () => {
  const read = (...bytes: number[]) => readParcel(Buffer.from(bytes), 0, bytes.length);
  assert.deepEqual(read(0x01, 0x03), { value: null, headers: undefined });
  assert.deepEqual(read(0x03, 0x01), { value: undefined, headers: [] });
  const header = { key: Buffer.from('k'), value: null };
  assert.deepEqual(read(0x00, 0x02, 0x01, 0x6b, 0x01), { value: Buffer.alloc(0), headers: [header] });
});

test('parcel: every value comes back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20_000, size: 'max' }), (bytes) => {
      const parcel = parcelOf(Buffer.from(bytes));
      assert.deepEqual(readParcel(parcel, 0, parcel.length).value, Buffer.from(bytes));
    }),
  );
});

test('parcel and wrapper: random bytes are read or refused, nothing else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60, size: 'max' }), (random) => {
      const bytes = Buffer.from(random);
      for (const read of [readParcel, readWrapper]) {
        try {
          read(bytes, 0, bytes.length);
        } catch (error) {
          assert.ok(error instanceof BadEnvelope, String(error));
        }
      }
    }),
    { numRuns: 20_000 },
  );
});

test('wrapper: the computed vector, and back', () => {
  const edek = Buffer.concat([Buffer.from([7]), Buffer.from('KEK-foo'), Buffer.from('vault:v1:AAAA')]);
  const prefix = wrapperPrefix(edek);
  const sealed = Buffer.alloc(wrapperSize(prefix, parcelSize(value.length)));
  prefix.copy(sealed);
  const start = prefix.length + IV_BYTES;
  createIvCounter(Buffer.from('000102030405060708090a0b', 'hex')).writeNext(sealed, prefix.length);
  const end = writeParcel(sealed, start, value, 0, value.length);
  const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
  aesGcm.createCipher(key, 'seal').apply(aesGcm.pin(sealed), start, end);
  assert.equal(
    sealed.toString('hex'),
    '0015074b454b2d666f6f7661756c743a76313a4141414100000102030405060708090a0b4b6abf3be88bc818a2947658df2eea8cd2261dfc7420c3b4',
  );
  assert.deepEqual(readWrapper(sealed, 0, sealed.length), { edek, start, end });
  assert.equal(end + TAG_BYTES, sealed.length);
});

test('wrapper: what is not ours is refused by name', () => {
  const good = Buffer.alloc(40);
  good[1] = 1;
  assert.doesNotThrow(() => readWrapper(good, 0, good.length));
  const with_ = (at: number, byte: number) => {
    const bad = Buffer.from(good);
    bad[at] = byte;
    return () => readWrapper(bad, 0, bad.length);
  };
  assert.throws(with_(0, 1), /cipher 1 is not supported/);
  assert.throws(with_(3, 1), /kind 1 is not supported/);
  assert.throws(with_(1, 30), /12 bytes wanted, 7 left/);
  assert.throws(with_(1, 20), /no room for its tag/);
  assert.throws(() => wrapperPrefix(Buffer.alloc(0x8000)), /too long/);
});

test('IVs count up in 96 bits and wrap around', () => {
  const ivs = (start: string) => {
    const counter = createIvCounter(Buffer.from(start, 'hex'));
    return [0, 1].map(() => {
      const iv = Buffer.alloc(IV_BYTES);
      counter.writeNext(iv, 0);
      return iv.toString('hex');
    });
  };
  assert.deepEqual(ivs('00000000000000000000000a'), ['00000000000000000000000a', '00000000000000000000000b']);
  assert.deepEqual(ivs('0000000100000002ffffffff'), ['0000000100000002ffffffff', '000000010000000300000000']);
  assert.deepEqual(ivs('ffffffffffffffffffffffff'), ['ffffffffffffffffffffffff', '000000000000000000000000']);
});
