import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { distanceWarnings, nodeWarnings, topicWarnings, unsetFactorsIn } from './layout-warnings.ts';
import type { WantedLayout } from './layout-warnings.ts';

const broker = (id: number, rack?: string) => ({ id, rack });
const partition = (topic: string, replicas: number[], minIsr: number) => ({
  topic,
  partition: 0,
  replicas,
  minIsr,
});

const sound: WantedLayout = {
  controllers: 3,
  forgetful: 0,
  brokers: 4,
  minIsr: 2,
  replicas: 3,
  unsetFactors: [],
  places: [],
};
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

  test('fewer brokers than Kafka gives replicas to its own topics, where nobody says how many', () => {
    const unsetFactors = unsetFactorsIn({ 'offsets.topic.replication.factor': '1' });
    const reasonsWith = (brokers: number) => reasonsOf({ brokers, minIsr: 1, unsetFactors });
    assert.deepEqual([1, 2, 3].map(reasonsWith), [['NoInternalTopics'], ['NoInternalTopics'], []]);
    const [warning] = nodeWarnings({ ...sound, brokers: 2, unsetFactors });
    assert.match(
      warning!.message,
      /there are 2 brokers: .* Set transaction\.state\.log\.replication\.factor, share\.coordinator\.state\.topic\.replication\.factor to at most 2 /,
    );
  });

  test('what the loss of any one Kubernetes cluster would stop', () => {
    const over = (...counts: [controllers: number, brokers: number][]) => {
      const places = counts.map(([controllers, brokers], at) => ({ name: `c${at}`, controllers, brokers }));
      const sum = (of: 'controllers' | 'brokers') => places.reduce((total, place) => total + place[of], 0);
      return { places, controllers: sum('controllers'), brokers: sum('brokers') };
    };
    assert.deepEqual(reasonsOf(over([1, 1], [1, 1], [1, 1])), []);
    assert.deepEqual(reasonsOf(over([2, 2], [2, 2], [1, 2])), []);
    assert.deepEqual(reasonsOf(over([2, 2], [1, 2])), [
      'ClusterLossStopsControllers',
      'ClusterLossStopsWrites',
    ]);
    assert.deepEqual(reasonsOf(over([3, 1], [1, 1], [1, 1])), ['ClusterLossStopsControllers']);
    assert.deepEqual(reasonsOf({ ...over([1, 1], [1, 1], [1, 1]), replicas: 2 }), ['ClusterLossStopsWrites']);
    assert.deepEqual(reasonsOf({ ...over([1, 2], [1, 0], [1, 0]) }), ['ClusterLossStopsWrites']);
    const [warning] = nodeWarnings({ ...sound, ...over([2, 2], [1, 2]) });
    assert.match(warning!.message, /^Without cluster c0 no majority of the 3 controllers is left/);
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

  test('clusters that are more than 10 ms apart are named, the furthest first, with the buffers that this takes', () => {
    const between = (from: string, to: string, p99Ms: number) => ({ from, to, p99Ms });
    assert.deepEqual(distanceWarnings([between('hub', 'east', 9.9)]), []);
    const [far, ...more] = distanceWarnings([between('hub', 'east', 12), between('west', 'hub', 40), between('hub', 'hub', 1)]); // prettier-ignore
    assert.deepEqual([far?.reason, more], ['ClustersFarApart', []]);
    assert.match(far!.message, /: west to hub 40 ms, hub to east 12 ms\. .* to 5046272, /);
  });

  test('of many topics some are named, each once', () => {
    const partitions = Array.from({ length: 40 }, (_, index) => partition(`t${index % 20}`, [1], 1));
    assert.match(topicWarnings(partitions, BROKERS)[0]!.message, /t0, t1, .* and 10 more\./);
  });
});
