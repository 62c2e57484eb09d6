import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { question, readReply, serveText } from '../../../test/support/dns/testing.ts';
import { parseName } from './name.ts';
import { TSIG_ERROR, checkTsig, readTsig, signMessage } from './tsig.ts';
import type { TsigKey } from './tsig.ts';

const key: TsigKey = {
  name: parseName('k.test')!,
  algorithm: 'hmac-sha256',
  secret: new Uint8Array(32).fill(7),
};
const { responder, send } = serveText('a.example.test A 10.0.0.1', undefined, [key]);
const NOW = 1_790_000_000;
responder.now = NOW;

const plain = question('a.example.test', 'A', { id: 7, payload: 1232 });
const sign = (change: Partial<TsigKey> = {}, now = NOW) =>
  signMessage(plain, { key: { ...key, ...change }, now });
/** The TSIG record of a response. */
function tsigOf(response: Buffer) {
  const at = response.lastIndexOf(Buffer.from(key.name, 'latin1'));
  return { at, tsig: at < 0 ? undefined : readTsig(response, at) };
}

test('a signed query gets a signed response, and the question itself is answered as ever', () => {
  const { signed, mac } = sign();
  const response = send(signed);
  assert.deepEqual(readReply(response).answer, ['a.example.test 30 A 10.0.0.1']);
  const checked = checkTsig(response, tsigOf(response).at, [key], NOW, mac);
  assert.equal(checked?.error, TSIG_ERROR.NONE);
  assert.equal(
    checkTsig(response, tsigOf(response).at, [key], NOW)?.error,
    TSIG_ERROR.BADSIG,
    'with the MAC of the query',
  );
});

test('what is signed wrongly gets NOTAUTH, no records, and is told why', () => {
  const cases = [
    [sign({ secret: new Uint8Array(32) }).signed, TSIG_ERROR.BADSIG],
    [sign({ algorithm: 'hmac-sha512' }).signed, TSIG_ERROR.BADKEY],
    [sign({}, NOW - 301).signed, TSIG_ERROR.BADTIME],
    [sign({}, NOW + 301).signed, TSIG_ERROR.BADTIME],
  ] as const;
  for (const [query, error] of cases) {
    const response = send(query);
    assert.deepEqual([readReply(response).rcode, readReply(response).answer], ['NOTAUTH', []]);
    const { tsig } = tsigOf(response);
    assert.deepEqual([tsig?.error, tsig?.mac.length], [error, error === TSIG_ERROR.BADTIME ? 32 : 0]);
  }
  assert.equal(readReply(send(sign({}, NOW - 299).signed)).rcode, 'NOERROR');
});

test('no change of a signed message goes unnoticed, and none makes it throw', () => {
  const { signed } = sign();
  fc.assert(
    fc.property(fc.nat(signed.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const bytes = Buffer.from(signed);
      bytes[at]! ^= change;
      const response = send(bytes);
      // The id and the case of the key's name are not signed; a message that is no query any more gets no response.
      const isSame =
        at < 2 || bytes.toString('latin1').toLowerCase() === signed.toString('latin1').toLowerCase();
      if (isSame || response.length === 0 || readReply(response).answer.length === 0) return;
      assert.equal(tsigOf(response).tsig, undefined, 'without its signature it is a query as any other');
    }),
  );
});

test('cut anywhere, it is no query', () => {
  const { signed } = sign();
  for (let length = 12; length < signed.length; length++)
    assert.equal(readReply(send(signed.subarray(0, length))).rcode, 'FORMERR', String(length));
});
