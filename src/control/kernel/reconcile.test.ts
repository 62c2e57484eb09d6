import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ApiError } from '../../kube/http/errors.ts';
import type { Plan, PlannedStatus } from './plan.ts';
import { LOCAL } from './plan.ts';
import { reconcileBy } from './reconcile.ts';
import type { Learned, Reconciler } from './reconcile.ts';
import { Stale } from './status.ts';
import type { TargetError } from './targets.ts';

const never = new AbortController().signal;

const object = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'a' },
});
const target = {
  cluster: LOCAL,
  labels: { own: 'x' },
  namespaces: ['a'],
  objects: [object('x')],
  prune: true,
};
const status = (said: object): PlannedStatus => ({ kind: 'Thing', namespace: 'a', name: 'x', status: said });
const plan = (more: Partial<Plan<string>> = {}): Plan<string> => ({
  persist: [],
  targets: [target],
  actions: ['ask'],
  statuses: [],
  lookAgainInMs: undefined,
  ...more,
});

interface Fakes {
  errors?: TargetError[];
  taken?: string[][];
  persist?: () => Promise<void>;
}

/** Reconciles once; says what was called, in order, and what came of it. */
async function run(reconciler: Partial<Reconciler<string, Plan<string>, string, string>>, fakes: Fakes = {}) {
  const calls: string[] = [];
  const { taken = [], errors = [], persist = async () => {} } = fakes;
  const reconcile = reconcileBy<string, Plan<string>, string, string>(
    {
      observe: (_key, acted) => {
        calls.push(`observe ${acted ?? ''}`.trim());
        return acted ?? '';
      },
      plan: () => plan(),
      ...reconciler,
    },
    {
      targets: {
        persist: async (documents) =>
          void (documents.length > 0 && calls.push(`write down ${documents.length}`)),
        async apply(_key, targets) {
          calls.push(`apply ${targets.length}`);
          return targets.length > 0 ? errors : [];
        },
        findTaken: async () => taken.shift() ?? [],
        waitFor: (_key, waited) => void (waited.size > 0 && calls.push(`wait for ${[...waited].join()}`)),
        waiterFor: () => undefined,
      },
      statuses: {
        persist: async () => {
          calls.push('persist');
          await persist();
        },
        write: async ({ statuses }) =>
          void calls.push(`write ${statuses.map((one) => JSON.stringify(one.status)).join()}`.trim()),
      },
    },
  );
  return { calls, outcome: await reconcile('a/x', never), again: () => reconcile('a/x', never) };
}

suite('reconciling', () => {
  test('goes observe, plan, check, persist, apply, act, status, and plans again with what acting brought', async () => {
    const { calls, outcome } = await run({
      plan: (observed) => plan({ statuses: [status({ observed })], lookAgainInMs: 7 }),
      check: async () => undefined,
      act: async () => ({ acted: 'answers' }),
    });
    assert.deepEqual(calls, [
      'observe',
      'persist',
      'apply 1',
      'observe answers',
      'write {"observed":"answers"}',
    ]);
    assert.deepEqual(outcome, { outcome: 'lookAgain', afterMs: 7 });
  });

  test('writes down what must not be forgotten before all else', async () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } };
    const { calls } = await run({ plan: () => plan({ documents: [{ cluster: 'local', object }] }) });
    assert.deepEqual(calls.slice(0, 4), ['observe', 'write down 1', 'persist', 'apply 1']);
  });

  test('remembers what acting brought until the next time', async () => {
    const { calls, again } = await run({ act: async () => ({ acted: 'answers' }) });
    calls.length = 0;
    await again();
    assert.equal(calls[0], 'observe answers');
  });

  test('plans around what the check rejects and what others have, and only then writes anything', async () => {
    const seen: Learned<string>[] = [];
    const { calls } = await run(
      {
        avoidsTaken: true,
        plan: (_, learned) => {
          seen.push(learned);
          return plan();
        },
        check: async (_, known) => (known === undefined ? 'rejected' : undefined),
      },
      { taken: [['ConfigMap a/x']] },
    );
    const last = seen.at(-1)!;
    assert.equal(last.checked, 'rejected');
    assert.deepEqual([...last.taken], ['ConfigMap a/x']);
    assert.deepEqual(calls.slice(0, 3), ['observe', 'wait for ConfigMap a/x', 'persist']);
  });

  test('a plan without targets and actions is said as it is: nothing is learned from doing nothing', async () => {
    const { calls } = await run({
      plan: () => plan({ targets: [], actions: [], statuses: [status({ a: 1 })] }),
    });
    assert.deepEqual(calls, ['observe', 'persist', 'apply 0', 'write {"a":1}']);
  });

  test('what an API server refuses for good is in the status, and tried again', async () => {
    const refused = new ApiError(403, 'Forbidden', 'exceeded quota');
    const gone = new ApiError(500, 'InternalError', 'oops');
    const { calls, outcome } = await run(
      { plan: (_, { denied }) => plan({ actions: [], statuses: [status(Object.fromEntries(denied))] }) },
      {
        errors: [
          { cluster: LOCAL, object: 'ConfigMap a/x', error: refused },
          { cluster: LOCAL, object: 'ConfigMap a/y', error: gone },
        ],
      },
    );
    assert.equal(calls.at(-1), 'write {"ConfigMap a/x":"exceeded quota"}');
    assert.equal(outcome.outcome, 'error');
  });

  test('a road may say what follows from errors', async () => {
    const error = new ApiError(404, 'NotFound', 'no namespace');
    const { outcome } = await run(
      { outcomeOf: () => ({ outcome: 'lookAgain', afterMs: 15 }) },
      { errors: [{ cluster: LOCAL, object: 'ConfigMap a/x', error }] },
    );
    assert.deepEqual(outcome, { outcome: 'lookAgain', afterMs: 15 });
  });

  test('what cannot be done is an error, after the statuses were written', async () => {
    const failure = new Error('a pod cannot be patched');
    const { calls, outcome } = await run({ act: async () => ({ acted: undefined, failure }) });
    assert.equal(calls.at(-1), 'write');
    assert.deepEqual(outcome, { outcome: 'error', error: failure });
  });

  test('looks again soon where the cache is behind, before anything is applied', async () => {
    const { calls, outcome } = await run(
      {},
      {
        persist: async () => {
          throw new Stale('portBlocks has changed meanwhile');
        },
      },
    );
    assert.deepEqual(calls, ['observe', 'persist']);
    assert.equal(outcome.outcome, 'lookAgain');
  });
});
