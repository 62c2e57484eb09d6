import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Acl } from '../../../kafka/admin/acls.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { kafkaUser } from '../../../resources/strimzi/kafka-user.ts';
import { read } from '../../kernel/read.ts';
import { markPatch } from '../entities/mark.ts';
import { planUser } from './plan-user.ts';
import type { SeenUsers, UserPlan } from './plan-user.ts';
import { aclKey, wantedUser } from './wanted.ts';

/** One KafkaUser, and what Kafka has of it and of somebody else. */
function createMemory() {
  const acl = (principal: string): Acl => ({
    resourceType: 'topic',
    resourceName: 'theirs',
    patternType: 'literal',
    principal,
    host: '*',
    operation: 'All',
    permission: 'allow',
  });
  const theirs = { acls: [acl('User:mallory')], quotas: { producer_byte_rate: 3 } };
  const acls = new Map<string, Acl[]>([['User:mallory', theirs.acls]]);
  const quotas = new Map<string, Record<string, number>>([['mallory', theirs.quotas]]);
  const passwords = new Map<string, string>([['mallory', 'm']]);
  let given: string | undefined;
  let user: AnyObject | undefined;

  const seen = (): SeenUsers => ({ acls, quotas, passwords: new Set(passwords.keys()) });
  function take({ steps }: UserPlan): void {
    for (const step of steps)
      if (step.do === 'add acls')
        for (const one of step.acls) acls.set(one.principal, [...(acls.get(one.principal) ?? []), one]);
      else if (step.do === 'remove acls')
        for (const one of step.acls)
          acls.set(
            one.principal,
            acls.get(one.principal)!.filter((other) => aclKey(other) !== aclKey(one)),
          );
      else if (step.do === 'set quotas') {
        const values = { ...quotas.get(step.change.entity.user), ...step.change.values };
        const kept = Object.entries(values).filter((entry): entry is [string, number] => entry[1] !== null);
        quotas.set(step.change.entity.user, Object.fromEntries(kept));
      } else if (step.do === 'set password') {
        passwords.set(step.username, step.password);
        given = step.password;
      } else passwords.delete(step.username);
  }

  const memory = {
    acls,
    quotas,
    passwords,
    theirs,
    password: 'first',
    get user() {
      return user;
    },
    put(spec: object, metadata: object = {}) {
      const identity = { name: 'alice', namespace: 'kafka', uid: 'u' };
      user = {
        apiVersion: 'kafka.strimzi.io/v1',
        kind: 'KafkaUser',
        metadata: { ...identity, ...user?.metadata, ...metadata },
        spec,
      };
    },
    delete() {
      if (user?.metadata.finalizers?.length) memory.put(user['spec'] as object, { deletionTimestamp: 'now' });
      else user = undefined;
    },
    plan(): UserPlan | undefined {
      const resource = user && read(kafkaUser, user).resource!;
      if (!resource) return undefined;
      const { wanted, faults } = wantedUser(resource);
      assert.deepEqual(faults, []);
      const password = { text: memory.password, isNew: given !== memory.password };
      return planUser(resource, wanted, password, seen(), { holds: true });
    },
    step({ lost = false } = {}): boolean {
      const plan = memory.plan();
      const patch = plan?.mark && user && markPatch(user, plan.mark);
      if (patch && user) {
        const { finalizers, annotations } = (patch as { metadata: Required<AnyObject['metadata']> }).metadata;
        const isGone = user.metadata.deletionTimestamp !== undefined && finalizers.length === 0;
        user = isGone ? undefined : { ...user, metadata: { ...user.metadata, finalizers, annotations } };
      }
      if (plan && !lost) take(plan);
      return patch !== undefined || (plan?.steps.length ?? 0) > 0;
    },
    settle() {
      for (let steps = 0; steps < 20; steps++) if (!memory.step()) return;
      throw new Error('it does not come to an end');
    },
  };
  return memory;
}

const mayRead = (...names: string[]) => ({
  type: 'simple',
  acls: names.map((name) => ({ resource: { type: 'topic', name }, operations: ['Read', 'Describe'] })),
});

