import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { mergeConditions } from './conditions.ts';
import type { Condition, PlannedCondition } from './conditions.ts';

const then = '2026-01-01T00:00:00Z';
const now = new Date('2026-02-02T02:02:02.222Z');
const condition = (type: string, status: Condition['status'], message = ''): PlannedCondition => ({
  type,
  status,
  reason: 'Because',
  message,
});
const existing = (type: string, status: Condition['status']): Condition => ({
  ...condition(type, status),
  lastTransitionTime: then,
});

suite('conditions', () => {
  test('a status that stays keeps its time, one that changes gets the new one', () => {
    const merged = mergeConditions(
      [existing('Ready', 'True'), existing('Accepted', 'True')],
      [condition('Accepted', 'True', 'another message'), condition('Ready', 'False')],
      now,
    );
    assert.deepEqual(merged, [
      { ...condition('Ready', 'False'), lastTransitionTime: '2026-02-02T02:02:02Z' },
      { ...condition('Accepted', 'True', 'another message'), lastTransitionTime: then },
    ]);
  });

  test('merging the same again changes nothing', () => {
    const planned = [condition('A', 'True'), condition('B', 'Unknown')];
    const once = mergeConditions(undefined, planned, now);
    assert.deepEqual(mergeConditions(once, planned.toReversed(), new Date()), once);
  });

  test('what is no longer planned goes, unless it is someone else’s', () => {
    const old = [existing('Foreign', 'True'), existing('Stale', 'True')];
    assert.deepEqual(mergeConditions(old, [], now), []);
    assert.deepEqual(
      mergeConditions(old, [], now, (type) => type !== 'Foreign'),
      [existing('Foreign', 'True')],
    );
  });
});
