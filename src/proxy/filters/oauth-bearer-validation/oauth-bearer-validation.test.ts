import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { ALONE } from '../../../../test/support/alone.ts';
import {
  aboutMessage,
  receivedRequest,
  receivedResponse,
  versionsOf,
} from '../../../../test/support/kafka/received.ts';
import { LOOPBACK } from '../../../../test/support/kms/stand-in.ts';
import { ERRORS } from '../../../kafka/errors.ts';
import { createLog } from '../../../ops/log.ts';
import { createMetrics } from '../../../ops/metrics.ts';
import type { ConnectionContext } from '../../filter.ts';
import { createWaits, oauthBearerValidation } from './oauth-bearer-validation.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const CLAIMS = { iss: 'https://issuer', aud: 'kafka', exp: Date.now() / 1000 + 600, sub: 'alice' };

function tokenOf(claims: object): string {
  const signed = `${encode({ alg: 'ES256', kid: 'one' })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}
const message = (token: string) => ({
  authBytes: Buffer.from(`n,,\u0001auth=Bearer ${token}\u0001\u0001`),
});

/** A connection with the filter; the issuer has one key. */
async function setUp(change: object = {}, authenticate = 2) {
  await using starting = new AsyncDisposableStack();
  const server = createServer((_request, response) =>
    response.end(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }] })),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  starting.defer(() => void server.close());
  const config = oauthBearerValidation.config.parse({
    jwksEndpointUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
    expectedIssuer: CLAIMS.iss,
    expectedAudience: CLAIMS.aud,
    authenticateBackOffMaxMs: 1,
    ...change,
  });
  const [metrics, log] = [createMetrics(), createLog('silent')];
  const setting = { virtualCluster: 'vc', name: 'f', log, metrics, outbound: LOOPBACK, peers: ALONE };
  const filter = await oauthBearerValidation.create(config, setting);
  starting.defer(() => filter.close!());
  const [identified, closed]: [string[], string[]] = [[], []];
  const { onRequest, onResponse } = filter.connect({
    log,
    clientAddress: '127.0.0.1',
    identify: (user: string) => void identified.push(user),
    closeSoon: (why: string) => void closed.push(why),
  } as unknown as ConnectionContext);
  const started = starting.move();
  return {
    identified,
    closed,
    metrics,
    shake: (mechanism: string, apiVersion = 1) =>
      onRequest!.SaslHandshake!(
        receivedRequest('SaslHandshake', apiVersion, { mechanism }),
        aboutMessage('SaslHandshake', apiVersion),
      ),
    send: async (token: string) =>
      onRequest!.SaslAuthenticate!(
        receivedRequest('SaslAuthenticate', authenticate, message(token)),
        aboutMessage('SaslAuthenticate', authenticate),
      ),
    answer: (errorCode: number) =>
      onResponse!.SaslAuthenticate!(
        receivedResponse('SaslAuthenticate', authenticate, { errorCode }),
        aboutMessage('SaslAuthenticate', authenticate),
      ),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const REFUSED = {
  respond: { errorCode: ERRORS.SASL_AUTHENTICATION_FAILED.code, errorMessage: 'Authentication failed' },
};

test('a valid token goes on to the broker, and its user is known when the broker has accepted it', async () => {
  await using site = await setUp();
  await site.shake('OAUTHBEARER');
  assert.equal(await site.send(tokenOf(CLAIMS)), undefined);
  assert.deepEqual(site.identified, []);
  assert.equal(await site.answer(58), undefined);
  assert.deepEqual(site.identified, []);
  assert.equal(await site.send(tokenOf(CLAIMS)), undefined);
  await site.answer(0);
  assert.deepEqual([site.identified, site.closed], [['alice'], []]);
  // A later login on the same connection: the same user, and nobody else.
  await site.send(tokenOf(CLAIMS));
  assert.equal(await site.answer(0), undefined);
  await site.send(tokenOf({ ...CLAIMS, sub: 'bob' }));
  assert.match(JSON.stringify(await site.answer(0)), /somebody else/);
});

test('tokens are checked in every version in which they are sent', async () => {
  for (const version of versionsOf('SaslAuthenticate')) {
    await using site = await setUp({}, version);
    await site.shake('OAUTHBEARER');
    assert.equal(await site.send(tokenOf(CLAIMS)), undefined);
    await site.answer(0);
    assert.deepEqual(site.identified, ['alice']);
    assert.deepEqual(await site.send('opaque'), REFUSED);
  }
});

test('a token that is not valid does not get to the broker, and the connection ends', async () => {
  await using site = await setUp();
  const [header, , signature] = tokenOf(CLAIMS).split('.');
  for (const token of [
    '',
    'opaque',
    `${header}.${encode({ ...CLAIMS, sub: 'root' })}.${signature}`,
    tokenOf({ ...CLAIMS, exp: 1 }),
    tokenOf({ ...CLAIMS, iss: 'https://other' }),
    tokenOf({ ...CLAIMS, aud: 'other' }),
  ]) {
    await site.shake('OAUTHBEARER');
    assert.deepEqual(await site.send(token), REFUSED);
  }
  assert.deepEqual([site.closed.length, site.identified], [6, []]);
  assert.match(
    JSON.stringify(await site.metrics.snapshot()),
    /tokens_total.*"outcome":"refused"\},"value":6/,
  );
});

test('what is expected of a token is what the configuration says, and that is not nothing', async () => {
  await using anybody = await setUp({ expectedAudience: undefined });
  await anybody.shake('OAUTHBEARER');
  assert.equal(await anybody.send(tokenOf({ ...CLAIMS, aud: 'other' })), undefined);
  const nothing = oauthBearerValidation.config.safeParse({ jwksEndpointUrl: 'https://issuer/jwks' });
  assert.deepEqual(nothing.error?.issues[0]?.path, ['expectedIssuer']);
});

test('no token gets past: not beside another, and not by a login of before SaslAuthenticate', async () => {
  await using site = await setUp();
  assert.match(JSON.stringify(await site.shake('OAUTHBEARER', 0)), /before SaslAuthenticate/);
  await site.shake('OAUTHBEARER');
  assert.equal(await site.send(tokenOf(CLAIMS)), undefined);
  assert.match(JSON.stringify(await site.send(tokenOf({ ...CLAIMS, sub: 'bob' }))), /second token/);
});

test('other mechanisms are the broker’s', async () => {
  await using site = await setUp();
  await site.shake('PLAIN');
  assert.equal(await site.send('not a token'), undefined);
  await site.answer(0);
  assert.deepEqual(site.identified, []);
});

test('the same token is refused more slowly each time, up to a limit, and few tokens are remembered', () => {
  const waits = createWaits(3000, 2);
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => waits('a')),
    [500, 1000, 2000, 3000, 3000],
  );
  assert.deepEqual([waits('b'), waits('c'), waits('a')], [500, 500, 500]);
});
