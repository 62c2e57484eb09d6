import assert from 'node:assert/strict';
import test from 'node:test';
import packet from 'dns-packet';
import { readReply, serveText } from '../../../test/support/dns/testing.ts';
import { TYPE } from '../wire/constants.ts';
import { parseName } from '../wire/name.ts';
import { transferMessages } from './transfer.ts';

const { zones } = serveText('a.example.test A 10.0.0.1'); // its serial is 1000
const zone = zones.table.get(parseName('example.test')!)!;

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
  const messages = [...transferMessages(zone, query, 12 + 14 + 4, TYPE[type])];
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
