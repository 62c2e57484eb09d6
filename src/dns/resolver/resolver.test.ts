import assert from 'node:assert/strict';
import test from 'node:test';
import { RCODE, TYPE } from '../wire/constants.ts';
import { parseName } from '../wire/name.ts';
import { createOutsideAnswers, outsideKey } from '../zone/outside.ts';
import { nameserversOf } from './resolv-conf.ts';
import { createResolver } from './resolver.ts';
import type { OutsideAnswer } from '../zone/outside.ts';
import type { ResolverAddress } from './exchange.ts';
import type { ResolverResponse } from './response.ts';

const name = parseName('lb.elsewhere.test')!;
const servers = [
  { address: '192.0.2.53', port: 53 },
  { address: '192.0.2.54', port: 53 },
];

/** A resolver whose servers are a function; the time is a field. */
function open(respond: (server: ResolverAddress) => Promise<Partial<ResolverResponse>>) {
  const known = createOutsideAnswers();
  const published: OutsideAnswer[] = [];
  const seen: string[] = [];
  const world = { now: 1000 };
  const resolver = createResolver({
    servers,
    known,
    isOurs: (asked) => asked === parseName('host.example.test'),
    now: () => world.now,
    async exchange(server) {
      seen.push(server.address);
      return { rcode: 0, truncated: false, answers: [], authorities: [], ...(await respond(server)) };
    },
    publish(answers) {
      published.push(...answers);
      for (const answer of answers) known.set(outsideKey(answer.name, answer.type), answer);
    },
  });
  return { resolver, published, seen, world };
}

const address = { answers: [{ owner: name, type: TYPE.A, ttl: 30, data: '\xc0\0\x02\x07' }] };

test('servers are asked in turn until one is of use', async () => {
  const { resolver, published, seen } = open(async ({ address: server }) => {
    if (server === '192.0.2.53') return { rcode: RCODE.SERVFAIL };
    return address;
  });
  await resolver.ask(name, TYPE.A);
  assert.deepEqual(seen, ['192.0.2.53', '192.0.2.54']);
  assert.deepEqual(
    published.map(({ kind, expires }) => [kind, expires]),
    [['answer', 1030]],
  );
});

test('a question is asked once, however many wait for it, and not again while the answer is fresh', async () => {
  const { resolver, published, seen } = open(async () => address);
  await Promise.all(Array.from({ length: 50 }, () => resolver.ask(name, TYPE.A)));
  await resolver.ask(name, TYPE.A);
  assert.deepEqual([seen.length, published.length], [1, 2]);
});

test('a failure is published too; a last good answer is kept instead, for a while', async () => {
  let alive = false;
  const { resolver, published, world, seen } = open(async () => {
    if (!alive) throw new Error('timed out');
    return address;
  });
  await resolver.ask(name, TYPE.A);
  assert.deepEqual([published.at(-1)!.kind, seen.length], ['failed', 3]);
  alive = true;
  world.now += 10;
  await resolver.ask(name, TYPE.A);
  alive = false;
  world.now += 1000;
  await resolver.ask(name, TYPE.A);
  assert.deepEqual([published.at(-1)!.kind, published.at(-1)!.expires], ['answer', world.now + 30]);
  for (let turn = 0; turn < 3000; turn++) {
    world.now += 31;
    await resolver.ask(name, TYPE.A);
  }
  assert.equal(published.at(-1)!.kind, 'failed', 'a day later');
});

test('too many at a time, and names of our own, are refused without asking', async () => {
  const never = new Promise<Partial<ResolverResponse>>(() => {});
  const { resolver, published, seen } = open(() => never);
  void resolver.ask(parseName('host.example.test')!, TYPE.A);
  assert.deepEqual([seen.length, published.length], [0, 1], 'a name of our own');
  for (let i = 0; i < 300; i++) void resolver.ask(parseName(`n.elsewhere${i}.test`)!, TYPE.A);
  assert.deepEqual([seen.length, published.length, resolver.counts.overload], [256, 45, 45]);
});

test('slow names of one domain leave room for those of others', async () => {
  const never = new Promise<Partial<ResolverResponse>>(() => {});
  const { resolver, seen } = open(() => never);
  for (let i = 0; i < 1000; i++) void resolver.ask(parseName(`n${i}.slow.test`)!, TYPE.A);
  assert.equal(seen.length, 128);
  for (let i = 0; i < 1000; i++) void resolver.ask(parseName(`n${i}.slower.test`)!, TYPE.A);
  assert.equal(seen.length, 128 + 64);
  void resolver.ask(name, TYPE.A);
  assert.equal(seen.length, 128 + 65);
});

test('one client leaves room for others, however many domains it asks for', async () => {
  const never = new Promise<Partial<ResolverResponse>>(() => {});
  const { resolver, seen } = open(() => never);
  for (let i = 0; i < 1000; i++) void resolver.ask(parseName(`n.slow${i}.test`)!, TYPE.A, 'one');
  assert.equal(seen.length, 128);
  for (let i = 0; i < 1000; i++) void resolver.ask(parseName(`n.slower${i}.test`)!, TYPE.A, 'another');
  assert.equal(seen.length, 128 + 64);
  void resolver.ask(name, TYPE.A, 'third');
  assert.equal(seen.length, 128 + 65);
});

test('where there is no room what was known stays, and is not forgotten', async () => {
  let isSlow = false;
  const never = new Promise<Partial<ResolverResponse>>(() => {});
  const { resolver, published, world } = open(() => (isSlow ? never : Promise.resolve(address)));
  await resolver.ask(name, TYPE.A);
  isSlow = true;
  world.now += 1000;
  for (let i = 0; i < 300; i++) void resolver.ask(parseName(`n.d${i}.test`)!, TYPE.A);
  await resolver.ask(name, TYPE.A);
  assert.deepEqual([published.at(-1)!.kind, published.at(-1)!.expires], ['answer', world.now + 1]);
  world.now += 10;
  await resolver.ask(name, TYPE.A);
  assert.equal(published.at(-1)!.kind, 'answer');
});

test('the name servers of resolv.conf', () => {
  const text =
    '# nameserver 192.0.2.9\nsearch a b\nnameserver 10.96.0.10\nnameserver fd00::10 # x\nnameserver no\n';
  assert.deepEqual(nameserversOf(text), [
    { address: '10.96.0.10', port: 53 },
    { address: 'fd00::10', port: 53 },
  ]);
});
