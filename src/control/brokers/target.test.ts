import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { clusterWith, poolWith } from '../../../test/support/brokers/models.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { Target } from '../kernel/plan.ts';
import type { Certificates } from './certificates/authorities.ts';
import type { Charter } from './model/charter.ts';
import type { Role } from './model/cluster.ts';
import type { Observed } from './observe.ts';
import { centralTarget, podSetsOf, remoteTarget } from './target.ts';

const OBSERVED = { pods: [], podSets: [], dnsEndpoints: undefined } as unknown as Observed;
const BOTH: readonly Role[] = ['broker', 'controller'];

function targetsWith(places: Record<string, number[]>, leftOver: Charter['nodes'] = []): Target[] {
  const pools = Object.entries(places).map(([target, ids]) => ({
    ...poolWith(`pool-${target}`, ids, BOTH),
    target,
  }));
  const cluster = clusterWith({ pools });
  const nodes = pools.flatMap(({ name, target, nodes: own }) =>
    own.map(({ id }) => ({ id, pool: name, target, roles: BOTH, leaving: false, formatted: [] })),
  );
  const charter: Charter = { clusterId: 'id', epoch: 1, nodes: [...nodes, ...leftOver], targets: {}, hostPorts: {}, addresses: {}, names: {} }; // prettier-ignore
  const pods = nodes.map(({ pool, id }) => `events-${pool}-${id}`);
  const names = ['events-cluster-ca', 'events-cluster-ca-cert', 'events-trustbundle', ...pods];
  const certificates = {
    annotations: new Map(pods.map((pod) => [pod, {}])),
    secrets: new Map(names.map((name) => [name, { data: {}, annotations: {} }])),
  } as unknown as Certificates;
  const sets = podSetsOf(OBSERVED, cluster, charter, certificates);
  const wanted = {
    cluster,
    charter,
    issued: [],
    certificates,
    sets,
    reservations: [],
    operator: undefined,
    networkPolicies: true,
    networksBeside: () => [],
  };
  const away = Object.keys(places).filter((name) => name !== 'local');
  return [centralTarget(OBSERVED, wanted), ...away.toSorted().map((name) => remoteTarget(name, wanted))];
}

const namesOf = ({ objects }: Target, kind: string) =>
  objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);
const find = ({ objects }: Target, kind: string, name: string) =>
  objects.find((object) => object.kind === kind && object.metadata.name === name) as AnyObject;

suite('targets of a cluster', () => {
  test('one that is in one place has one target', () => {
    const targets = targetsWith({ local: [0, 1, 2] });
    assert.deepEqual(targets.map(({ cluster }) => cluster), ['local']); // prettier-ignore
    assert.equal(namesOf(targets[0]!, 'Secret').length, 6);
  });

  test('each has what its own pools need, and the central one what there is once', () => {
    const [central, east, west] = targetsWith({ west: [2], local: [0], east: [1, 3] });
    assert.deepEqual([central, east, west].map((one) => one?.cluster), ['local', 'east', 'west']); // prettier-ignore
    assert.deepEqual(namesOf(east!, 'StrimziPodSet'), ['events-pool-east']);
    assert.deepEqual(namesOf(east!, 'PersistentVolumeClaim'), ['data-events-pool-east-1', 'data-events-pool-east-3']); // prettier-ignore
    assert.deepEqual(namesOf(east!, 'ConfigMap'), ['events-pool-east-1', 'events-pool-east-3']);
    assert.deepEqual(namesOf(central!, 'ConfigMap'), ['events-pool-local-0']);
    assert.deepEqual(find(east!, 'PodDisruptionBudget', 'events-kafka')['spec'], {
      ...(find(west!, 'PodDisruptionBudget', 'events-kafka')['spec'] as object),
      minAvailable: 1,
    });
    for (const target of [central!, east!, west!])
      assert.deepEqual(namesOf(target, 'Service'), ['events-kafka-brokers', 'events-kafka-bootstrap']);
  });

  test('a node knows all voters, wherever they are', () => {
    const [, east] = targetsWith({ local: [0], east: [1] });
    const { data } = find(east!, 'ConfigMap', 'events-pool-east-1') as unknown as { data: Record<string, string> }; // prettier-ignore
    assert.match(data['server.config'] ?? '', /^controller\.quorum\.voters=0@.*,1@/m);
  });

  test('no authority leaves the central cluster', () => {
    const [central, east] = targetsWith({ local: [0], east: [1] });
    assert.deepEqual(namesOf(east!, 'Secret'), ['events-trustbundle', 'events-pool-east-1']);
    assert.equal(namesOf(central!, 'Secret').length, 5);
  });

  test('nothing is pruned elsewhere while a node there is not listed', () => {
    const gone = { id: 9, pool: 'gone', target: 'east', roles: BOTH, leaving: true, formatted: [] };
    const pruned = (targets: Target[]) => targets.map(({ prune }) => prune);
    assert.deepEqual(pruned(targetsWith({ local: [0], east: [1] })), [true, true]);
    assert.deepEqual(pruned(targetsWith({ local: [0], east: [1] }, [gone])), [true, false]);
  });
});
