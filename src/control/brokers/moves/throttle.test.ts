import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { ConfigChanges } from '../../../kafka/admin/configs.ts';
import type { Reassignment } from '../../../kafka/admin/replicas.ts';
import { markedRate, throttleChanges } from './throttle.ts';
import type { ObservedThrottles, Throttle } from './throttle.ts';

const move = (partition: number, from: number, to: number): Reassignment => ({
  topic: 't',
  partition,
  replicas: [to, from],
  adding: [to],
  removing: [from],
});

/** Configuration as Kafka keeps it. */
class Configs implements ObservedThrottles {
  rates = new Map<number, Throttle>();
  replicas = new Map<string, Throttle>();

  apply(all: readonly ConfigChanges[]) {
    for (const { resource, changes } of all)
      for (const change of changes) {
        const of: Map<string | number, Throttle> = resource.type === 'broker' ? this.rates : this.replicas;
        const key = resource.type === 'broker' ? Number(resource.name) : resource.name;
        const side = change.name.startsWith('leader') ? 'leader' : 'follower';
        const { [side]: before = '', ...other } = of.get(key) ?? {};
        const list = before.split(',').filter((each) => each !== '');
        if (change.change === 'delete') of.set(key, other);
        else if (change.change === 'set') of.set(key, { ...other, [side]: change.value });
        else {
          const named = change.value.split(',');
          const without = list.filter((each) => !named.includes(each));
          const after = change.change === 'append' ? [...without, ...named] : without;
          of.set(key, { ...other, [side]: after.join(',') });
        }
      }
  }
}

const isSet = (of: ReadonlyMap<string | number, Throttle>) =>
  [...of.values()].some((each) => Object.values(each).some((value) => value !== ''));

suite('throttle', () => {
  test('brokers that take part get a rate, and the replicas of what moves are listed', () => {
    const { set, clear } = throttleChanges([move(0, 1, 2)], new Configs(), 5_000_000);
    const rates = ['leader', 'follower'].map((side) => ({
      name: `${side}.replication.throttled.rate`,
      change: 'set',
      value: '5000417',
    }));
    assert.deepEqual(set, [
      { resource: { type: 'broker', name: '1' }, changes: rates },
      { resource: { type: 'broker', name: '2' }, changes: rates },
      {
        resource: { type: 'topic', name: 't' },
        changes: [
          { name: 'leader.replication.throttled.replicas', change: 'append', value: '0:1' },
          { name: 'follower.replication.throttled.replicas', change: 'append', value: '0:2' },
        ],
      },
    ]);
    assert.deepEqual(clear, []);
  });

  test('whatever moves and stops in between, nothing of ours is left, and all of others is', () => {
    const moving = fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { maxLength: 4 });
    const rate = fc.option(fc.integer({ min: 1, max: 10_000_000 }), { nil: undefined });
    /** Each a call; what it asks for may be lost after the first changes. */
    const calls = fc.array(fc.record({ moving, rate, lost: fc.oneof(fc.nat(6), fc.constant(Infinity)) }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(calls, (each) => {
        const configs = new Configs();
        configs.rates.set(8, { leader: '1000', follower: '1000' });
        configs.replicas.set('u', { leader: '0:8', follower: '0:9' });
        const others = structuredClone([configs.rates.get(8), configs.replicas.get('u')]);
        const call = (partitions: number[], bytes: number | undefined, lost = Infinity) => {
          const ongoing = partitions.map((index) => move(index, index, index + 1));
          const { set, clear } = throttleChanges(ongoing, configs, bytes);
          for (const request of [set, clear])
            assert.equal(new Set(request.map(({ resource }) => resource.name)).size, request.length);
          configs.apply([...set, ...clear].slice(0, lost));
          if (bytes !== undefined && lost >= set.length + clear.length)
            for (const index of partitions) {
              const { leader = '', follower = '' } = configs.replicas.get('t') ?? {};
              assert.ok(leader.split(',').includes(`${index}:${index}`), leader);
              assert.ok(follower.split(',').includes(`${index}:${index + 1}`), follower);
              assert.equal(configs.rates.get(index)?.leader, markedRate(bytes));
              assert.equal(configs.rates.get(index + 1)?.follower, markedRate(bytes));
            }
          return set.length + clear.length;
        };
        for (const { moving: partitions, rate: bytes, lost } of each) call(partitions, bytes, lost);
        let left = 0;
        while (call([], 5000) > 0) assert.ok(left++ < 3, 'it does not end');
        assert.deepEqual([configs.rates.get(8), configs.replicas.get('u')], others);
        configs.rates.delete(8);
        configs.replicas.delete('u');
        assert.ok(!isSet(configs.rates) && !isSet(configs.replicas));
      }),
    );
  });

  test('a rate of somebody else is kept, and so are all entries for that broker', () => {
    const configs = new Configs();
    configs.rates.set(1, { leader: '1000000' });
    configs.replicas.set('t', { leader: '5:1', follower: '*' });
    const { set, clear } = throttleChanges([move(0, 1, 2)], configs, 1000);
    assert.deepEqual(
      set.map(({ resource }) => `${resource.type} ${resource.name}`),
      ['broker 2'],
    );
    assert.deepEqual(clear, []);
  });

  test('another rate replaces ours, and what is no longer moving goes from the lists first', () => {
    const configs = new Configs();
    configs.apply(throttleChanges([move(0, 1, 2), move(1, 3, 4)], configs, 7000).set);
    const next = throttleChanges([move(0, 1, 2)], configs, 9999);
    assert.deepEqual(
      next.set.map(({ resource, changes }) => [resource.name, 'value' in changes[0]! && changes[0].value]),
      [
        ['1', markedRate(9000)],
        ['2', markedRate(9000)],
      ],
    );
    assert.deepEqual(
      next.clear.map(({ resource }) => resource.type),
      ['topic'],
    );
    configs.apply([...next.set, ...next.clear]);
    const last = throttleChanges([move(0, 1, 2)], configs, 9999);
    assert.deepEqual(
      last.clear.map(({ resource }) => resource.name),
      ['3', '4'],
    );
  });
});
