import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { RECORD_TYPES, TYPE } from '../wire/constants.ts';
import { parseName } from '../wire/name.ts';
import { explain } from './explain.ts';
import { createStore } from './store.ts';
import { applyUpdate } from './update.ts';
import { indexParts } from './memory.ts';
import { nameOf, NODE, nodeIn, NONE, rrsetsOf, ZONE_SHIFT } from './zone.ts';
import { createZones } from './zones.ts';
import { seededRandom } from '../../../test/support/dns/fuzzing.ts';
import { randomRecords } from '../../../test/support/dns/random-zone.ts';
import { serveText } from '../../../test/support/dns/testing.ts';
import type { DnsRecord } from '../wire/record.ts';
import type { Update } from './update.ts';
import type { Zone, ZoneNode } from './zone.ts';
import type { Zones } from './zones.ts';

/** All nodes of a zone. */
function nodesOf({ memory: { words }, id }: Zone): ZoneNode[] {
  return indexParts().flatMap((part) => {
    const index = words[part]!;
    const nodes = Array.from(words.subarray(index + 1, index + 2 + words[index]!), nodeIn);
    return nodes.filter((node) => node !== NONE && words[node + NODE.tail]! >>> ZONE_SHIFT === id);
  });
}

/** Everything the zones hold, as text. */
function contents(zones: Zones): string[] {
  return [...zones.table.values()]
    .flatMap((zone) =>
      [...nodesOf(zone)].flatMap((node) => {
        const { words } = zone.memory;
        const name = nameOf(zone, node);
        const [children, tail, cuts] = [
          words[node + NODE.children],
          words[node + NODE.tail],
          words[zone.cutsAt],
        ];
        return [
          JSON.stringify({ name, children, tail, cuts }),
          ...rrsetsOf(zone, node)
            .filter(({ type }) => type !== TYPE.SOA)
            .map((rrset) => JSON.stringify({ zone: zone.name, name, ...rrset })),
        ];
      }),
    )
    .toSorted();
}

const spec = () => serveText('');

const specs = [
  {
    name: parseName('example.test')!,
    ttl: 30,
    soaTtl: 30,
    nameservers: [parseName('ns.example.test')!],
    soa: {
      primary: parseName('ns.example.test')!,
      contact: parseName('h.example.test')!,
      refresh: 1,
      retry: 1,
      expire: 1,
      negativeTtl: 1,
    },
  },
];

test('sources that give records of one name and type are joined; each can go again', () => {
  const { store, ask } = spec();
  store.upsert('Slice a', [{ name: 'x.example.test', type: 'A', data: '10.0.0.1', ttl: 60 }]);
  store.upsert('Slice b', [{ name: 'x.example.test', type: 'A', data: '10.0.0.2', ttl: 20 }]);
  store.upsert('Slice c', [{ name: 'x.example.test', type: 'A', data: '10.0.0.2', ttl: 40 }]);
  assert.deepEqual(ask('x.example.test', 'A').answer.toSorted(), [
    'x.example.test 20 A 10.0.0.1',
    'x.example.test 20 A 10.0.0.2',
  ]);
  assert.deepEqual(store.sourcesOf(parseName('x.example.test')!, TYPE.A), ['Slice a', 'Slice b', 'Slice c']);
  store.upsert('Slice b', []);
  assert.deepEqual(ask('x.example.test', 'A').answer.toSorted(), [
    'x.example.test 40 A 10.0.0.1',
    'x.example.test 40 A 10.0.0.2',
  ]);
  store.upsert('Slice a', []);
  store.upsert('Slice c', []);
  assert.equal(ask('x.example.test', 'A').rcode, 'NXDOMAIN');
});

test('of two CNAME records the source that sorts first wins, whatever came first; the other is rejected', () => {
  const { store, ask } = spec();
  const alias = (data: string): DnsRecord[] => [{ name: 'x.example.test', type: 'CNAME', data }];
  assert.deepEqual(store.upsert('b', alias('two.test')), []);
  assert.deepEqual(store.upsert('a', alias('one.test')), []);
  assert.match(store.upsert('b', alias('two.test'))[0]!.reason, /already has another CNAME record, from a/);
  assert.deepEqual(ask('x.example.test', 'CNAME').answer, ['x.example.test 30 CNAME one.test']);
});

test('a bad record does not keep the others from being served', () => {
  const { store, ask } = spec();
  const problems = store.upsert('Service x', [
    { name: 'good.example.test', type: 'A', data: '10.0.0.1' },
    { name: 'bad..example.test', type: 'A', data: '10.0.0.1' },
    { name: 'bad.example.test', type: 'A', data: 'ten' },
    { name: 'bad.example.test', type: 'A', data: '10.0.0.1', ttl: -1 },
    { name: 'bad.example.test', type: 'TXT', data: 'x', ptr: true },
  ]);
  assert.equal(problems.length, 4);
  assert.equal(problems[0]!.record.name, 'bad..example.test');
  assert.equal(ask('good.example.test', 'A').answer.length, 1);
});

const records = fc
  .integer({ min: 0, max: 1000 })
  .map((seed) => randomRecords(seededRandom(seed), 'example.test', 8));
const step = fc.record({
  source: fc.constantFrom('a', 'b', 'c'),
  records: fc.option(records, { nil: undefined }),
});

