/** Every code that a user can meet is in the one table, and the page says what the table says. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { Reason as KafkaReason } from '../../src/control/brokers/faults.ts';
import type { EntityReason } from '../../src/control/brokers/entities/faults.ts';
import type { WarningReason } from '../../src/control/brokers/moves/layout-warnings.ts';
import type { ConflictReason } from '../../src/control/discover/imports/export-conflicts.ts';
import type { Reason as PodSetReason } from '../../src/control/pod-sets/faults.ts';
import type { Reason as ProxyReason } from '../../src/control/proxy/faults.ts';
import type { Reason as RedpandaReason } from '../../src/control/redpanda/faults.ts';
import { CODES, CODES_PAGE, anchorOf, findCode } from '../../src/ops/codes/codes.ts';
import { REASONS } from '../../src/ops/codes/reasons.ts';
import type { ReasonCode } from '../../src/ops/codes/reasons.ts';
import { codesPage } from '../../tools/codes-page.ts';

const root = join(import.meta.dirname, '../..');

/** Held by the compiler: a reason of a road's closed list that is not in the table does not fit here. */
type InTable<R extends ReasonCode> = R;
type RoadReason = InTable<
  ProxyReason | KafkaReason | EntityReason | RedpandaReason | PodSetReason | ConflictReason | WarningReason
>;
const sample: RoadReason = 'Invalid';

/** How reasons are spelled in the control planes: as a field, as an argument of `say`, `tell` and `report`, as a value of a table. */
const SPELLINGS = [
  /\breason: '([A-Z]\w+)'/g,
  /\b(?:say\('(?:True|False)', |tell\(\w+, |report\(|refuse\()'([A-Z]\w+)'/g,
  /^ {2}\w+: '((?:Delegation|Zones)[A-Z]\w+)',$/gm,
];

/** Reasons that are no status of ours: the answer of an admission policy. */
const NOT_OURS = new Set(['src/control/install/protected-filters.ts']);

function spelledReasons(): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of globSync('src/control/**/*.ts', { cwd: root })) {
    if (file.endsWith('.test.ts') || NOT_OURS.has(file)) continue;
    const text = readFileSync(join(root, file), 'utf8');
    for (const spelling of SPELLINGS)
      for (const [, reason] of text.matchAll(spelling)) found.set(reason!, file);
  }
  return found;
}

suite('codes', () => {
  test('every reason that a control plane spells out is in the table', () => {
    const found = spelledReasons();
    assert.ok(
      found.has(sample) && found.has('ScaledToZero') && found.has('ZonesDelegated'),
      'found too little',
    );
    const missing = [...found].filter(([reason]) => !(reason in REASONS));
    assert.deepEqual(missing, [], 'add them to src/ops/codes');
  });

  test('a code means one thing, and can be looked up however it is capitalised', () => {
    const anchors = CODES.map(({ code }) => anchorOf(code));
    assert.equal(new Set(anchors).size, anchors.length);
    for (const one of CODES) assert.equal(findCode(one.code.toLowerCase()), one);
  });

  test('every entry says what it means, why, and what to do, in whole sentences', () => {
    const isSentence = (text: string) => /^\S.*\.$/s.test(text);
    const wrong = CODES.filter(({ means, why = '.', cure }) => ![means, `x${why}`, cure].every(isSentence));
    assert.deepEqual(
      wrong.map(({ code }) => code),
      [],
    );
  });

  test('the page is up to date', () => {
    const found = readFileSync(join(root, CODES_PAGE), 'utf8');
    assert.ok(found === codesPage(), `${CODES_PAGE} differs from the table: run \`npm run generate\``);
  });
});
