import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { worldOf } from '../../../test/support/console/world.ts';
import { NO_RATES } from '../counters.ts';
import { ALL_SIGHTS } from '../source.ts';
import { fleetView, MOST_PROBLEMS, MOST_ROWS } from './fleet.ts';
import { keysView } from './keys.ts';
import { objectView } from './object.ts';
import { MOST_LEAVES, MOST_NODES, topologyView } from './topology.ts';

const quiet = () => NO_RATES;

suite('fleet', () => {
  test('has what is wrong first, with the cure and since when', () => {
    const world = worldOf({ clusters: 3, isBroken: (index) => index === 2 });
    const { problems, clusters } = fleetView({ world, rates: quiet }, '');
    assert.deepEqual(
      problems.map(({ object, reason, since }) => [object?.name, reason, since]),
      [['vc-2', 'TargetUnreachable', '2026-01-01T00:00:00Z']],
    );
    assert.match(problems[0]!.cure ?? '', /bootstrap/);
    assert.deepEqual(
      clusters.map(({ name }) => name),
      ['vc-2', 'vc-0', 'vc-1'],
    );
  });

  test('has the busiest before the quiet among those that are well', () => {
    const rates = (cluster = '') => ({ ...NO_RATES, requests: cluster === 'vc-1' ? 5 : 0 });
    const { clusters } = fleetView({ world: worldOf(), rates }, '');
    assert.equal(clusters[0]!.name, 'vc-1');
  });

  test('is narrowed down by all of the words', () => {
    const world = worldOf({ clusters: 3, isBroken: () => true });
    const { problems, clusters } = fleetView({ world, rates: quiet }, 'UNREACHABLE vc-1');
    assert.deepEqual([problems.length, clusters.length], [1, 1]);
  });

  test('is bounded, and says how much more there is', () => {
    const world = worldOf({ clusters: 1000, isBroken: () => true });
    const view = fleetView({ world, rates: quiet }, '');
    assert.deepEqual(
      [view.problems.length + view.moreProblems, view.clusters.length + view.moreClusters],
      [1000, 1000],
    );
    assert.ok(view.problems.length === MOST_PROBLEMS && view.clusters.length === MOST_ROWS);
  });
});

suite('topology', () => {
  test('is a way from each address to each broker, through the filters in their order', () => {
    const { nodes, edges } = topologyView({ world: worldOf({ clusters: 1, filters: 2 }), rates: quiet }, '');
    const labels = new Map(nodes.map(({ id, label }) => [id, label]));
    assert.deepEqual(
      edges.map(({ from, to }) => `${labels.get(from)} → ${labels.get(to)}`),
      [
        '127.0.0.1:20000 → vc-0',
        'vc-0 → filter-0',
        'filter-0 → filter-1',
        'filter-1 → proxy',
        'proxy → broker 0',
        'proxy → broker 1',
        'proxy → broker 2',
      ],
    );
  });

  test('never has more nodes than can be looked at, nor an edge to one that is not there', () => {
    const sizes = fc.record({
      clusters: fc.integer({ min: 0, max: 300 }),
      brokers: fc.integer({ min: 0, max: 120 }),
      filters: fc.integer({ min: 0, max: 30 }),
      addresses: fc.integer({ min: 0, max: 8 }),
    });
    fc.assert(
      fc.property(sizes, (size) => {
        const { nodes, edges, hidden } = topologyView({ world: worldOf(size), rates: quiet }, '');
        assert.ok(nodes.length <= MOST_NODES);
        const ids = new Set(nodes.map(({ id }) => id));
        assert.equal(ids.size, nodes.length);
        assert.ok(edges.every(({ from, to }) => ids.has(from) && ids.has(to)));
        const drawn = nodes.filter(({ column }) => column === 'clusters').length;
        assert.equal(drawn + hidden, size.clusters);
      }),
      { numRuns: 50 },
    );
  });

  test('draws what is broken where not all can be drawn, and groups leaves', () => {
    const world = worldOf({ clusters: 1000, brokers: 100, isBroken: (index) => index === 999 });
    const { nodes } = topologyView({ world, rates: quiet }, '');
    assert.equal(nodes.find(({ column }) => column === 'clusters')?.label, 'vc-999');
    const brokers = nodes.filter(({ column }) => column === 'brokers');
    assert.deepEqual(
      brokers.map(({ label, count }) => [label, count]),
      [['100 brokers', 100]],
    );
    assert.ok(100 > MOST_LEAVES);
  });
});

