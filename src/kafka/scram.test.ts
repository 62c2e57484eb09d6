import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { startScram } from './scram.ts';

const USER = { username: 'user', password: 'pencil' };
const NONCE = 'rOprNGfwEbeRWgbNEkqO';
const SERVER_FIRST = 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096';

suite('SCRAM', () => {
  test('the exchange of RFC 7677', async () => {
    const scram = startScram('SCRAM-SHA-256', USER, NONCE);
    assert.equal(scram.first, 'n,,n=user,r=rOprNGfwEbeRWgbNEkqO');
    assert.equal(
      await scram.final(SERVER_FIRST),
      'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
    );
    assert.ok(scram.verify('v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4='));
    assert.ok(!scram.verify('v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4='));
    assert.ok(!scram.verify('e=other-error'));
  });

  test('nothing is proven before the server has spoken', () => {
    assert.ok(!startScram('SCRAM-SHA-512', USER).verify('v='));
  });

  test('names may contain what separates the parts', () => {
    const scram = startScram('SCRAM-SHA-512', { username: 'a=b,c', password: 'x' }, 'n');
    assert.equal(scram.first, 'n,,n=a=3Db=2Cc,r=n');
  });

  test('a server that repeats, cheapens or drags out the exchange is refused', async () => {
    for (const first of [
      'r=other,s=W22Z,i=4096',
      `r=${NONCE},s=W22Z,i=4096`,
      `r=${NONCE}x,s=W22Z,i=1`,
      `r=${NONCE}x,s=W22Z,i=2000000000`,
      `r=${NONCE}x,s=,i=4096`,
      'e=unknown-user',
      '',
    ]) {
      await assert.rejects(
        startScram('SCRAM-SHA-256', USER, NONCE).final(first),
        /nonce is not ours|iterations, a salt of/,
        first,
      );
    }
  });
});
