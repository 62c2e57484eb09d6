import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { NOTHING_ALLOCATED } from '../control/proxy/ports/ports.ts';
import { heldIn } from './held.ts';
import type { Held } from './held.ts';
import { planLocally } from './local-plan.ts';
import type { LocalPlan } from './local-plan.ts';
import { readResources } from './resources.ts';
import type { FolderResources } from './resources.ts';

const PROXY = `apiVersion: kroxylicious.io/v1alpha1
kind: KafkaProxy
metadata: { name: p }
---
apiVersion: kroxylicious.io/v1alpha1
kind: KafkaProxyIngress
metadata: { name: tcp }
spec: { proxyRef: { name: p }, clusterIP: { protocol: TCP, port: 9082 } }
---
apiVersion: kroxylicious.io/v1alpha1
kind: KafkaProxyIngress
metadata: { name: tcp2 }
spec: { proxyRef: { name: p }, clusterIP: { protocol: TCP, port: 9182 } }
`;

const KAFKA = `apiVersion: kroxylicious.io/v1alpha1
kind: KafkaClusterRef
metadata: { name: kafka }
spec: { bootstrap: '127.0.0.1:9092', nodeIdRanges: [{ start: 0, end: 2 }] }
`;

const FILTER = `apiVersion: filter.kroxylicious.io/v1alpha1
kind: KafkaProtocolFilter
metadata: { name: log }
spec: { type: protocol-logger }
`;

const cluster = (name: string, more = '') => `apiVersion: kroxylicious.io/v1alpha1
kind: VirtualKafkaCluster
metadata: { name: ${name} }
spec:
  proxyRef: { name: p }
  ingresses: [{ name: tcp }]
  targetCluster: { clusterRef: { name: kafka } }
  ${more}
`;

suite('a folder that was served', () => {
  let folder: string;
  let resources: FolderResources | undefined;
  let served: LocalPlan | undefined;
  let held: Held[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'isthmus-held-'));
    [resources, served, held] = [undefined, undefined, []];
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Reads and plans once more, as `isthmus up` does; null takes a file away. */
  function change(files: Record<string, string | null>, now = 0): void {
    for (const [name, text] of Object.entries(files))
      if (text === null) rmSync(join(folder, name), { force: true });
      else writeFileSync(join(folder, name), text);
    resources = readResources(folder, resources);
    const allocation = served?.allocation ?? NOTHING_ALLOCATED;
    served = planLocally(resources.snapshot, now, { allocation, parts: served?.config.parts });
    held = heldIn(resources, served.evaluated, held, now);
  }

  const parts = () => new Map([...served!.config.parts].map(([name, { hash }]) => [name, hash]));
  const names = () => held.map(({ kind, name }) => `${kind} ${name}`);
  const good = {
    'proxy.yaml': PROXY,
    'kafka.yaml': KAFKA,
    'log.yaml': FILTER,
    'a.yaml': cluster('a', 'filterRefs: [{ name: log }]'),
    'b.yaml': cluster('b'),
  };

  const mistakes: Record<string, [files: Record<string, string | null>, held: string[]]> = {
    'a filter is gone': [{ 'log.yaml': null }, ['VirtualKafkaCluster a']],
    'a filter is misspelt': [
      { 'a.yaml': cluster('a', 'filterRefs: [{ name: lok }]') },
      ['VirtualKafkaCluster a'],
    ],
    'the target is gone': [{ 'kafka.yaml': null }, ['VirtualKafkaCluster a', 'VirtualKafkaCluster b']],
    'a file is no YAML': [{ 'a.yaml': 'a: [' }, ['VirtualKafkaCluster a']],
    'a file is too large': [{ 'log.yaml': '#'.repeat(2 ** 21) }, ['KafkaProtocolFilter log']],
    'an alias leads nowhere': [{ 'kafka.yaml': 'a: *b' }, ['KafkaClusterRef kafka']],
    'a kind is misspelt': [
      { 'b.yaml': cluster('b').replace('KafkaCluster', 'KafkaClustr') },
      ['VirtualKafkaCluster b'],
    ],
    'a group is misspelt': [
      { 'b.yaml': cluster('b').replace('kroxylicious.io', 'kroxylicous.io') },
      ['VirtualKafkaCluster b'],
    ],
    'a name is misspelt': [
      { 'b.yaml': cluster('b').replace('name: b', 'nam: b') },
      ['VirtualKafkaCluster b'],
    ],
    'a field is wrong': [
      { 'log.yaml': FILTER.replace('type:', 'typ:'), 'b.yaml': cluster('b', 'ports: 3') },
      ['VirtualKafkaCluster b', 'KafkaProtocolFilter log'],
    ],
  };
  for (const [what, [files, expected]] of Object.entries(mistakes))
    test(`goes on as it was while ${what}, and says since when`, () => {
      change(good);
      assert.deepEqual(held, []);
      const before = parts();
      assert.deepEqual([...before.keys()], ['a', 'b']);
      change(files, 1000);
      change({}, 2000);
      assert.deepEqual(parts(), before);
      assert.deepEqual(names().toSorted(), expected.toSorted());
      assert.ok(held.every(({ sinceMs }) => sinceMs === 1000));
      const isTold = resources!.problems.length + served!.faults.length > 0;
      assert.ok(isTold);
      change(good, 3000);
      assert.deepEqual([held, resources!.problems, served!.faults], [[], [], []]);
      assert.deepEqual(parts(), before);
    });

  test('is not served any more when its owner takes it away, mistakes elsewhere or not', () => {
    change(good);
    change({ 'a.yaml': null, 'log.yaml': 'a: [' });
    assert.deepEqual([...parts().keys()], ['b']);
    change({ 'b.yaml': 'a: [' });
    change({ 'b.yaml': null });
    assert.deepEqual([...parts().keys()], []);
    assert.deepEqual(names(), ['KafkaProtocolFilter log']);
  });

  test('of a file with a mistake in one resource, the rest is as the file says now', () => {
    change({ ...good, 'b.yaml': null, 'a.yaml': `${cluster('a')}---\n${cluster('b')}---\n${cluster('c')}` });
    const moved = cluster('b').replace('name: tcp', 'name: tcp2');
    change({ 'a.yaml': `${cluster('a')}---\n${moved}---\nkind: [\n` });
    const at = served!.listings.map(({ virtualCluster, bootstrap }) => [virtualCluster, bootstrap]);
    assert.deepEqual(at, [
      ['a', '127.0.0.1:9082'],
      ['b', '127.0.0.1:9182'],
      ['c', '127.0.0.1:9098'],
    ]);
    assert.deepEqual(names(), ['VirtualKafkaCluster c']);
  });

  test('has nothing that was never good', () => {
    change({ ...good, 'a.yaml': cluster('a', 'filterRefs: [{ name: none }]'), 'b.yaml': 'a: [' });
    assert.deepEqual([...parts().keys()], []);
    assert.deepEqual(held, []);
  });
});
