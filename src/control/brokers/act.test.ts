import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { kafkaObject, poolObject } from '../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import type { Client } from '../../kube/http/client.ts';
import { apiErrorOf } from '../../kube/http/errors.ts';
import type { AnyObject } from '../../kube/object.ts';
import { createLog } from '../../ops/log.ts';
import { Stale } from '../kernel/status.ts';
import { act } from './act.ts';
import type { Action, ActContext } from './act.ts';
import { podsIn } from './objects/pod-sets.ts';

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
  return {
    client: unused,
    namespace: 'kafka',
    targets,
    podsOf: unused,
    secretOf,
    log,
    tell: () => {},
    onRequest: () => {},
    clock: () => 0,
  };
};

const { signal } = new AbortController();

/** Of a cluster that was never ready, so that nobody has to be asked. */
async function nodeThatAsksForNewDisks() {
  const memory = createMemoryKafka();
  memory.keepsPods = false;
  memory.put(kafkaObject());
  memory.put(poolObject());
  await memory.settle();
  const listed = podsIn(memory.get('StrimziPodSet', 'events-dual')!)[1]!;
  const annotations = { ...listed.metadata.annotations, 'strimzi.io/delete-pod-and-pvc': 'true' };
  memory.put({ ...listed, metadata: { ...listed.metadata, uid: 'uid-of-pod', annotations } });
  const look = memory.plan().actions.find((action) => action.do === 'look');
  return { memory, pod: memory.get('Pod', 'events-dual-1')!, look: look ?? assert.fail('nobody looks') };
}

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

  test('new disks: written down first, then the claims go, then the pod, each by its uid', async () => {
    const { memory, pod, look } = await nodeThatAsksForNewDisks();
    const done: string[] = [];
    const context: ActContext = {
      ...contextWith(() => undefined),
      podsOf: () => [pod],
      tell: (reason) => done.push(`tell ${reason}`),
      client: () =>
        ({
          create: async ({ metadata }: AnyObject, { dryRun }: { dryRun?: boolean }) => {
            done.push(`${dryRun ? 'try' : 'make'} ${metadata.name}`);
            throw apiErrorOf(409, '', undefined);
          },
          delete: async ({ kind }: { kind: string }, { name }: { name: string }, { uid }: { uid: string }) =>
            void done.push(`delete ${kind} ${name} ${uid}`),
        }) as unknown as Client,
    };
    context.targets.persist = async ([document]) => {
      const { inFlight } = document!.object['spec'] as { inFlight?: { node: number } };
      done.push(`write down node ${inFlight?.node}`);
    };
    const { failure } = await act([look], undefined, context, signal);
    assert.equal(failure, undefined);
    const claim = memory.get('PersistentVolumeClaim', 'data-events-dual-1')!.metadata.uid;
    assert.deepEqual(done, [
      'try events-dual-1',
      'write down node 1',
      `delete PersistentVolumeClaim data-events-dual-1 ${claim}`,
      'tell ClaimDeleted',
      'delete Pod events-dual-1 uid-of-pod',
      'tell PodAndPvcDeletion',
    ]);
  });

  test('a node whose new pod nobody would let in runs on; a quota that it fills itself is no reason', async () => {
    const { pod, look } = await nodeThatAsksForNewDisks();
    const decided = async (status: number, message: string) => {
      const done: string[] = [];
      const client = {
        create: async () => {
          throw apiErrorOf(status, JSON.stringify({ message }), undefined);
        },
        delete: async ({ kind }: { kind: string }) => void done.push(`delete ${kind}`),
      } as unknown as Client;
      const context = { ...contextWith(() => undefined), podsOf: () => [pod], client: () => client };
      context.targets.persist = async () => {};
      const { acted } = await act([look], undefined, context, signal);
      return { decision: acted?.decision, done };
    };
    const refused = await decided(403, 'violates PodSecurity "baseline:latest": hostPort');
    assert.deepEqual(refused.done, []);
    assert.equal(refused.decision?.do, 'blocked');
    assert.match(JSON.stringify(refused.decision), /node 1 is not restarted.*violates PodSecurity/);
    const quota = (limit: number) =>
      `pods "x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=3, limited: pods=${limit}`;
    const full = await decided(403, quota(3));
    assert.deepEqual([full.decision?.do, full.done.length], ['restart', 2]);
    const small = await decided(403, quota(2));
    assert.deepEqual([small.decision?.do, small.done], ['blocked', []]);
  });

  test('what cannot be written down is not begun', async () => {
    const { pod, look } = await nodeThatAsksForNewDisks();
    const client = { create: async () => {} } as unknown as Client;
    const context: ActContext = {
      ...contextWith(() => undefined),
      podsOf: () => [pod],
      client: () => client,
    };
    context.targets.persist = async () => {
      throw new Stale('changed');
    };
    // Nothing is deleted: the client cannot.
    await assert.rejects(act([look], undefined, context, signal), Stale);
  });

  test('a plan that is out of date is made again', async () => {
    const stale = contextWith(() => {
      throw new Stale('changed');
    });
    await assert.rejects(act([MINT], undefined, stale, signal), Stale);
  });
});
