import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { mergeStatus } from './status.ts';

const BEFORE = new Date('2026-01-01T00:00:00Z');
const LATER = new Date('2026-01-02T00:00:00Z');
const ready = (status: 'True' | 'False', reason = 'Because') => ({
  type: 'Ready',
  status,
  reason,
  message: '',
});

suite('a status that is written', () => {
  test('keeps the times of conditions that stay, also within lists of named items', () => {
    const planned = (status: 'True' | 'False') => ({
      conditions: [ready('True')],
      ingresses: [
        { name: 'a', conditions: [ready(status)] },
        { name: 'b', bootstrap: 'x:1', conditions: [ready('True')] },
      ],
    });
    const first = mergeStatus(undefined, planned('False'), BEFORE);
    assert.deepEqual(mergeStatus(first, planned('False'), LATER), first);
    const second = mergeStatus(first, planned('True'), LATER) as ReturnType<typeof planned> & {
      ingresses: { conditions: { lastTransitionTime: string }[] }[];
    };
    assert.equal(second.ingresses[0]!.conditions[0]!.lastTransitionTime, '2026-01-02T00:00:00Z');
    assert.equal(second.ingresses[1]!.conditions[0]!.lastTransitionTime, '2026-01-01T00:00:00Z');
  });

  test('gives a time to a condition that was written by hand without one', () => {
    const merged = mergeStatus({ conditions: [ready('True')] }, { conditions: [ready('True')] }, LATER);
    assert.deepEqual(merged, {
      conditions: [{ ...ready('True'), lastTransitionTime: '2026-01-02T00:00:00Z' }],
    });
  });

  test('leaves lists without conditions as they are planned', () => {
    const portBlocks = [{ start: 1, count: 2 }];
    assert.deepEqual(mergeStatus({ portBlocks: [{ start: 9 }] }, { portBlocks }, LATER), { portBlocks });
  });
});
