import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { records, serveText } from '../../../test/support/dns/testing.ts';
import { parseName } from '../wire/name.ts';
import type { NamedRRsets } from './listing.ts';

const ZONES = [{ name: 'example.test' }, { name: 'sub.example.test' }];
const zone = parseName('example.test')!;

const change = fc.record({
  source: fc.constantFrom('a', 'b', 'c'),
  lines: fc.array(
    fc
      .tuple(fc.constantFrom('x', 'y', 'z', 'w', 'x.sub', 'y.sub'), fc.nat(3))
      .map(([label, n]) => `${label}.example.test A 10.0.0.${n}`),
    { maxLength: 4 },
  ),
});

test('a list has a zone as it was when it began, whatever changes meanwhile, and nothing twice', () => {
  fc.assert(
    fc.property(fc.array(change), fc.array(fc.array(change, { maxLength: 3 })), (before, during) => {
      const { store } = serveText('', ZONES);
      const apply = ({ source, lines }: (typeof before)[number]) =>
        store.upsert(source, records(lines.join('\n')));
      before.forEach(apply);
      const textOf = (listed: readonly (NamedRRsets | undefined)[]) =>
        listed.flatMap((one) => (one && one.rrsets.length > 0 ? JSON.stringify(one) : [])).toSorted();
      const expected = textOf([...store.listZone(zone)]);
      const steps = store.listZone(zone);
      const listed: (NamedRRsets | undefined)[] = [];
      during[0]?.forEach(apply);
      for (let i = 1, step = steps.next(); !step.done; step = steps.next(), i++) {
        listed.push(step.value);
        during[i]?.forEach(apply);
      }
      assert.deepEqual(textOf(listed), expected);
    }),
  );
});

test('what goes in the middle of a list is in it, at whichever step, the last included', () => {
  // So many that one of them is what comes last.
  const names = Array.from({ length: 50 }, (_, n) => `h${n}.example.test`);
  for (let at = 0, isOver = false; !isOver; at++) {
    const { store } = serveText('', ZONES);
    store.upsert('a', records(names.map((name) => `${name} A 10.0.0.1`).join('\n')));
    const listed: string[] = [];
    let count = 0;
    for (const one of store.listZone(zone)) {
      if (one) listed.push(one.name);
      if (count++ === at) store.upsert('a', []);
    }
    for (const name of names)
      assert.equal(listed.filter((one) => one === parseName(name)).length, 1, `${name}, step ${at}`);
    isOver = at > count;
  }
});
