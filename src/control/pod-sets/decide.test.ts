import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { FIRST_WAIT_MS, MAX_WAIT_MS, OVERDUE_MS, STEADY_MS, decidePods, waitAfter } from './decide.ts';
import { FAILURES_ANNOTATION } from './names.ts';
import type { Pod } from './pod.ts';

const SET = { name: 'k-p', uid: 'set-1', selector: { app: 'k' }, pods: ['k-p-0', 'k-p-1'] };
const T0 = Date.parse('2026-01-01T00:00:00Z');
const at = (ms: number) => new Date(T0 + ms).toISOString();

const owned = (uid = SET.uid, name = SET.name) => ({
  ownerReferences: [{ apiVersion: 'core.strimzi.io/v1', kind: 'StrimziPodSet', name, uid, controller: true }],
});

const pod = (name: string, metadata: Partial<Pod['metadata']> = {}, phase = 'Running'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'ns',
    uid: `uid-${name}`,
    labels: { app: 'k' },
    creationTimestamp: at(0),
    ...owned(),
    ...metadata,
  },
  spec: { nodeName: 'n1' },
  status: { phase },
});

const decide = (pods: Pod[], now = 0) => decidePods(SET, pods, T0 + now);

suite('what becomes of pods', () => {
  test('missing ones are made, running ones left alone whatever is listed', () => {
    assert.deepEqual(decide([pod('k-p-1')]), {
      decisions: [{ do: 'create', name: 'k-p-0', failures: 0 }],
      faults: [],
      lookAgainInMs: undefined,
    });
  });

  test('one that is no longer listed goes by its uid, if it is this set’s own and has its labels', () => {
    const all = [pod('k-p-0'), pod('k-p-1')];
    assert.deepEqual(decide([...all, pod('k-p-2')]).decisions, [
      { do: 'delete', name: 'k-p-2', uid: 'uid-k-p-2' },
    ]);
    for (const stranger of [
      pod('k-p-2', { ownerReferences: [] }),
      pod('k-p-2', owned('other', 'other')),
      pod('k-p-2', { labels: {} }),
    ])
      assert.deepEqual(decide([...all, stranger]).decisions, []);
  });

  test('one of a listed name is adopted if nobody has it, and never touched if somebody does', () => {
    for (const orphan of [{ ownerReferences: [] }, owned('a-set-of-before')]) {
      const { decisions } = decide([pod('k-p-0', orphan), pod('k-p-1')]);
      assert.deepEqual(decisions, [{ do: 'adopt', name: 'k-p-0', uid: 'uid-k-p-0' }]);
    }
    for (const foreign of [owned('other', 'other'), { ownerReferences: [], labels: {} }]) {
      const { decisions, faults } = decide([pod('k-p-0', foreign, 'Failed'), pod('k-p-1')]);
      assert.deepEqual(decisions, []);
      assert.deepEqual(
        faults.map(({ reason }) => reason),
        ['NameTaken'],
      );
    }
  });

  test('one that is being deleted is waited for, and said to be stuck when it is overdue', () => {
    const going = [pod('k-p-0', { deletionTimestamp: at(0) }), pod('k-p-1')];
    assert.deepEqual(decide(going, 1000), {
      decisions: [],
      faults: [],
      lookAgainInMs: OVERDUE_MS - 1000,
    });
    const { decisions, faults, lookAgainInMs } = decide(going, OVERDUE_MS);
    assert.deepEqual([decisions, lookAgainInMs], [[], undefined]);
    assert.equal(faults[0]?.reason, 'PodStuck');
    assert.match(faults[0].message, /"k-p-0" on node "n1" should have been gone at 2026-01-01T00:00:00/);
    // It says since when, not for how long: what changes with the clock would be written for ever.
    assert.deepEqual(decide(going, OVERDUE_MS * 100).faults, faults);
    const unlisted = decide([pod('k-p-0'), pod('k-p-1'), pod('k-p-2', { deletionTimestamp: at(0) })], 1);
    assert.deepEqual([unlisted.decisions, unlisted.lookAgainInMs], [[], OVERDUE_MS - 1]);
  });

  test('one that has ended is replaced at once the first time, and later each time after that', () => {
    const ended = (failures: number, endedAt: number, phase = 'Failed') => {
      const it = pod('k-p-0', { annotations: { [FAILURES_ANNOTATION]: String(failures) } }, phase);
      return [
        {
          ...it,
          status: {
            phase,
            reason: 'Evicted',
            conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: at(endedAt) }],
          },
        },
        pod('k-p-1'),
      ];
    };
    const replaced = (failures: number) => [{ do: 'replace', name: 'k-p-0', uid: 'uid-k-p-0', failures }];
    for (const phase of ['Failed', 'Succeeded'])
      assert.deepEqual(decide(ended(0, 1000, phase), 1000).decisions, replaced(1));
    const second = decide(ended(1, 1000), 1000);
    assert.deepEqual([second.decisions, second.lookAgainInMs], [[], FIRST_WAIT_MS]);
    assert.match(
      second.faults[0]!.message,
      /ended 2 times in a row .*\(Failed, Evicted\); the next one is made at/,
    );
    assert.deepEqual(decide(ended(1, 1000), 1000 + FIRST_WAIT_MS).decisions, replaced(2));
    assert.equal(decide(ended(3, 0), 0).lookAgainInMs, FIRST_WAIT_MS * 4);
    assert.equal(decide(ended(98, 0), 0).lookAgainInMs, MAX_WAIT_MS);
    // One that has lived for long begins anew; a clock that is ahead delays nothing; nonsense counts as none.
    assert.deepEqual(decide(ended(5, STEADY_MS), STEADY_MS).decisions, replaced(1));
    assert.equal(decide(ended(1, 60_000), 0).lookAgainInMs, FIRST_WAIT_MS);
    assert.deepEqual(decide(ended(Number.NaN, 0), 0).decisions, replaced(1));
  });

  test('however fast pods fail, they are replaced no more than a few times in the first minutes, and then every five', () => {
    const hour = 60 * 60_000;
    let [time, replacements] = [0, 0];
    let failures = 0;
    while (time < hour) {
      const failed = pod(
        'k-p-0',
        { annotations: { [FAILURES_ANNOTATION]: String(failures) }, creationTimestamp: at(time) },
        'Failed',
      );
      const { decisions, lookAgainInMs } = decide([failed, pod('k-p-1')], time);
      const wait = decisions.length > 0 ? 0 : lookAgainInMs!;
      assert.equal(wait, waitAfter(failures));
      time += wait;
      [failures, replacements] = [failures + 1, replacements + 1];
    }
    assert.ok(replacements < 20, `${replacements}`);
  });
});