test('any history leads to the same zones as its end result alone', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const { store, zones } = spec();
      const last = new Map<string, DnsRecord[]>();
      for (const { source, records: wanted } of steps) {
        if (wanted) store.upsert(source, wanted);
        else store.upsert(source, []);
        last.set(source, wanted ?? []);
      }
      const direct = spec();
      for (const [source, wanted] of [...last].toReversed()) direct.store.upsert(source, wanted);
      assert.deepEqual(contents(zones), contents(direct.zones));
      for (const source of last.keys()) store.upsert(source, []);
      assert.deepEqual(contents(zones), contents(spec().zones), 'nothing is left behind');
    }),
    { numRuns: 200 },
  );
});

test('what changes nothing emits nothing; the changes of a name stand together', () => {
  const updates: Update[] = [];
  const zones = createZones();
  const store = createStore(specs, (update) => (updates.push(update), applyUpdate(zones, update)), {
    now: () => 5,
  });
  updates.length = 0;
  const many = Array.from({ length: 2000 }, (_, i): DnsRecord[] => [
    { name: `n${i}.example.test`, type: 'A', data: '10.0.0.1' },
    { name: `n${i}.example.test`, type: 'TXT', data: 'x' },
  ]).flat();
  store.upsert('all', many);
  const names = updates.flatMap((update) =>
    update.kind === 'rrsets' ? update.changes.map(({ name }) => name) : [],
  );
  const turns = names.filter((name, i) => name !== names[i - 1]);
  assert.deepEqual([names.length, turns.length], [4000, 2000]);
  updates.length = 0;
  store.upsert('all', many);
  assert.deepEqual(updates, []);
});

test('the first data, from however many objects, do not take the serial ahead of the time', () => {
  const zones = createZones();
  const store = createStore(specs, (update) => applyUpdate(zones, update), { now: () => 5 });
  const serial = () => {
    const [soa] = explain({ ...zones, ready: true }, store, parseName('example.test')!, TYPE.SOA).answer;
    return soa!.data[0]!.split(' ')[2];
  };
  const add = (i: number) =>
    store.upsert(`Service ${i}`, [{ name: `n${i}.example.test`, type: 'A', data: '10.0.0.1' }]);
  for (let i = 0; i < 100; i++) add(i);
  assert.equal(serial(), '5');
  store.setReady(true);
  add(1000);
  assert.equal(serial(), '6');
  store.setReady(false);
  add(1001);
  assert.equal(serial(), '7', 'somebody may have seen the one before');
});

test('an explanation names the objects, the alias and the wildcard', () => {
  const { store, zones } = spec();
  store.upsert('Service default/web', [{ name: '*.w.example.test', type: 'A', data: '10.0.0.1' }]);
  store.upsert('DNSEndpoint default/alias', [
    { name: 'www.example.test', type: 'CNAME', data: 'x.w.example.test' },
  ]);
  const said = explain(zones, store, parseName('www.example.test')!, TYPE.A);
  assert.deepEqual(
    said.answer.map(({ name, sources, wildcard }) => ({ name, sources, wildcard })),
    [
      { name: 'www.example.test.', sources: ['DNSEndpoint default/alias'], wildcard: undefined },
      { name: 'x.w.example.test.', sources: ['Service default/web'], wildcard: '*.w.example.test.' },
    ],
  );
  assert.equal(explain(zones, store, parseName('no.example.test')!, TYPE.A).rcode, 'NXDOMAIN');
  assert.equal(explain(zones, store, parseName('no.test')!, TYPE.A).rcode, 'REFUSED');
  assert.equal(
    explain(zones, store, parseName('example.test')!, TYPE.NS).answer[0]!.sources[0],
    'zone example.test.',
  );
});

test('every record type can be served', () => {
  const data = {
    A: '10.0.0.1',
    AAAA: 'fd00::1',
    CNAME: 'x.test',
    SRV: '0 0 1 x.test',
    TXT: 'x',
    PTR: 'x.test',
    NS: 'x.test',
  };
  for (const type of RECORD_TYPES) {
    const { store, ask } = spec();
    const problems = store.upsert('a', [{ name: 'x.example.test', type, data: data[type] }]);
    const { answer, authority } = ask('x.example.test', type);
    // Of another zone's name servers there is only a referral.
    assert.deepEqual([problems, (type === 'NS' ? authority : answer).length], [[], 1], type);
  }
});

test('a large change is made in steps, and its serial is that of the last one', async () => {
  const { store, zones } = serveText('');
  const zone = specs[0]!.name;
  const records = Array.from({ length: 1000 }, (_, i) => ({
    name: `h${i}.example.test`,
    type: 'A' as const,
    data: '10.0.0.1',
  }));
  const serial = store.serialOf(zone);
  const steps = store.upsertSteps('file x', records);
  let [count, isWhole] = [0, false];
  for (let step = steps.next(); !step.done; step = steps.next(), count++) {
    assert.equal(store.serialOf(zone), serial);
    if (count === 20) void store.whole().then(() => (isWhole = true));
    await Promise.resolve();
    assert.equal(isWhole, false);
  }
  assert.ok(count > 20, `${count} steps`);
  assert.equal(store.serialOf(zone), serial + 1);
  await store.whole();
  assert.deepEqual(store.counts().get('file'), 1000);
  const all = contents(zones);
  store.upsert('file x', records.slice(0, 10));
  assert.deepEqual(store.counts().get('file'), 10);
  assert.ok(contents(zones).length < all.length);
  assert.equal(explain(zones, store, parseName('h999.example.test')!, TYPE.A).kind, 'nxdomain');
});
