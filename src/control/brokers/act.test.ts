import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createLog } from '../../ops/log.ts';
import { Stale } from '../kernel/status.ts';
import { act } from './act.ts';
import type { Action, ActContext } from './act.ts';

const MINT: Action = {
  do: 'mint',
  cluster: 'events',
  requests: [
    {
      id: 'first',
      authority: 'cluster-ca',
      step: { do: 'make key', generation: 0, why: 'there is none' },
      validityMs: 1000,
      leaves: {},
    },
  ],
};

const contextWith = (secretOf: ActContext['secretOf']): ActContext => {
  const unused = () => assert.fail('not asked for');
  const targets = { persist: unused, apply: unused, findTaken: unused, waitFor: unused, waiterFor: unused };
  const log = createLog('silent');
  return { client: unused, targets, podsOf: unused, secretOf, log, tell: () => {}, clock: () => 0 };
};

const { signal } = new AbortController();

suite('actions of a Kafka cluster', () => {
  test('what cannot be done keeps nothing from being said, and what was refused is not forgotten', async () => {
    const failing = contextWith(() => {
      throw new Error('no such thing');
    });
    const refused = new Map([['uid', new Set(['a'])]]);
    const before = {
      minted: [],
      facts: undefined,
      decision: undefined,
      refused,
      reloads: new Map(),
      moved: undefined,
    };
    const { acted, failure } = await act([MINT], before, failing, signal);
    assert.match(String(failure), /no such thing/);
    assert.deepEqual(acted?.refused, refused);
  });

  test('a plan that is out of date is made again', async () => {
    const stale = contextWith(() => {
      throw new Stale('changed');
    });
    await assert.rejects(act([MINT], undefined, stale, signal), Stale);
  });
});
