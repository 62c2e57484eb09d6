/** The sets that one road writes are those that the other obeys: they meet in the resource only. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { podSet } from '../../src/control/brokers/objects/pod-sets.ts';
import type { BrokerCluster } from '../../src/control/brokers/model/cluster.ts';
import { listedPods, podOf } from '../../src/control/pod-sets/listed.ts';
import { POD_SELECTOR, SET_SELECTOR } from '../../src/control/pod-sets/names.ts';
import { nodeAnnotations, nodeWishesIn } from '../../src/control/shared/node-annotations.ts';
import type { AnyObject, KubeObject } from '../../src/kube/object.ts';
import { parseAs } from '../../src/resources/parse.ts';
import { strimziPodSet } from '../../src/resources/strimzi/strimzi-pod-set.ts';
import { clusterWith } from '../support/brokers/models.ts';

const selects = (selector: string, { metadata }: KubeObject) =>
  selector.split(',').every((part) => {
    const [label = '', value] = part.split('=');
    return metadata.labels?.[label] === value;
  });

function setOf(parts: Partial<BrokerCluster> = {}): AnyObject {
  const cluster = clusterWith(parts);
  return podSet(cluster, cluster.pools[0]!, 3, new Map());
}

suite('a set of brokers', () => {
  test('is ours, and none that a Strimzi operator takes notice of', () => {
    const set = setOf();
    assert.ok(selects(SET_SELECTOR, set));
    assert.equal(set.metadata.labels?.['strimzi.io/kind'], undefined);
    assert.equal(set.metadata.labels?.['strimzi.io/cluster'], 'events');
    assert.equal(set.metadata.annotations?.['isthmus.dev/epoch'], '3');
  });

  test('lists pods that can be made, and that are followed then', () => {
    const parsed = parseAs(strimziPodSet, setOf(), { unknownFields: 'ignore' });
    assert.ok(parsed.ok);
    const { pods = [], problem } = listedPods(parsed.resource);
    assert.equal(problem, undefined);
    assert.deepEqual(
      pods.map(({ name }) => name),
      ['events-dual-0', 'events-dual-1', 'events-dual-2'],
    );
    for (const pod of pods) assert.ok(selects(POD_SELECTOR, podOf(setOf(), pod, 0)));
  });

  test('asks for the label of its rack, and its pods look for it where it is written', () => {
    for (const label of ['topology.kubernetes.io/zone', 'example.com/my_rack']) {
      const set = setOf({ rack: { by: 'topology-label', label } });
      const node = { name: 'n', labels: { [label]: 'r7' }, addresses: [] };
      const told = nodeAnnotations(node, nodeWishesIn(set.metadata.annotations));
      const { pods } = set['spec'] as { pods: { spec: { containers: { env: Variable[] }[] } }[] };
      const { env } = pods[0]!.spec.containers[0]!;
      const annotation = env.find(({ name }) => name === 'ISTHMUS_RACK_ANNOTATION')!.value;
      assert.equal(told[annotation], 'r7');
    }
  });
});

interface Variable {
  name: string;
  value: string;
}
