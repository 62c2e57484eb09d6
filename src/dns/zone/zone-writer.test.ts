import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { TYPE } from '../wire/constants.ts';
import { isSubdomain, isWildcard, parentOf, parseName } from '../wire/name.ts';
import { unpackRRset } from '../wire/packed-rrset.ts';
import { createSearchName, setSearchName } from '../wire/search-name.ts';
import { lookup } from './lookup.ts';
import { indexAt, indexParts } from './memory.ts';
import { createZones, openZones, shareZones } from './zones.ts';
import type { Name } from '../wire/name.ts';
import type { RRset } from '../wire/record.ts';
import type { Zones } from './zones.ts';

const ZONE = parseName('example.test')!;
const SOA: RRset = { type: TYPE.SOA, ttl: 30, data: ['soa'] };
const TYPES = [TYPE.A, TYPE.AAAA, TYPE.NS, TYPE.TXT];

const label = fc.constantFrom('a', 'b', 'c', '*', 'longer-label');
const owner = fc
  .array(label, { maxLength: 4 })
  .map((labels) => parseName([...labels, 'example.test'].join('.'))!);
const rrset = (type: number) =>
  fc
    .record({
      ttl: fc.nat(9),
      data: fc.uniqueArray(fc.string({ maxLength: 40 }), { minLength: 1, maxLength: 3 }),
    })
    .map(({ ttl, data }): RRset => ({
      type,
      ttl,
      data: data.map((text) => Buffer.from(text).toString('latin1')),
    }));
const change = fc
  .constantFrom(...TYPES)
  .chain((type) => fc.record({ type: fc.constant(type), rrset: fc.option(rrset(type), { nil: undefined }) }));
const step = fc.record({
  name: owner,
  changes: fc.uniqueArray(change, { minLength: 1, maxLength: 3, selector: ({ type }) => type }),
  /** Whether other threads have gone on by then. */
  unread: fc.boolean(),
});

/** The simple model: a map of names, searched by looking at all of them. */
type Model = Map<Name, Map<number, RRset>>;

function exists(model: Model, name: Name): boolean {
  return [...model.keys()].some((other) => isSubdomain(other, name));
}

function modelLookup(
  model: Model,
  name: Name,
  type: number,
): { kind: string; owner: Name; rrset?: RRset | undefined } {
  let encloser = name;
  while (!exists(model, encloser)) encloser = parentOf(encloser)!;
  const above: Name[] = [];
  for (let at = encloser; at !== ZONE; at = parentOf(at)!) above.push(at);
  const cut = above.toReversed().find((at) => model.get(at)?.has(TYPE.NS));
  if (cut !== undefined) return { kind: 'delegation', owner: cut, rrset: model.get(cut)!.get(TYPE.NS) };
  const source = encloser === name ? name : `\u{1}*${encloser}`;
  if (!exists(model, source)) return { kind: 'nxdomain', owner: name };
  const found = model.get(source)?.get(type);
  return { kind: found ? 'answer' : 'nodata', owner: name, ...(found && { rrset: found }) };
}

function ask(zones: Zones, name: Name, type: number) {
  const search = createSearchName();
  setSearchName(search, name);
  const found = lookup(zones, search, type);
  return {
    kind: found.kind,
    owner: found.owner ?? name,
    ...(found.rrset && { rrset: unpackRRset(found.rrset) }),
  };
}

test('whatever is changed, every thread answers as the simple model does', () => {
  const questions = fc.array(fc.tuple(owner, fc.constantFrom(...TYPES)), { minLength: 20, maxLength: 40 });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), questions, (steps, asked) => {
      let done: (() => void) | undefined;
      const zones = createZones(1 << 20, (callback) => (done = callback));
      zones.table.add(zones.writer.createZone(ZONE, SOA));
      const other = openZones(structuredClone(shareZones(zones)));
      zones.ready = true;
      const model: Model = new Map([[ZONE, new Map([[TYPE.SOA as number, SOA]])]]);
      for (const { name, changes, unread } of steps) {
        // A wildcard cannot be delegated; the store refuses that.
        const valid = changes.filter(({ type }) => type !== TYPE.NS || !isWildcard(name));
        zones.writer.change(zones.table.get(ZONE)!, name, valid);
        const rrsets = model.get(name) ?? new Map<number, RRset>();
        for (const { type, rrset: wanted } of valid) {
          if (wanted) rrsets.set(type, wanted);
          else rrsets.delete(type);
        }
        if (rrsets.size > 0) model.set(name, rrsets);
        else model.delete(name);
        if (unread) done?.();
      }
      for (const [name, type] of asked) {
        const expected = modelLookup(model, name, type);
        assert.deepEqual(ask(zones, name, type), expected);
        assert.deepEqual(ask(other, name, type), expected, 'in another thread');
      }
    }),
    { numRuns: 300 },
  );
});

test('memory is used again once nobody can be reading it, and not before', () => {
  const waiting: (() => void)[] = [];
  const zones = createZones(1 << 22, (callback) => waiting.push(callback));
  zones.table.add(zones.writer.createZone(ZONE, SOA));
  const zone = zones.table.get(ZONE)!;
  const turn = (i: number) => {
    const a: RRset = { type: TYPE.A, ttl: 30, data: [String(i)] };
    zones.writer.change(zone, parseName(`n${i % 50}.example.test`)!, [{ type: TYPE.A, rrset: a }]);
  };
  for (let i = 0; i < 5000; i++) turn(i);
  const { used } = zones.writer;
  assert.ok(used > 5000 * 16, 'nobody has said that it is unread');
  for (let i = 0; i < 100_000; i++) {
    turn(i);
    waiting.shift()?.();
  }
  assert.ok(zones.writer.used <= used + 2 * 1024 * 32, `${used} before, ${zones.writer.used} after`);
});

test('a hundred thousand names take a few megabytes, and leave none behind', () => {
  const zones = createZones(64 << 20);
  zones.table.add(zones.writer.createZone(ZONE, SOA));
  const zone = zones.table.get(ZONE)!;
  const all = Array.from({ length: 100_000 }, (_, i) => parseName(`h${i}.example.test`)!);
  const a: RRset = { type: TYPE.A, ttl: 30, data: ['\u{a}\0\0\u{1}'] };
  for (const name of all) zones.writer.change(zone, name, [{ type: TYPE.A, rrset: a }]);
  assert.ok(zones.writer.used < 16e6, `${zones.writer.used} bytes`);
  zones.ready = true;
  assert.equal(ask(zones, all[4711]!, TYPE.A).kind, 'answer');
  for (const name of all) zones.writer.change(zone, name, [{ type: TYPE.A, rrset: undefined }]);
  assert.equal(ask(zones, all[4711]!, TYPE.A).kind, 'nxdomain');
  const { used } = zones.writer;
  for (const name of all) zones.writer.change(zone, name, [{ type: TYPE.A, rrset: a }]);
  assert.ok(zones.writer.used < used * 1.3, `${used} before, ${zones.writer.used} after`);
});

test('the index of names grows part by part, each time by few of a hundred thousand', () => {
  const names = Array.from({ length: 100_000 }, (_, i) => parseName(`h${i}.example.test`)!);
  const search = createSearchName();
  const sizes = new Map(indexParts().map((part) => [part, 0]));
  for (const name of names) {
    setSearchName(search, name);
    const part = indexAt(search.hashes[0]!);
    sizes.set(part, sizes.get(part)! + 1);
  }
  const largest = Math.max(...sizes.values());
  assert.ok(largest < 4000, `${largest} names in one part`);
});