test('brokers are drawn as they are, and a group of them as its worst', () => {
  const statesOf = (brokers: number) => {
    const world = worldOf({ clusters: 1, brokers, stateOf: (id) => (id === 1 ? 'notReady' : 'ready') });
    const { nodes } = topologyView({ world, rates: quiet }, '');
    return nodes.flatMap(({ column, state }) => (column === 'brokers' ? [state] : []));
  };
  assert.deepEqual(statesOf(3), ['ready', 'notReady', 'ready']);
  assert.deepEqual(statesOf(100), ['notReady']);
});

suite('object', () => {
  test('has what is asked for beside what is observed, its tree, its YAML and a line for a terminal', () => {
    const ref = { kind: 'VirtualKafkaCluster', namespace: 'default', name: 'vc-0' };
    const view = objectView(worldOf(), ref)!;
    const ingresses = view.facts.find(({ name }) => name === 'ingresses');
    assert.deepEqual(
      [ingresses?.wanted, ingresses?.observed],
      ['[{"name":"in-0"}]', 'in-0: 127.0.0.1:20000'],
    );
    assert.deepEqual(
      view.tree.children.map(({ kind, name, reason }) => `${kind}/${name} ${reason}`),
      [
        'KafkaProxy/proxy ',
        'KafkaProxyIngress/in-0 ReferencedResourcesNotFound',
        'KafkaClusterRef/kafka ReferencedResourcesNotFound',
      ],
    );
    assert.match(view.yaml, /^kind: VirtualKafkaCluster$/m);
    assert.equal(view.command, 'kubectl get VirtualKafkaCluster -n default vc-0');
  });

  test('is shown whatever its fields are called', () => {
    const world = worldOf();
    const spec = { constructor: 1, toString: 'x', hasOwnProperty: {} };
    const odd = { ...world.objects[0]!, spec, status: {} };
    const { facts } = objectView({ ...world, objects: [odd] }, { kind: 'KafkaProxy', namespace: 'default', name: 'proxy' })!; // prettier-ignore
    assert.deepEqual(
      facts.map(({ name, wanted, observed }) => [name, wanted, observed]),
      [
        ['constructor', '1', ''],
        ['toString', 'x', ''],
        ['hasOwnProperty', '{}', ''],
      ],
    );
  });

  test('is undefined where there is none of this name', () => {
    assert.equal(objectView(worldOf(), { kind: 'KafkaProxy', namespace: '', name: 'x' }), undefined);
  });
});

suite('keys', () => {
  test('has certificates in the order in which they end, with their states', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    const certificate = (virtualCluster: string, days: number) => ({
      virtualCluster,
      usedBy: 'in-0',
      subject: 'CN=x',
      expires: new Date(now + days * 86_400_000),
    });
    const certificates = [certificate('a', 90), certificate('b', -1), certificate('c', 3)];
    const view = keysView({ ...worldOf(), certificates }, { sees: ALL_SIGHTS, keys: [], text: '', now });
    assert.deepEqual(
      view.certificates?.map(({ virtualCluster, daysLeft, state }) => [virtualCluster, daysLeft, state]),
      [
        ['b', -1, 'notReady'],
        ['c', 3, 'warning'],
        ['a', 90, 'ready'],
      ],
    );
  });
});

test('what cannot be seen is left out of every view, instead of being zero or none', () => {
  const world = worldOf({ clusters: 2 });
  const fleet = fleetView({ world, rates: undefined }, '');
  assert.deepEqual(['total' in fleet, ...fleet.clusters.map((row) => 'rates' in row)], [false, false, false]);
  const { nodes, edges } = topologyView({ world, rates: undefined }, '');
  assert.ok(edges.length > 0 && !edges.some((edge) => 'requests' in edge || 'bytes' in edge));
  assert.ok(!nodes.some(({ detail }) => detail.includes('connections')));
  const keys = keysView(world, { sees: [], keys: [], text: '', now: 0 });
  assert.deepEqual(keys, { names: [], moreNames: 0 });
});
