import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { AnyObject } from '../../kube/object.ts';
import { nextRoll } from '../brokers/roll/next-roll.ts';
import type { Health } from './health.ts';
import type { RedpandaModel } from './model.ts';
import { ROLL_ANNOTATION } from './names.ts';
import { memoryOf, memoryText, rollInput } from './roll.ts';
import type { RollMemory } from './roll.ts';

const NOW = 1_000_000;
const RAN: RollMemory = { hasRun: true, inFlight: undefined };

function pod(ordinal: number, revision: string, ready = true): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `panda-${ordinal}`,
      uid: `${ordinal}-${revision}`,
      annotations: { 'isthmus.dev/revision': revision },
    },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      containerStatuses: [{ name: 'redpanda', state: { running: {} } }],
    },
  };
}

const health = (brokers: number, change: Partial<Health> = {}): Health => ({
  at: NOW,
  brokers: Array.from({ length: brokers }, (_, id) => id),
  down: [],
  problem: undefined,
  ...change,
});

function decide(
  pods: AnyObject[],
  seen: Health | undefined,
  memory: RollMemory = RAN,
  external?: Partial<RedpandaModel['external']>,
) {
  const model = { name: 'panda', replicas: pods.length, external } as RedpandaModel;
  const input = rollInput({ model, revision: 'new', memory }, pods, seen, { now: NOW, podsSeenAt: NOW });
  return nextRoll(input);
}

const nodeOf = (decision: ReturnType<typeof decide>) =>
  decision.do === 'restart' ? decision.node : decision.do;

suite('rolling a Redpanda cluster', () => {
  test('restarts the one whose node has another address than its clients are told, where they are told addresses', () => {
    const at = (ordinal: number, told: string, now: string): AnyObject => {
      const one = pod(ordinal, 'new');
      const annotations = { ...one.metadata.annotations, 'isthmus.dev/told-address': told, 'isthmus.dev/node-address': now }; // prettier-ignore
      return { ...one, metadata: { ...one.metadata, annotations } };
    };
    const pods = [at(0, '192.0.2.1', '192.0.2.1'), at(1, '192.0.2.2', '2001:db8::2'), pod(2, 'new')];
    const decision = decide(pods, health(3), RAN, {});
    assert.equal(nodeOf(decision), 1);
    assert.match(JSON.stringify(decision), /former address of its node \(192\.0\.2\.2 → 2001:db8::2\)/);
    const names = { broker: '$(id).a.test', bootstrap: 'bootstrap.a.test' };
    for (const external of [undefined, { names }])
      assert.equal(nodeOf(decide(pods, health(3), RAN, external)), 'done');
  });

  test('restarts one broker of an older revision while all others are up', () => {
    assert.equal(nodeOf(decide([pod(0, 'new'), pod(1, 'old'), pod(2, 'old')], health(3))), 1);
    assert.equal(nodeOf(decide([pod(0, 'new'), pod(1, 'new')], health(2))), 'done');
    assert.equal(nodeOf(decide([pod(0, 'old')], health(1))), 0);
  });

  test('waits while a partition lacks replicas, another is down, or nobody answers', () => {
    const pods = [pod(0, 'old'), pod(1, 'old'), pod(2, 'new')];
    assert.equal(nodeOf(decide(pods, health(3, { problem: '1 partitions lack replicas' }))), 'blocked');
    assert.equal(nodeOf(decide(pods, undefined)), 'blocked');
    assert.equal(nodeOf(decide([pod(0, 'old'), pod(1, 'old'), pod(2, 'new', false)], health(3))), 'wait');
  });

  test('follows a restart until the broker has joined again and nothing lags', () => {
    const inFlight = { node: 0, podUid: '0-old', since: NOW, why: 'x' };
    const pods = [pod(0, 'new'), pod(1, 'old'), pod(2, 'old')];
    const lagging = health(3, { problem: '1 partitions lack replicas' });
    assert.equal(nodeOf(decide(pods, lagging, { hasRun: true, inFlight })), 'wait');
    assert.equal(nodeOf(decide(pods, health(3), { hasRun: true, inFlight })), 1);
  });

  test('a broker that crashes by a bad configuration is restarted by a good one', () => {
    const crashed = pod(1, 'bad', false);
    (crashed['status'] as Record<string, unknown>)['containerStatuses'] = [
      { name: 'redpanda', state: { waiting: { reason: 'CrashLoopBackOff' } } },
    ];
    assert.equal(nodeOf(decide([pod(0, 'new'), crashed, pod(2, 'new')], undefined)), 1);
  });

  test('never restarts one while another that runs is not up', () => {
    const broker = fc.record({ revision: fc.constantFrom('old', 'new'), ready: fc.boolean() });
    const restarted = { ready: 0, unready: 0 };
    fc.assert(
      fc.property(fc.array(broker, { minLength: 2, maxLength: 5 }), fc.boolean(), (brokers, isWhole) => {
        const pods = brokers.map(({ revision, ready }, ordinal) => pod(ordinal, revision, ready));
        const decision = decide(pods, health(pods.length, isWhole ? {} : { problem: 'x' }));
        if (decision.do !== 'restart') return;
        assert.equal(brokers[decision.node]!.revision, 'old');
        assert.ok(brokers.every(({ ready }, ordinal) => ready || ordinal === decision.node));
        restarted[brokers[decision.node]!.ready ? 'ready' : 'unready'] += 1;
      }),
      { numRuns: 500 },
    );
    assert.ok(restarted.ready > 5, JSON.stringify(restarted));
  });

  test('what must not be forgotten survives in an annotation', () => {
    const setWith = (text: string | undefined) =>
      ({ metadata: { name: 'x', annotations: text === undefined ? {} : { [ROLL_ANNOTATION]: text } } }) as unknown as AnyObject; // prettier-ignore
    const remembered = { hasRun: true, inFlight: { node: 2, podUid: 'u', since: 5, why: 'w' } };
    assert.deepEqual(memoryOf(setWith(memoryText(remembered))), remembered);
    assert.deepEqual(memoryOf(setWith(undefined)), { hasRun: false, inFlight: undefined });
    for (const text of ['', '{', '[]', '{"hasRun":"no"}']) assert.deepEqual(memoryOf(setWith(text)), RAN);
  });
});
