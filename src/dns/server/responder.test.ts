import assert from 'node:assert/strict';
import test from 'node:test';
import dns2 from 'dns2';
import { explain } from '../zone/explain.ts';
import { seededRandom } from '../../../test/support/dns/fuzzing.ts';
import { typeNumber } from '../wire/constants.ts';
import { parseName } from '../wire/name.ts';
import { randomQuestion, randomRecords } from '../../../test/support/dns/random-zone.ts';
import { serveText } from '../../../test/support/dns/testing.ts';
import type { ExplainedRRset } from '../zone/explain.ts';

const ROUNDS = 200;

/** `name ttl TYPE`, as far as every library agrees on the words. */
const KNOWN = new Map(Object.entries(dns2.Packet.TYPE).map(([name, number]) => [number as number, name]));

interface Dns2Record {
  name: string;
  ttl: number;
  type: number;
  address?: string;
  domain?: string;
  ns?: string;
  target?: string;
  data?: unknown;
}

function dns2Line(record: Dns2Record): string {
  return `${record.name} ${record.ttl} ${KNOWN.get(record.type)} ${record.address ?? record.domain ?? record.ns ?? record.target ?? ''}`;
}

/** Cuts what the libraries write differently: all but the name or address of the data. */
function comparable(line: string): string {
  const [name, ttl, type, ...data] = line.split(' ');
  let last = '';
  if (['A', 'NS', 'CNAME', 'PTR', 'SRV'].includes(type!)) last = data.at(-1)!;
  if (type === 'AAAA') last = new URL(`http://[${data[0]}]`).hostname;
  return `${name} ${ttl} ${type} ${last.replace(/\.$/, '')}`;
}

function ourLines(rrsets: readonly ExplainedRRset[]): string[] {
  return rrsets.flatMap(({ name, ttl, type, data }) =>
    data.map((each) => comparable(`${name.replace(/\.$/, '')} ${ttl} ${type} ${each}`)),
  );
}

test(`dns-packet and dns2 read in ${ROUNDS} × 20 answers what the lookup found`, () => {
  const random = seededRandom(7);
  let records = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const server = serveText('');
    const zone = randomRecords(random, 'example.test', 30);
    assert.deepEqual(server.store.upsert('random', zone), []);
    for (let i = 0; i < 20; i++) {
      const { name, type } = randomQuestion(random, 'example.test', zone);
      const reply = server.ask(name, type, { tcp: true });
      const expected = explain(server.zones, server.store, parseName(name)!, typeNumber(type)!);
      const told = `${name} ${type} ${reply.bytes.toString('hex')}`;
      const theirs = dns2.Packet.parse(reply.bytes) as unknown as {
        answers: Dns2Record[];
        authorities: Dns2Record[];
      };
      assert.equal(reply.rcode, expected.rcode, told);
      const answer = ourLines(expected.answer).toSorted();
      assert.deepEqual(reply.answer.map(comparable).toSorted(), answer, told);
      assert.deepEqual(theirs.answers.map((record) => comparable(dns2Line(record))).toSorted(), answer, told);
      assert.equal(theirs.authorities.length, reply.authority.length, told);
      records += answer.length;
    }
  }
  assert.ok(records > ROUNDS * 5, 'most questions find something');
});
