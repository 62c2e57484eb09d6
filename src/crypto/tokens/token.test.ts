import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { test } from 'node:test';
import { createLog } from '../../ops/log.ts';
import { createKeySet } from './key-set.ts';
import { isSignedBy, readToken } from './token.ts';
import { tokenVerifier } from './verifier.ts';

const RULES = { issuer: 'https://issuer', audience: 'kafka', userClaim: 'sub' };
const NOW = 1_800_000_000_000;
const CLAIMS = { iss: RULES.issuer, aud: ['other', 'kafka'], exp: NOW / 1000 + 60, sub: 'alice' };
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

type Signer = (data: Buffer) => Buffer;
const byRsa: Signer = (data) => sign('sha256', data, rsa.privateKey);
function tokenOf(
  claims: object,
  header: object = { alg: 'RS256', kid: 'one' },
  signer: Signer = byRsa,
): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${signer(Buffer.from(signed)).toString('base64url')}`;
}

/** Logs in with a token, where the issuer has these keys. */
function setUp(
  keys: () => object[] = () => [{ ...rsa.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig' }],
) {
  let [asked, now] = [0, 0];
  const http = {
    async send() {
      asked++;
      const body = { keys: keys() };
      return { status: 200, text: '', header: () => undefined, json: () => body, jsonIfAny: () => body };
    },
  };
  const log = createLog('silent');
  const url = new URL('https://issuer/jwks');
  const keySet = createKeySet({ url, http: http as never, refreshMs: 60_000, log, clock: () => now });
  const logIn = tokenVerifier(RULES, keySet, () => NOW);
  return { logIn, asked: () => asked, pass: (ms: number) => (now += ms), keySet };
}

test('a token that the issuer has signed, for us and valid now, is a login for as long as it holds', async () => {
  const { logIn } = setUp();
  assert.deepEqual(await logIn(tokenOf(CLAIMS)), { user: 'alice', lifetimeMs: 90_000 });
});

test('a token of another issuer, for others, expired, too early or of nobody is refused, and costs no request', async () => {
  const { logIn, asked } = setUp();
  const later = NOW / 1000 + 3600;
  for (const wrong of [
    { iss: 'https://other' },
    { aud: 'other' },
    { aud: undefined },
    { exp: NOW / 1000 - 31 },
    { exp: 'never' },
    { nbf: later },
    { sub: '' },
    { sub: 7 },
  ])
    assert.ok('refused' in (await logIn(tokenOf({ ...CLAIMS, ...wrong }))), JSON.stringify(wrong));
  for (const text of [
    '',
    'a.b.c',
    'a.b',
    tokenOf(CLAIMS, { alg: 'none' }),
    tokenOf(CLAIMS, { alg: 'HS256' }),
  ])
    assert.ok('refused' in (await logIn(text)), text);
  assert.ok('refused' in (await logIn(tokenOf(CLAIMS, { alg: 'RS256', crit: ['x'] }))));
  assert.equal(asked(), 0);
});

test('a token that was changed, or signed by somebody else, is refused', async () => {
  const { logIn } = setUp();
  const [header, , signature] = tokenOf(CLAIMS).split('.');
  assert.ok('refused' in (await logIn(`${header}.${encode({ ...CLAIMS, sub: 'admin' })}.${signature}`)));
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const forged = tokenOf(CLAIMS, undefined, (data) => sign('sha256', data, other));
  assert.ok('refused' in (await logIn(forged)));
});

test('every algorithm is taken with its own kind of key, and with no other', () => {
  const curve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
  const pss = { padding: 6, saltLength: -1 };
  const pairs: [string, { publicKey: KeyObject; privateKey: KeyObject }, string | null, object][] = [
    ['RS256', rsa, 'sha256', {}],
    ['RS384', rsa, 'sha384', {}],
    ['RS512', rsa, 'sha512', {}],
    ['PS256', rsa, 'sha256', pss],
    ['PS512', rsa, 'sha512', pss],
    ['ES256', curve('P-256'), 'sha256', { dsaEncoding: 'ieee-p1363' }],
    ['ES384', curve('P-384'), 'sha384', { dsaEncoding: 'ieee-p1363' }],
    ['ES512', curve('P-521'), 'sha512', { dsaEncoding: 'ieee-p1363' }],
    ['EdDSA', generateKeyPairSync('ed25519'), null, {}],
  ];
  for (const [alg, { privateKey }, hash, options] of pairs) {
    const token = readToken(
      tokenOf(CLAIMS, { alg }, (data) => sign(hash, data, { key: privateKey, ...options })),
    )!;
    for (const [other, { publicKey }] of pairs) {
      const fits = other === alg || (publicKey === rsa.publicKey && privateKey === rsa.privateKey);
      assert.equal(isSignedBy(token, publicKey), fits, `${alg} with a key for ${other}`);
    }
  }
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const token = readToken(
    tokenOf(CLAIMS, { alg: 'RS256' }, (data) => sign('sha256', data, weak.privateKey)),
  )!;
  assert.equal(isSignedBy(token, weak.publicKey), false);
});

test('the issuer is asked once for many, again for a new key but seldom, and its keys stay when it is away', async () => {
  let keys = [{ ...rsa.publicKey.export({ format: 'jwk' }), kid: 'one' }];
  let away = false;
  const { keySet, asked, pass } = setUp(() => {
    if (away) throw new Error('away');
    return [...keys, { kty: 'what is this', kid: 'odd' }];
  });
  const found = await Promise.all(['one', 'one', undefined].map((id) => keySet.keysFor(id)));
  assert.deepEqual([asked(), ...found.map(({ length }) => length)], [1, 1, 1, 1]);
  assert.equal((await keySet.keysFor('two')).length, 0);
  assert.equal(asked(), 1);
  keys = [...keys, { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'two' }];
  pass(10_001);
  assert.equal((await keySet.keysFor('two')).length, 1);
  assert.equal(asked(), 2);
  away = true;
  pass(60_001);
  assert.equal((await keySet.keysFor('one')).length, 1); // asks again, behind the scenes
  assert.equal((await keySet.keysFor('one')).length, 1);
  assert.equal(asked(), 3);
});
