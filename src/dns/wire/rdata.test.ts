import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { cpuMs } from '../../../test/support/cpu.ts';
import { TYPE } from './constants.ts';
import { formatRdata, parseRdata } from './rdata.ts';
import type { RecordType } from './constants.ts';

const value = (type: RecordType, text: string) => {
  const parsed = parseRdata(type, text);
  return 'value' in parsed ? parsed.value : undefined;
};

test('data survive being read and written', () => {
  const cases: [RecordType, string][] = [
    ['A', '10.0.0.1'],
    ['AAAA', '2001:db8::1'],
    ['CNAME', 'a.b.test.'],
    ['NS', 'a.b.test.'],
    ['PTR', 'a.b.test.'],
    ['SRV', '1 2 65535 host.test.'],
    ['TXT', '"one" "two \\"quoted\\""'],
    ['TXT', '""'],
  ];
  for (const [type, text] of cases) assert.equal(formatRdata(TYPE[type], value(type, text)!), text);
});

test('text without quotes is one string, cut where it must be', () => {
  assert.equal(value('TXT', '1.0.0'), '\x051.0.0');
  assert.equal(value('TXT', 'a b'), '\x03a b');
  const long = value('TXT', 'x'.repeat(300))!;
  assert.deepEqual([long.length, long.charCodeAt(0), long.charCodeAt(256)], [302, 255, 45]);
  assert.equal(value('TXT', 'ä'), '\x02\xc3\xa4');
});

test('any text survives', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200, size: 'max' }), (text) => {
      const data = value('TXT', text)!;
      assert.equal(value('TXT', formatRdata(TYPE.TXT, data)), data);
    }),
  );
});

test('no text takes long to read, whatever its writer is after', () => {
  // Of such a text an expression with two ways to match a blank has 3^18 ways to try, which takes many seconds.
  const blanks = `${'"a"  '.repeat(18)}x`;
  assert.ok(cpuMs(() => assert.equal(value('TXT', blanks)?.length, blanks.length + 1)) < 2000);
  assert.equal(value('TXT', `${'"a"  '.repeat(2000)} `)?.length, 4000);
  assert.ok('problem' in parseRdata('TXT', '"a" '.repeat(400_000)));
});

test('what is wrong is named', () => {
  const bad: [RecordType, string][] = [
    ['A', 'fd00::1'],
    ['A', '10.0.0'],
    ['AAAA', '10.0.0.1'],
    ['CNAME', 'a..b'],
    ['SRV', '1 2 3'],
    ['SRV', '1 2 65536 a.test'],
    ['SRV', '-1 2 3 a.test'],
    ['SRV', '1 2 3 a.test more'],
    ['TXT', `"${'x'.repeat(256)}"`],
  ];
  for (const [type, text] of bad) {
    const parsed = parseRdata(type, text);
    assert.ok('problem' in parsed && parsed.problem.includes(text), `${type} ${text}`);
  }
});
