import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { readTrustStore } from './trust-store.ts';

/** One certificate, of which nobody has the key any more, as keytool of Java 17 wrote it. */
const PKCS12 = Buffer.from(
  'MIIC4gIBAzCCAowGCSqGSIb3DQEHAaCCAn0EggJ5MIICdTCCAnEGCSqGSIb3DQEHBqCCAmIwggJeAgEAMIICVwYJKoZIhvcNAQcB' +
    'MGYGCSqGSIb3DQEFDTBZMDgGCSqGSIb3DQEFDDArBBRlp8QqSOYXnDTo3yShj9eu+qFp0wICJxACASAwDAYIKoZIhvcNAgkFADAd' +
    'BglghkgBZQMEASoEEA8PhxH6GXpAqJ2gbA6HeOGAggHgNWx4m7iG0nN6R8QjdyGKUOe+7xs2xLTVuqIhYn4lH3gwOhghugopxY7S' +
    'wzjctSkRMqWk9wrhSbDsx+OI49JBEGTVYdL5Jysm2y6OwbrSaO+hdcRHlwJRQ3fMHn3BYL9euyWT/Sbt4IZWezL8WmFG3nd7u7tA' +
    'mYmhoncbBODOquUn143QkPTckOlhON+JZNGpkiUbLV2YrCSY/aWrPN/ydD+BQsSCgi8y02WelOIMlQWxT24b0mCYcCJS2LNgnGh1' +
    'yXXikvGpk1rzrcnxzE6hvkkIiS7QMJ370Vcf6LxBxOZtBE6CH1lY0c+oG8xKYM7ObWG/FvxOgD5CA9qL8FfXgpEXHZ3Fe/J9bs8X' +
    'aNhFVAMP8QfZgEs7ZB96umnxiHlhFQ+uW3VRXZDV69avr6rfWLOtcCVXaZL7gp6VnX7tKVqzILKDRxsSMlnX8Swqd2G/gAs8nMwN' +
    'DL62QYTwYLh5HHlqCv+LwUWAIsznFChJXe6P8+9Li4ErsSnC4z9bpy41nWovjFlqczTfxXMgmzuBTNtj2FxYW3k+ECL/JZSUVqZr' +
    'r4depEjkY89MlBiHlGoJ3q0/yH1JbwQvx08CBRdr8AeYvuM0lKaoU/h6TBbAY0HLGYh+mtU2doutqf77viaMME0wMTANBglghkgB' +
    'ZQMEAgEFAAQg9yVtZ+haoPEPB9ndObjXmH8K5gtJowgdGuvSp1CIKeYEFIxbFl5rNl8A2GzwQtElJja046ThAgInEA==',
  'base64',
);
const JKS = Buffer.from(
  '/u3+7QAAAAIAAAABAAAAAgABYQAAAaHhW5RQAAVYLjUwOQAAAXIwggFuMIIBFaADAgECAhQxei74XDyaH7fDvlA7v0xyWXunKzAK' +
    'BggqhkjOPQQDAjAMMQowCAYDVQQDDAF0MCAXDTI2MTExNTIyMzcxNFoYDzIxMjYxMDIyMjIzNzE0WjAMMQowCAYDVQQDDAF0MFkw' +
    'EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAElB86Dq/QMtrTzXz6EP3CdVKoZZJNVR/BmFVZFpPMSB8uJVm7TuLM+d+x8RBV0jxDI0H2' +
    '0Sq8BzH00Hupi2gmyKNTMFEwHQYDVR0OBBYEFMEcaZ/ciHT4kYkqTJNtiXf/D2/oMB8GA1UdIwQYMBaAFMEcaZ/ciHT4kYkqTJNt' +
    'iXf/D2/oMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgDlROAbWRaP7mjByJ43Z+Zboj4l++Y4gy++N09wdYpg0C' +
    'IF4AeTq4Xbe/nG7RIVLE3j1GJkZGsnJ1U4pVhv5uQShoHFcVqPEqGDHigxFsR9UTxF6AN+0=',
  'base64',
);

const subjectOf = (pem: string) => new X509Certificate(pem).subject;

