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

test('damaged stores are refused with an error, whatever is damaged', () => {
  fc.assert(
    fc.property(fc.constantFrom(PKCS12, JKS), fc.nat(700), fc.nat(255), (store, at, value) => {
      const damaged = Buffer.from(store);
      damaged[at % damaged.length] = value;
      try {
        readTrustStore(damaged, undefined, 'changeit');
      } catch (error) {
        assert.ok(error instanceof Error);
      }
    }),
    { numRuns: 60 },
  );
});
