import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { BrokerPlace } from './layout.ts';
import { layoutWarnings } from './layout-warnings.ts';
import type { Layout } from './layout-warnings.ts';

const broker = (id: number, rack?: string): BrokerPlace => ({ id, rack, state: 'stays', available: true });
const partition = (topic: string, replicas: number[], minIsr: number) => ({
  topic,
  partition: 0,
  replicas,
  minIsr,
});

const sound: Layout = {
  controllers: 3,
  brokers: [broker(1, 'a'), broker(2, 'b'), broker(3, 'c'), broker(4, 'a')],
  settings: { replicationFactors: { 'default.replication.factor': 3 }, minIsr: 2 },
  partitions: [partition('orders', [1, 2, 3], 2)],
};
const warningsOf = (change: Partial<Layout>) => layoutWarnings({ ...sound, ...change });
const reasonsOf = (change: Partial<Layout>) => warningsOf(change).map(({ reason }) => reason);

suite('layout warnings', () => {
  test('a sound cluster has none', () => {
    assert.deepEqual(warningsOf({}), []);
  });

  test('controllers: one, or an even number', () => {
    const counts = [0, 1, 2, 3, 4, 5].map((controllers) => reasonsOf({ controllers }));
    assert.deepEqual(counts, [[], ['SingleController'], ['EvenControllers'], [], ['EvenControllers'], []]);
    const [warning] = warningsOf({ controllers: 4 });
    assert.match(warning!.message, /4 controllers, which survive the loss of 1, as 3 would\. Run 3 or 5\./);
  });

  test('settings that ask for more brokers than there will be', () => {
    const brokers = [broker(1), broker(2), { ...broker(3), state: 'drain' as const }];
    const settings = {
      replicationFactors: { 'default.replication.factor': 3, 'offsets.topic.replication.factor': undefined },
      minIsr: 4,
    };
    assert.deepEqual(
      warningsOf({ brokers, settings }).map(({ message }) => message),
      [
        'default.replication.factor is 3, and there are 2 brokers. Add brokers, or lower it.',
        'min.insync.replicas is 4, and there are 2 brokers. Add brokers, or lower it.',
      ],
    );
  });

  test('topics that stop with one broker, or with one rack', () => {
    const partitions = [
      partition('single', [1], 1),
      partition('tight', [1, 2], 2),
      partition('one-rack', [1, 4, 2], 2),
      partition('fine', [1, 4, 2, 3], 2),
    ];
    const [spare, rack, ...more] = warningsOf({ partitions });
    assert.deepEqual([spare?.reason, rack?.reason, more], ['NoSpareReplica', 'RackLossStopsWrites', []]);
    assert.match(spare!.message, /single, tight\./);
    assert.match(rack!.message, /one-rack\./);
    assert.deepEqual(
      reasonsOf({
        partitions: [partition('one-rack', [1, 4, 2], 2)],
        brokers: [1, 2, 4].map((id) => broker(id)),
      }),
      [],
    );
  });

  test('of many topics some are named, each once', () => {
    const partitions = Array.from({ length: 40 }, (_, index) => partition(`t${index % 20}`, [1], 1));
    assert.match(warningsOf({ partitions })[0]!.message, /t0, t1, .* and 10 more\./);
  });
});
