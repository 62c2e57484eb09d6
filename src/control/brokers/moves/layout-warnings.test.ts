import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { nodeWarnings, topicWarnings } from './layout-warnings.ts';
import type { WantedLayout } from './layout-warnings.ts';

const broker = (id: number, rack?: string) => ({ id, rack });
const partition = (topic: string, replicas: number[], minIsr: number) => ({
  topic,
  partition: 0,
  replicas,
  minIsr,
});

const sound: WantedLayout = { controllers: 3, forgetful: 0, brokers: 4, minIsr: 2 };
const BROKERS = [broker(1, 'a'), broker(2, 'b'), broker(3, 'c'), broker(4, 'a')];
const reasonsOf = (change: Partial<WantedLayout>) =>
  nodeWarnings({ ...sound, ...change }).map(({ reason }) => reason);

suite('layout warnings', () => {
  test('a sound cluster has none', () => {
    assert.deepEqual(nodeWarnings(sound), []);
    assert.deepEqual(topicWarnings([partition('orders', [1, 2, 3], 2)], BROKERS), []);
  });

  test('controllers: one, an even number, or some that forget', () => {
    const counts = [0, 1, 2, 3, 4, 5].map((controllers) => reasonsOf({ controllers }));
    assert.deepEqual(counts, [[], ['SingleController'], ['EvenControllers'], [], ['EvenControllers'], []]);
    const [warning] = nodeWarnings({ ...sound, controllers: 4 });
    assert.match(warning!.message, /4 controllers, which survive the loss of 1, as 3 would\. Run 3 or 5\./);
    assert.deepEqual(reasonsOf({ forgetful: 1 }), ['ForgetfulControllers']);
  });

  test('min.insync.replicas that no topic can have', () => {
    assert.deepEqual(reasonsOf({ brokers: 2 }), []);
    assert.deepEqual(reasonsOf({ brokers: 1 }), ['TooFewBrokers']);
  });

  test('topics that stop with one broker, or with one rack', () => {
    const partitions = [
      partition('single', [1], 1),
      partition('tight', [1, 2], 2),
      partition('one-rack', [1, 4, 2], 2),
      partition('fine', [1, 4, 2, 3], 2),
    ];
    const [spare, rack, ...more] = topicWarnings(partitions, BROKERS);
    assert.deepEqual([spare?.reason, rack?.reason, more], ['NoSpareReplica', 'RackLossStopsWrites', []]);
    assert.match(spare!.message, /single, tight\./);
    assert.match(rack!.message, /one-rack\./);
    const nameless = [1, 2, 4].map((id) => broker(id));
    assert.deepEqual(topicWarnings([partition('one-rack', [1, 4, 2], 2)], nameless), []);
    assert.deepEqual(topicWarnings([partition('single', [1], 1)], [broker(1, 'a')]), []);
  });

  test('of many topics some are named, each once', () => {
    const partitions = Array.from({ length: 40 }, (_, index) => partition(`t${index % 20}`, [1], 1));
    assert.match(topicWarnings(partitions, BROKERS)[0]!.message, /t0, t1, .* and 10 more\./);
  });
});
