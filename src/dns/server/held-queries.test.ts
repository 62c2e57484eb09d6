import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClientAddress, setAddressText } from '../wire/client-address.ts';
import { parseName } from '../wire/name.ts';
import { TYPE } from '../wire/constants.ts';
import { createHeldQueries } from './held-queries.ts';
import type { ClientAddress } from '../wire/client-address.ts';
import type { HeldQueries } from './held-queries.ts';

const nameOf = (text: string) => parseName(text)!;

function address(text: string): ClientAddress {
  const client = createClientAddress();
  setAddressText(client, text);
  return client;
}

const CLIENT = address('192.0.2.1');
const OTHER = address('192.0.2.2');
const CLUSTER_DNS = address('10.96.0.10');
const OTHERS_NAME = nameOf('kafka.cloud.test');

const answer = (name: string) => ({
  name,
  type: TYPE.A,
  kind: 'failed' as const,
  rrset: undefined,
  soa: undefined,
  expires: 0,
});

function open() {
  const asked: (string | undefined)[] = [];
  const held = createHeldQueries<number>(
    (_name, _type, client) => void asked.push(client),
    (client) => client === CLUSTER_DNS,
  );
  return { held, asked };
}

/** Holds queries for names of a domain for as long as there is room; returns the names. */
function fill(held: HeldQueries<number>, domain: string, names: number, client: ClientAddress): string[] {
  const all = Array.from({ length: names }, (_, number) => nameOf(`slow-${number}.${domain}`));
  for (let query = 0; held.hasRoomFor(all[query % names]!, client); query++)
    held.hold(all[query % names]!, TYPE.A, client, query);
  return all;
}

for (const names of [1, 64])
  test(`queries for ${names} slow names of one domain leave room for those of others`, () => {
    const { held } = open();
    const slow = fill(held, 'slow.test', names, CLUSTER_DNS);
    assert.ok(held.hasRoomFor(OTHERS_NAME, CLUSTER_DNS));
    const before = held.size;
    held.hold(OTHERS_NAME, TYPE.A, CLUSTER_DNS, 1);
    assert.ok(held.hasRoomFor(OTHERS_NAME, CLUSTER_DNS));
    assert.deepEqual(held.release([answer(OTHERS_NAME)]), [1]);
    assert.equal(held.release(slow.map(answer)).length, before);
    assert.equal(held.size, 0);
    assert.ok(held.hasRoomFor(slow[0]!, CLUSTER_DNS));
  });

test('one client leaves room for others, of however many slow domains its queries are', () => {
  const { held, asked } = open();
  const slow = Array.from({ length: 40 }, (_, domain) => fill(held, `d${domain}.test`, 2, CLIENT)).flat();
  assert.equal(held.size, 512);
  assert.ok(!held.hasRoomFor(OTHERS_NAME, CLIENT));
  assert.ok(held.hasRoomFor(OTHERS_NAME, OTHER));
  assert.ok(asked.length > 0 && asked.every((client) => client === asked[0]));
  held.hold(OTHERS_NAME, TYPE.A, OTHER, 1);
  assert.notEqual(asked.at(-1), asked[0], 'the resolver is told whose it is');
  assert.equal(held.release(slow.map(answer)).length, 512);
  assert.ok(held.hasRoomFor(OTHERS_NAME, CLIENT), 'and has its own again afterwards');
});

test('addresses of one /64 are one client', () => {
  const { held } = open();
  for (let host = 1; host <= 40; host++) fill(held, `d${host}.test`, 2, address(`2001:db8::${host}`));
  assert.equal(held.size, 512);
  assert.ok(held.hasRoomFor(OTHERS_NAME, address('2001:db8:0:1::1')));
});

test('there is an end to them, whosever they are; who asks for others may have them all', () => {
  const { held, asked } = open();
  for (let domain = 0; domain < 40; domain++) fill(held, `d${domain}.test`, 2, CLUSTER_DNS);
  assert.equal(held.size, 1024);
  assert.ok(!held.hasRoomFor(OTHERS_NAME, CLUSTER_DNS));
  assert.deepEqual([...new Set(asked)], [undefined]);
});