/** A world of pods that others change too, as an API server would keep it. */
interface World {
  time: number;
  pods: Map<string, Pod>;
  listed: string[];
  uids: number;
}

const NAMES = ['k-p-0', 'k-p-1', 'k-p-2', 'k-p-3'];

type Event =
  | { what: 'phase'; name: string; phase: string }
  | { what: 'delete' | 'vanish' | 'orphan' | 'relabel' | 'foreign'; name: string }
  | { what: 'list'; names: string[] }
  | { what: 'wait'; ms: number }
  | { what: 'reconcile'; behind: boolean; lost: boolean };

const name = fc.constantFrom(...NAMES);
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ what: fc.constant('phase'), name, phase: fc.constantFrom('Running', 'Failed', 'Succeeded') }),
  fc.record({ what: fc.constantFrom('delete', 'vanish', 'orphan', 'relabel', 'foreign'), name }),
  fc.record({ what: fc.constant('list'), names: fc.uniqueArray(name) }),
  fc.record({ what: fc.constant('wait'), ms: fc.nat({ max: 400_000 }) }),
  fc.record({ what: fc.constant('reconcile'), behind: fc.boolean(), lost: fc.boolean() }),
);

function put(world: World, name: string, metadata: Partial<Pod['metadata']>, phase = 'Pending'): void {
  world.uids += 1;
  const uid = `uid-${world.uids}`;
  world.pods.set(name, pod(name, { uid, creationTimestamp: at(world.time), ...metadata }, phase));
}

