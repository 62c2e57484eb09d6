import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scramServer } from './scram-server.ts';
import { startScram } from './scram.ts';
import type { ScramMechanism } from './scram.ts';

const USERS = new Map([
  ['alice', 'wonderland'],
  ['bob,=1', 'pässword'],
]);

async function logIn(mechanism: ScramMechanism, username: string, password: string) {
  const server = scramServer(mechanism, (user) => USERS.get(user)).start();
  const client = startScram(mechanism, { username, password });
  const first = await server.first(client.first);
  const done = server.final(await client.final(first!));
  return { user: done?.user, proven: done ? client.verify(done.message) : false };
}

for (const mechanism of ['SCRAM-SHA-256', 'SCRAM-SHA-512'] as const)
  test(`${mechanism}: who knows the password is let in, and sees that we know it, too`, async () => {
    for (const [user, password] of USERS)
      assert.deepEqual(await logIn(mechanism, user, password), { user, proven: true });
    for (const [user, password] of [
      ['alice', 'Wonderland'],
      ['alice', 'pässword'],
      ['mallory', 'wonderland'],
    ])
      assert.deepEqual(await logIn(mechanism, user!, password!), { user: undefined, proven: false });
  });

test('nobody learns who there is: a name that is not has a salt of its own, the same each time', async () => {
  const server = scramServer('SCRAM-SHA-256', (user) => USERS.get(user));
  const ask = async (user: string) => (await server.start().first(`n,,n=${user},r=abc`))!;
  const saltOf = (answer: string) => /,s=([^,]+),i=4096$/.exec(answer)?.[1];
  const [alice, eve, eveAgain, mallory] = [
    await ask('alice'),
    await ask('eve'),
    await ask('eve'),
    await ask('mallory'),
  ];
  assert.equal(saltOf(eve), saltOf(eveAgain));
  assert.equal(new Set([saltOf(alice), saltOf(eve), saltOf(mallory)]).size, 3);
  assert.notEqual(/r=([^,]+)/.exec(eve)?.[1], /r=([^,]+)/.exec(eveAgain)?.[1]);
});

test('a proof is good for its own exchange alone, and for no other user', async () => {
  const server = scramServer('SCRAM-SHA-256', (user) => USERS.get(user));
  const client = startScram('SCRAM-SHA-256', { username: 'alice', password: 'wonderland' });
  const one = server.start();
  const final = await client.final((await one.first(client.first))!);
  assert.equal(one.final(final)?.user, 'alice');
  const replayed = server.start();
  await replayed.first(client.first);
  assert.equal(replayed.final(final), undefined);
  assert.equal(server.start().final(final), undefined);
  // An authorization id would be another user than the one who proves something.
  assert.equal(await server.start().first('n,a=admin,n=alice,r=x'), undefined);
  // Channel binding is not what we have.
  assert.equal(await server.start().first('p=tls-unique,,n=alice,r=x'), undefined);
});

test('whatever is sent, nobody is let in by it and nothing throws', async () => {
  const server = scramServer('SCRAM-SHA-256', (user) => USERS.get(user));
  await server.start().first('n,,n=alice,r=x');
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.string(), fc.boolean(), async (first, final, begins) => {
      const login = server.start();
      await login.first(begins ? `n,,n=alice,r=x${first}` : first);
      assert.equal(login.final(final), undefined);
      assert.equal(login.final(`c=biws,r=${first},p=${final}`), undefined);
    }),
    { numRuns: 200 },
  );
});