describe('a KafkaUser', () => {
  test('has in Kafka what it asks for, and takes all of it along', () => {
    const memory = createMemory();
    memory.put({
      authentication: { type: 'scram-sha-512' },
      authorization: mayRead('a', 'b'),
      quotas: { producerByteRate: 10, requestPercentage: 20 },
    });
    memory.settle();
    assert.equal(memory.acls.get('User:alice')?.length, 4);
    assert.deepEqual(memory.quotas.get('alice'), { producer_byte_rate: 10, request_percentage: 20 });
    assert.equal(memory.passwords.get('alice'), 'first');
    memory.password = 'second';
    memory.put({ authentication: { type: 'scram-sha-512' }, authorization: mayRead('b', 'c'), quotas: {} });
    memory.settle();
    const topics = memory.acls.get('User:alice')?.map(({ resourceName }) => resourceName);
    assert.deepEqual(new Set(topics), new Set(['b', 'c']));
    assert.deepEqual(memory.quotas.get('alice'), {});
    assert.equal(memory.passwords.get('alice'), 'second');
    memory.delete();
    memory.settle();
    assert.equal(memory.user, undefined);
    assert.deepEqual(memory.acls.get('User:alice'), []);
    assert.equal(memory.passwords.has('alice'), false);
  });

  test('that logs in another way leaves nothing behind', () => {
    const memory = createMemory();
    memory.put({ authentication: { type: 'scram-sha-512' }, authorization: mayRead('a') });
    memory.settle();
    memory.put({ authentication: { type: 'tls' }, authorization: mayRead('a') });
    memory.settle();
    assert.deepEqual(memory.acls.get('User:alice'), []);
    assert.equal(memory.acls.get('User:CN=alice')?.length, 2);
    assert.equal(memory.passwords.has('alice'), false);
  });

  test('that says nothing of ACLs and quotas leaves those that somebody gave it', () => {
    const memory = createMemory();
    const byHand = memory.theirs.acls.map((acl) => ({ ...acl, principal: 'User:alice' }));
    memory.acls.set('User:alice', byHand);
    memory.quotas.set('alice', { consumer_byte_rate: 5 });
    memory.put({ quotas: { producerByteRate: 1 } });
    memory.settle();
    memory.delete();
    memory.settle();
    assert.deepEqual(memory.acls.get('User:alice'), byHand);
    assert.deepEqual(memory.quotas.get('alice'), { consumer_byte_rate: 5 });
  });

  test('on which somebody wrote another name as remembered takes nothing from whoever has it', () => {
    const memory = createMemory();
    const lie = { username: 'mallory', acls: true, quotas: ['producer_byte_rate'], password: true };
    const annotations = { 'isthmus.dev/last-applied': JSON.stringify(lie) };
    memory.put({ authentication: { type: 'tls' } }, { annotations });
    memory.settle();
    memory.put({ authentication: { type: 'tls' } }, { annotations });
    memory.delete();
    memory.settle();
    assert.deepEqual(memory.acls.get('User:mallory'), memory.theirs.acls);
    assert.deepEqual(memory.quotas.get('mallory'), memory.theirs.quotas);
    assert.ok(memory.passwords.has('mallory'));
    assert.equal(memory.user, undefined);
  });

  test('with rules that cannot be is refused with the field', () => {
    const broken = {
      authorization: {
        type: 'simple',
        acls: [
          { resource: { type: 'planet', name: 'x' }, operations: ['Read'] },
          { resource: { type: 'topic' }, operations: ['Read'] },
          { resource: { type: 'topic', name: 'x' }, operations: ['Fly'] },
          { resource: { type: 'group', name: 'x'.repeat(1025) }, operations: ['Read'] },
          { resource: { type: 'group', name: 'x' }, operations: ['Read'], host: 'h'.repeat(254) },
        ],
      },
      quotas: { speed: 1, producerByteRate: -1 },
    };
    const memory = createMemory();
    memory.put(broken);
    const { faults } = wantedUser(read(kafkaUser, memory.user!).resource!);
    assert.deepEqual(
      faults.map(({ reason, path }) => [reason, path.at(-1)]),
      [
        ['Invalid', 'resource'],
        ['Invalid', 'resource'],
        ['Invalid', 'operations'],
        ['Invalid', 'resource'],
        ['Invalid', 'host'],
        ['Invalid', 'speed'],
        ['Invalid', 'producerByteRate'],
      ],
    );
  });

  test('with ACLs, where the Kafka has no authorization, says what to do', () => {
    const memory = createMemory();
    memory.put({ authorization: mayRead('a') });
    const user = read(kafkaUser, memory.user!).resource!;
    const seen: SeenUsers = { acls: 'disabled', quotas: new Map(), passwords: new Set() };
    const { steps, faults } = planUser(user, wantedUser(user).wanted, undefined, seen, { holds: true });
    assert.deepEqual([steps, faults.map(({ reason }) => reason)], [[], ['NotSupported']]);
  });
});

const names = fc.subarray(['a', 'b', 'c']);
const spec = fc.record(
  {
    authentication: fc.constantFrom({ type: 'tls' }, { type: 'tls-external' }, { type: 'scram-sha-512' }),
    authorization: names.map((some) => mayRead(...some)),
    quotas: fc.dictionary(fc.constantFrom('producerByteRate', 'consumerByteRate'), fc.nat(3)),
  },
  { requiredKeys: [] },
);
const change = fc.oneof(
  fc.record({ do: fc.constant('put' as const), spec }),
  fc.constant({ do: 'delete' as const }),
  fc.record({ do: fc.constant('step' as const), lost: fc.boolean() }),
);

test('any changes, with steps that are lost, come to an end, and touch nothing of another user', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const memory = createMemory();
      for (const one of changes)
        if (one.do === 'put') memory.put(one.spec);
        else if (one.do === 'delete') memory.delete();
        else memory.step(one);
      memory.settle();
      memory.delete();
      memory.settle();
      assert.deepEqual(memory.acls.get('User:mallory'), memory.theirs.acls);
      assert.deepEqual(memory.quotas.get('mallory'), memory.theirs.quotas);
      assert.equal(memory.user, undefined);
      assert.deepEqual([...memory.passwords.keys()], ['mallory']);
      const left = [...memory.acls].filter(
        ([principal, its]) => principal !== 'User:mallory' && its.length > 0,
      );
      assert.deepEqual(left, []);
    }),
  );
});