function happen(world: World, event: Event): void {
  if (event.what === 'wait') world.time += event.ms;
  if (event.what === 'list') world.listed = event.names;
  if (!('name' in event)) return;
  const live = world.pods.get(event.name);
  if (event.what === 'foreign' && !live) put(world, event.name, owned('other', 'other'));
  if (!live) return;
  const change = (metadata: Partial<Pod['metadata']>, phase = live.status?.phase) =>
    world.pods.set(event.name, {
      ...live,
      metadata: { ...live.metadata, ...metadata },
      status: { phase: phase! },
    });
  if (event.what === 'phase') change({}, event.phase);
  if (event.what === 'delete') change({ deletionTimestamp: at(world.time) });
  if (event.what === 'vanish') world.pods.delete(event.name);
  if (event.what === 'orphan') change({ ownerReferences: [] });
  if (event.what === 'relabel') change({ labels: {} });
}

/** Decides from what was seen, and does it to what is there, as an API server would let it. */
function reconcile(world: World, seen: Pod[], lost: boolean): number {
  const set = { ...SET, pods: world.listed };
  const { decisions } = decidePods(set, seen, T0 + world.time);
  const names = decisions.map((decision) => decision.name);
  assert.equal(new Set(names).size, names.length, 'one thing at a time for each pod');
  for (const decision of decisions) {
    if (lost) continue;
    const live = world.pods.get(decision.name);
    if (
      decision.do === 'adopt' &&
      live?.metadata.uid === decision.uid &&
      (live.metadata.ownerReferences ?? []).length === 0
    )
      world.pods.set(decision.name, { ...live, metadata: { ...live.metadata, ...owned() } });
    if ((decision.do === 'delete' || decision.do === 'replace') && live?.metadata.uid === decision.uid) {
      const before = seen.find(({ metadata }) => metadata.uid === decision.uid)!;
      assert.equal(before.metadata.ownerReferences?.[0]?.uid, SET.uid, 'only its own are deleted');
      if (decision.do === 'delete')
        assert.ok(!world.listed.includes(decision.name), 'only what is not listed');
      else assert.match(before.status?.phase ?? '', /Failed|Succeeded/);
      world.pods.delete(decision.name);
    }
    if (decision.do !== 'create' && decision.do !== 'replace') continue;
    assert.ok(world.listed.includes(decision.name));
    if (decision.do === 'create') assert.ok(!seen.some(({ metadata }) => metadata.name === decision.name));
    if (!world.pods.has(decision.name))
      put(world, decision.name, { annotations: { [FAILURES_ANNOTATION]: String(decision.failures) } });
  }
  return decisions.length;
}

suite('what becomes of pods, whatever happens', () => {
  test('only its own go, only listed ones are made, and in the end all that are listed are there', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60, size: 'max' }), (events) => {
        const world: World = { time: 0, pods: new Map(), listed: ['k-p-0', 'k-p-1'], uids: 0 };
        let before: Pod[] = [];
        for (const one of events) {
          const now = [...world.pods.values()];
          if (one.what === 'reconcile') reconcile(world, one.behind ? before : now, one.lost);
          else happen(world, one);
          before = now;
        }
        // Then nothing happens any more but what has to: whoever is told to go goes, and others make room.
        for (let round = 0; round < 4; round++) {
          for (const [name, { metadata }] of world.pods)
            if (metadata.deletionTimestamp !== undefined || metadata.ownerReferences?.[0]?.uid === 'other')
              world.pods.delete(name);
            else if (!metadata.labels?.['app']) world.pods.delete(name);
          world.time += MAX_WAIT_MS;
          reconcile(world, [...world.pods.values()], false);
        }
        const own = [...world.pods.values()].filter(
          ({ metadata }) => metadata.ownerReferences?.[0]?.uid === SET.uid,
        );
        assert.deepEqual(own.map(({ metadata }) => metadata.name).toSorted(), world.listed.toSorted());
        assert.equal(reconcile(world, [...world.pods.values()], false), 0, 'and nothing more is done');
      }),
      { numRuns: 500 },
    );
  });
});