test('certificates are read from PKCS12 and JKS as keytool writes them, and from PEM', () => {
  const pem = readTrustStore(PKCS12, 'PKCS12', 'changeit');
  assert.equal(subjectOf(pem), 'CN=t');
  assert.equal(readTrustStore(JKS, 'JKS', 'changeit'), pem);
  assert.equal(readTrustStore(Buffer.from(pem), 'PEM', ''), pem);
});

test('the type need not be said', () => {
  const pem = readTrustStore(PKCS12, undefined, 'changeit');
  assert.equal(readTrustStore(JKS, undefined, ''), pem);
  assert.equal(readTrustStore(Buffer.from(pem), undefined, ''), pem);
});

test('what is wrong is said', () => {
  assert.throws(() => readTrustStore(PKCS12, undefined, 'wrong'), /password/);
  assert.throws(
    () => readTrustStore(Buffer.from('rubbish rubbish'), undefined, ''),
    /is not a PKCS12 store|cut short/,
  );
  assert.throws(() => readTrustStore(Buffer.from('x'), 'PEM', ''), /no certificate/);
  assert.throws(() => readTrustStore(PKCS12, 'BKS', ''), /not one of/);
});

/** DER, of contents shorter than 64 KiB. */
const der = (tag: number, ...contents: Buffer[]) => {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, 0x82, body.length >> 8, body.length & 0xff]), body]);
};
const sequence = (...contents: Buffer[]) => der(0x30, ...contents);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const DATA = '2a864886f70d010701';

/** A store with so many parts, each of which takes so many iterations to decrypt. */
function costlyStore(parts: number, iterations: number): Buffer {
  const count = Buffer.alloc(5);
  count.writeUInt32BE(iterations, 1);
  const derivation = sequence(der(0x04, Buffer.alloc(8)), der(0x02, count));
  const scheme = sequence(
    sequence(oid('2a864886f70d01050c'), derivation),
    sequence(oid('60864801650304012a'), der(0x04, Buffer.alloc(16))),
  );
  const content = sequence(
    oid(DATA),
    sequence(oid('2a864886f70d01050d'), scheme),
    der(0x80, Buffer.alloc(16)),
  );
  const version = der(0x02, Buffer.from([0]));
  const part = sequence(oid('2a864886f70d010706'), der(0xa0, sequence(version, content)));
  const safe = sequence(...Array.from({ length: parts }, () => part));
  return sequence(der(0x02, Buffer.from([3])), sequence(oid(DATA), der(0xa0, der(0x04, safe))));
}

test('a store that would take too long to decrypt is refused before it is tried', () => {
  assert.throws(() => readTrustStore(costlyStore(1, 1), 'PKCS12', ''), /is the password right/);
  for (const iterations of [5_000_001, 0xffff_ffff]) {
    const store = costlyStore(1, iterations);
    assert.throws(() => readTrustStore(store, 'PKCS12', 'x'), /too many iterations/);
  }
  assert.throws(() => readTrustStore(costlyStore(1, 0), 'PKCS12', ''), /unknown cipher/);
});

test('a store that is cut short anywhere is refused, and so is garbage', () => {
  for (const store of [PKCS12, JKS.subarray(0, JKS.length - 20)])
    // JKS ends with a checksum, which is not read
    for (let end = 5; end < store.length; end += 7) {
      const type = store === PKCS12 ? 'PKCS12' : 'JKS';
      assert.throws(() => readTrustStore(store.subarray(0, end), type, 'changeit'), /cut short/);
    }
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300, size: 'max' }),
      fc.constantFrom('PKCS12', 'JKS'),
      (bytes, type) => {
        assert.throws(() => readTrustStore(Buffer.from(bytes), type, 'changeit'), /store/);
      },
    ),
  );
});

test('damaged stores are read or refused in a few words, whatever is damaged', () => {
  fc.assert(
    fc.property(fc.constantFrom(PKCS12, JKS), fc.nat(700), fc.nat(255), (store, at, value) => {
      const damaged = Buffer.from(store);
      damaged[at % damaged.length] = value;
      try {
        readTrustStore(damaged, undefined, 'changeit');
      } catch (error) {
        assert.ok(error instanceof Error && error.message.length < 200);
        assert.match(error.message, /^(is|has|uses|takes|cannot be) /);
      }
    }),
    { numRuns: 300 },
  );
});
