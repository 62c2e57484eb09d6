import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isFault } from './certificate-facts.ts';
import { CLOSED, isOpen, nextOpening, parseMaintenanceWindow } from './maintenance-window.ts';
import type { MaintenanceWindow } from './maintenance-window.ts';

function window(expression: string): MaintenanceWindow {
  const parsed = parseMaintenanceWindow(expression);
  assert.ok(!isFault(parsed), expression);
  return parsed;
}

/** What Quartz 2.3.2 answers to when each is next, after 16:30 on Tuesday, 17 November 2026. */
const QUARTZ: Record<string, string | undefined> = {
  '* * 0-1 ? * SUN,MON,TUE,WED,THU *': '2026-11-18T00:00:00Z',
  '0 0 2 ? * SAT': '2026-11-21T02:00:00Z',
  '* * 22-2 ? * FRI-MON': '2026-11-20T00:00:00Z',
  '0 0/15 16 * * ?': '2026-11-17T16:45:00Z',
  '0 0 3 L * ?': '2026-11-30T03:00:00Z',
  '0 0 3 L-3 * ?': '2026-11-27T03:00:00Z',
  '0 0 3 LW * ?': '2026-11-30T03:00:00Z',
  '0 0 3 15W AUG ?': '2027-08-16T03:00:00Z',
  '0 0 3 1W * ?': '2026-12-01T03:00:00Z',
  '0 0 3 ? * 6L': '2026-11-27T03:00:00Z',
  '0 0 3 ? * FRI#3': '2026-11-20T03:00:00Z',
  '0 0 3 ? * 2#5': '2026-11-30T03:00:00Z',
  '0 0 3 ? * L': '2026-11-21T03:00:00Z',
  '0 30 5 29 2 ?': '2028-02-29T05:30:00Z',
  '0 0 0 1 1 ? 2030': '2030-01-01T00:00:00Z',
  '0 0 0 1 1 ? 2020': undefined,
  '15/20 */7 4-10/3 ? 2,DEC 1': '2026-12-06T04:00:15Z',
};

test('expressions mean what they mean to Quartz', () => {
  const after = new Date('2026-11-17T16:30:01Z');
  for (const [expression, next] of Object.entries(QUARTZ))
    assert.deepEqual(nextOpening([window(expression)], after), next && new Date(next), expression);
});

test('a window is open from its first second to its last', () => {
  const windows = [window('* * 0-1 ? * SUN,MON'), window('* * 12 ? * WED')];
  const at = (time: string) => isOpen(windows, new Date(time));
  assert.deepEqual(
    ['2026-11-14T23:59:59Z', '2026-11-15T00:00:00Z', '2026-11-16T01:59:59Z', '2026-11-16T02:00:00Z'].map(at),
    [false, true, true, false],
  );
  assert.ok(at('2026-11-18T12:30:00Z'));
  assert.ok(isOpen([], new Date()), 'without windows it is always time');
  assert.equal(isOpen([CLOSED], new Date()), false);
  assert.equal(nextOpening([CLOSED], new Date()), undefined);
});

test('what is wrong names the field', () => {
  const faults: Record<string, RegExp> = {
    '': /six fields/,
    '0 0 2 * *': /six fields/,
    '0 0 24 ? * *': /an? hour that is not within 0-23/,
    '0 0 2 32 * ?': /day of the month/,
    '0 0 2 L-31 * ?': /day of the month/,
    '0 0 2 ? FOO *': /month/,
    '0 0 2 ? * MONDAY': /day of the week/,
    '0 0 2 ? * 8': /day of the week/,
    '0 0 2 1 * MON': /\? as day/,
    '0 0/0 2 ? * *': /minute/,
    '0 1-2-3 2 ? * *': /minute/,
    '0 -1 2 ? * *': /minute/,
    '0 0 2 ? * * 1969': /year/,
  };
  for (const [expression, message] of Object.entries(faults)) {
    const parsed = parseMaintenanceWindow(expression);
    assert.ok(isFault(parsed), expression);
    assert.match(parsed.fault, message, expression);
  }
});

test('property: any text is read or refused; when it opens next, it is open, and not a second before', () => {
  const time = fc.constantFrom('*', '0', '7', '5-2', '*/7', '1,9-11', '3/5');
  const date = fc.constantFrom('*', '1', 'L', 'LW', '3W', 'L-2', '30,31');
  const weekday = fc.constantFrom('*', 'SUN', 'FRI-MON', '2#1', '6L', '3');
  const days = fc.oneof(
    date.map((one) => [one, '?'] as const),
    weekday.map((one) => ['?', one] as const),
  );
  const month = fc.constantFrom('*', 'JAN', '2', '11-3');
  const sound = fc
    .tuple(time, time, time, days, month, fc.constantFrom('', ' *', ' 2030-2040'))
    .map(
      ([second, minute, hour, [on, by], of, year]) => `${second} ${minute} ${hour} ${on} ${of} ${by}${year}`,
    );
  const text = fc.oneof({ weight: 3, arbitrary: sound }, fc.string({ maxLength: 400, size: 'max' }));
  let opened = 0;
  fc.assert(
    fc.property(
      text,
      fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
      (expression, now) => {
        const parsed = parseMaintenanceWindow(expression);
        if (isFault(parsed)) return;
        const next = nextOpening([parsed], now);
        if (!next) return;
        opened += 1;
        assert.ok(isOpen([parsed], next) && next >= new Date(Math.floor(now.getTime() / 1000) * 1000));
        const before = new Date(next.getTime() - 1000);
        if (before >= now) assert.ok(!isOpen([parsed], before));
      },
    ),
    { numRuns: 300 },
  );
  assert.ok(opened > 100, `the test would show nothing if hardly anything ever opened (${opened})`);
});
