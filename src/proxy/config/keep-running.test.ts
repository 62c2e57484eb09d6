import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withRunning } from './keep-running.ts';
import { checkProxyConfig } from './load.ts';
import type { Problem } from './model.ts';

const cluster = (name: string, port: number) =>
  checkProxyConfig(
    {
      virtualClusters: [
        {
          name,
          targetCluster: { bootstrapServers: 'kafka:9092' },
          gateways: [{ name: 'g', portIdentifiesNode: { bootstrapAddress: `h:${port}` } }],
        },
      ],
    },
    'test',
  ).config.virtualClusters[0]!;

const rejected = (...names: string[]): Problem[] =>
  names.map((name) => ({ cluster: name, problem: 'is bad', stage: 'load' }));

test('of a virtual cluster that was rejected the running version goes on', () => {
  const [a, b, gone] = [cluster('a', 100), cluster('b', 200), cluster('gone', 300)];
  const changed = cluster('b', 210);
  const { clusters, kept } = withRunning([changed], rejected('a', 'never-ran'), [a, b, gone]);
  assert.deepEqual(clusters, [changed, a]);
  assert.deepEqual([...kept], ['a']);
});

test('unless its ports are somebody else’s now', () => {
  const { clusters, kept } = withRunning([cluster('b', 102)], rejected('a'), [cluster('a', 100)]);
  assert.deepEqual(
    clusters.map(({ name }) => name),
    ['b'],
  );
  assert.equal(kept.size, 0);
});
