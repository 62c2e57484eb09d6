import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { conditionOf } from '../../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { CLUSTERS, SETTINGS, changeKafka, putPools, stretchedKafka, stretchedObject } from '../../../../test/support/brokers/stretched-kafka.ts'; // prettier-ignore
import type { AnyObject } from '../../../kube/object.ts';
import { readTargetSettings } from '../../targets/settings.ts';
import { LOCAL } from '../../kernel/plan.ts';
import { POD_NETWORKS_ANNOTATION } from './pod-networks.ts';

const NETWORKS = { [LOCAL]: ['10.0.0.0/16'], east: ['10.1.0.0/16', 'fd00:1::/64'], west: ['10.2.0.0/16'] };

const nodeWith = (podCIDRs: string[]): AnyObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node' }, spec: { podCIDRs } }); // prettier-ignore

function putNodes(memory: MemoryKafka, networks: Record<string, string[]>): void {
  for (const [cluster, cidrs] of Object.entries(networks))
    if (cluster === LOCAL) memory.put(nodeWith(cidrs));
    else memory.elsewhere.put(cluster, nodeWith(cidrs));
}

const policiesOf = (memory: MemoryKafka, cluster: string) =>
  cluster === LOCAL ? memory.list('NetworkPolicy') : memory.elsewhere.list(cluster, 'NetworkPolicy');

type Rule = { ports: { port: number }[]; from?: { ipBlock?: { cidr: string } }[] };

/** The networks that the ports between nodes are open for; undefined where they are for all. */
function letIn(memory: MemoryKafka, cluster: string): (string[] | undefined)[] {
  const rules = policiesOf(memory, cluster).flatMap(({ spec }) => (spec as { ingress: Rule[] }).ingress);
  return rules
    .filter(({ ports }) => [9090, 9091].includes(ports[0]!.port))
    .map(({ from }) => from?.flatMap(({ ipBlock }) => ipBlock?.cidr ?? []));
}
const bothPorts = (networks: string[] | undefined) => [networks, networks];

suite('pod networks of a Kafka over several clusters', () => {
  test('each cluster lets in those of all others, as their nodes say', async () => {
    const memory = await stretchedKafka();
    putNodes(memory, NETWORKS);
    await memory.settle();
    const [hub, east, west] = [NETWORKS[LOCAL], NETWORKS.east, NETWORKS.west];
    assert.deepEqual(letIn(memory, LOCAL), bothPorts([...east.slice(0, 1), ...west, ...east.slice(1)]));
    assert.deepEqual(letIn(memory, 'east'), bothPorts([...hub, ...west]));
    assert.deepEqual(letIn(memory, 'west'), bothPorts([...hub, ...east]));
  });

  test('where one cluster does not say, its own lets in those of the others, and those anybody', async () => {
    const memory = await stretchedKafka();
    putNodes(memory, { [LOCAL]: NETWORKS[LOCAL], east: NETWORKS.east });
    await memory.settle();
    assert.deepEqual(letIn(memory, LOCAL), bothPorts(undefined));
    assert.deepEqual(letIn(memory, 'east'), bothPorts(undefined));
    assert.deepEqual(letIn(memory, 'west'), bothPorts([...NETWORKS[LOCAL], ...NETWORKS.east]));
  });

  test('the annotation counts for more than nodes, and is told where it cannot be read', async () => {
    const memory = await stretchedKafka();
    putNodes(memory, NETWORKS);
    changeKafka(memory, { [POD_NETWORKS_ANNOTATION]: '10.8.0.0/14, fd00::/48' });
    await memory.settle();
    for (const cluster of [LOCAL, ...CLUSTERS])
      assert.deepEqual(letIn(memory, cluster), bothPorts(['10.8.0.0/14', 'fd00::/48']));
    for (const wrong of ['10.8.0.0', '10.8.0.0/33', 'fd00::/129', 'east', '10.8.0.0/14,', '10.8.0.0/1/4']) {
      changeKafka(memory, { [POD_NETWORKS_ANNOTATION]: wrong });
      await memory.settle();
      assert.match(conditionOf(memory, 'Ready')?.message ?? '', /pod-networks: ".*" is not a network/, wrong);
      for (const cluster of [LOCAL, ...CLUSTERS])
        assert.deepEqual(letIn(memory, cluster), bothPorts(undefined), wrong);
    }
  });

  test('STRIMZI_NETWORK_POLICY_GENERATION=false: there are no policies anywhere', async () => {
    for (const [text, count] of [
      ['true', 1],
      ['false', 0],
    ] as const) {
      // prettier-ignore
      const read = readTargetSettings({ STRIMZI_NETWORK_POLICY_GENERATION: text });
      assert.ok('settings' in read);
      const { networkPolicies } = read.settings;
      const memory = createMemoryKafka({ ...SETTINGS, networkPolicies }, CLUSTERS);
      memory.put(stretchedObject());
      putPools(memory);
      await memory.settle();
      for (const cluster of [LOCAL, ...CLUSTERS])
        assert.equal(policiesOf(memory, cluster).length, count, `${text} ${cluster}`);
      for (const cluster of CLUSTERS) assert.equal(memory.elsewhere.list(cluster, 'Pod').length, 1);
    }
  });
});
