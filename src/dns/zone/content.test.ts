import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import fc from 'fast-check';
import { records, serveText } from '../../../test/support/dns/testing.ts';
import { zoneSpecOf, dnsConfigSchema } from '../server/config.ts';
import { parseName } from '../wire/name.ts';
import { createZoneContent } from './content.ts';
import { createStore } from './store.ts';
import { applyUpdate } from './update.ts';
import { createZones } from './zones.ts';

const ZONE = parseName('example.test')!;

function open(negativeTtl = 10) {
  const config = dnsConfigSchema.parse({ zones: [{ name: 'example.test', negativeTtl }] });
  const zones = createZones();
  const apply = (update: Parameters<typeof applyUpdate>[1]) => applyUpdate(zones, update);
  const store = createStore(config.zones.map(zoneSpecOf), apply, { now: () => 1000, serials: 'given' });
  store.setReady(true);
  return store;
}

test('the fingerprint depends on what is served alone, not on the way there', () => {
  const source = fc.constantFrom('a', 'b', 'c');
  const line = fc.constantFrom(
    'x A 10.0.0.1',
    'x A 10.0.0.2',
    'x 7 A 10.0.0.1',
    'y TXT q',
    'x CNAME y.example.test',
  );
  const step = fc.tuple(source, fc.uniqueArray(line, { maxLength: 4 }));
  const load = (steps: readonly (readonly [string, readonly string[]])[]) => {
    const store = open();
    for (const [from, lines] of steps)
      store.upsert(from, records(lines.map((one) => one.replace(' ', '.example.test ')).join('\n')));
    return store.contentOf(ZONE);
  };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const last = new Map(steps);
      assert.equal(load(steps), load([...last].toReversed()));
      assert.equal(load([...steps, ...[...last.keys()].map((from) => [from, []] as const)]), load([]));
    }),
  );
  assert.notEqual(load([['a', ['x A 10.0.0.1']]]), load([['a', ['x 7 A 10.0.0.1']]]));
  assert.notEqual(open(10).contentOf(ZONE), open(11).contentOf(ZONE));
});

test('where serials are given, changes make none, and a replica knows what it has passed', () => {
  const store = open();
  assert.equal(store.serialOf(ZONE), 1, 'before any is given');
  store.setSerial(ZONE, 5000);
  const passed = store.contentOf(ZONE);
  store.upsert('a', records('x.example.test A 10.0.0.1'));
  assert.equal(store.serialOf(ZONE), 5000);
  assert.deepEqual([store.hasReached(ZONE, passed), store.hasReached(ZONE, 'ahead')], [true, false]);
  const { store: own } = serveText('');
  own.upsert('b', records('x.example.test A 10.0.0.1'));
  assert.ok(own.serialOf(ZONE) > 1000, 'of its own otherwise');
});

test('the fingerprint of one RRset is its SHA-256: replicas of all versions compare by it', () => {
  const content = createZoneContent();
  content.add(ZONE, { type: 16, ttl: 30, data: ['\u{ff}one', 'two'] });
  const digest = createHash('sha256').update(`${ZONE}16 30 4:\u{ff}one3:two`).digest();
  assert.equal(content.fingerprint, digest.toString('base64url', 0, 24));
});
