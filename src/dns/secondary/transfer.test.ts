import assert from 'node:assert/strict';
import test from 'node:test';
import packet from 'dns-packet';
import { question, readReply, serveText } from '../../../test/support/dns/testing.ts';
import { atOnce } from '../../ops/time-slice.ts';
import { TYPE } from '../wire/constants.ts';
import { parseName } from '../wire/name.ts';
import { transferMessages } from './transfer.ts';

const { store } = serveText('a.example.test A 10.0.0.1'); // its serial is 1000
const zone = parseName('example.test')!;

/** The records that a secondary with some serial gets. */
function transferred(serial: number | undefined, type: 'AXFR' | 'IXFR' = 'IXFR'): string[] {
  const data = {
    mname: 'ns.test',
    rname: 'h.test',
    serial: serial ?? 0,
    refresh: 1,
    retry: 1,
    expire: 1,
    minimum: 1,
  };
  const query = packet.encode({
    type: 'query',
    questions: [{ name: 'example.test', type, class: 'IN' }],
    authorities: serial === undefined ? [] : [{ name: 'example.test', type: 'SOA', ttl: 0, data }],
  });
  const messages = atOnce(transferMessages(store, zone, query, 12 + 14 + 4, TYPE[type]));
  return messages.flatMap((message) => readReply(Buffer.from(message)).answer);
}

test('a secondary that asks what has changed and is up to date gets the SOA alone', () => {
  for (const serial of [1000, 1001, 0x7fffffff]) assert.equal(transferred(serial).length, 1, String(serial));
  assert.match(transferred(1000)[0]!, /^example.test 30 SOA .* 1000 /);
});

test('any other gets the whole zone', () => {
  const whole = transferred(undefined, 'AXFR');
  assert.equal(whole.length, 4);
  for (const serial of [999, 0, undefined, 0xffffff00])
    assert.deepEqual(transferred(serial), whole, String(serial));
});

test('a transfer is made name by name, and has the zone as it was when it began', () => {
  const hosts = Array.from({ length: 2000 }, (_, i) => `h${i}.example.test A 10.0.${i >> 8}.${i & 255}`);
  const { store: large } = serveText(hosts.join('\n'));
  const query = question('example.test', 'AXFR');
  const read = (messages: Uint8Array[]) =>
    messages.flatMap((message) => readReply(Buffer.from(message)).answer);
  const before = read(atOnce(transferMessages(large, zone, query, query.length, TYPE.AXFR)));
  assert.equal(before.length, 2000 + 1 + 2, 'with the name server, and the SOA twice');
  const steps = transferMessages(large, zone, query, query.length, TYPE.AXFR);
  let count = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next(), count++) {
    const name = `h${(count * 7) % 2000}.example.test`;
    large.upsert(`Service a/${count}`, [{ name, type: 'A', data: '192.0.2.1' }]);
    large.upsert(`Service b/${count}`, [{ name: `new${count}.example.test`, type: 'A', data: '192.0.2.1' }]);
    if (count === 5) large.upsert('test records', []);
  }
  assert.ok(count >= 2000, `${count} steps`);
  assert.deepEqual(read(step.value).toSorted(), before.toSorted());
});
