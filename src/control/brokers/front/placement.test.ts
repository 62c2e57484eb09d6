import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { kafkaObject, poolObject } from '../../../../test/support/brokers/kafka-objects.ts';
import { kafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import type { KafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import { kafka } from '../../../resources/strimzi/kafka.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { read } from '../../kernel/read.ts';
import type { Charter } from '../model/charter.ts';
import { placementOf } from './placement.ts';

const JOINED = { clusters: new Set(['east', 'west']), central: 'hub' };
const NEW: Charter = { clusterId: 'id', epoch: 1, nodes: [], targets: {}, hostPorts: {}, addresses: {}, names: {} }; // prettier-ignore
const RUN: Charter = {
  ...NEW,
  network: 'mcs',
  targets: { east: { networkId: 'e' }, local: { networkId: 'hub' } },
  nodes: [{ id: 0, pool: 'a', target: 'east', roles: ['broker'], leaving: false, formatted: ['data'] }],
};

function kafkaOn(network: string | undefined): Kafka {
  const object = kafkaObject();
  const annotations = { 'isthmus.dev/managed': 'true', ...(network && { 'strimzi.io/cross-cluster-type': network }) }; // prettier-ignore
  return read(kafka, { ...object, metadata: { ...object.metadata, annotations } }).resource!;
}

function pool(name: string, cluster: string | undefined, labels: Record<string, string> = {}): KafkaNodePool {
  const object = poolObject(cluster === undefined ? {} : { cluster }, name);
  return read(kafkaNodePool, { ...object, metadata: { ...object.metadata, labels } }).resource!;
}

const place = (
  network: string | undefined,
  pools: KafkaNodePool[],
  charter = NEW,
  joined: typeof JOINED | undefined = JOINED,
) =>
  // prettier-ignore
  placementOf({ kafka: kafkaOn(network), pools, charter, joined });
const reasons = (...args: Parameters<typeof place>) => place(...args).faults.map(({ reason }) => reason);

suite('where pools are', () => {
  test('in the cluster that they name, and in the central one where they name none, or that', () => {
    const pools = [pool('a', 'east'), pool('b', undefined), pool('c', 'hub')];
    const { placeOf, faults, targets, network } = place('isthmus', pools);
    assert.deepEqual(faults, []);
    assert.equal(network, 'isthmus');
    assert.deepEqual(pools.map(placeOf), [
      { target: 'east', networkId: 'east' },
      { target: 'local', networkId: 'hub' },
      { target: 'local', networkId: 'hub' },
    ]);
    assert.deepEqual(targets, { east: { networkId: 'east' }, local: { networkId: 'hub' } });
  });

  test('labels say what the network calls a cluster', () => {
    for (const label of ['strimzi.io/cluster-network-id', 'strimzi.io/submariner-cluster-id']) {
      const one = pool('a', 'east', { [label]: 'cluster1' });
      assert.equal(place('submariner', [one]).placeOf(one).networkId, 'cluster1');
    }
  });

  test('a cluster that nobody has joined is an error of that pool, and never the central one', () => {
    const { faults } = place('mcs', [pool('a', 'east'), pool('b', 'wset')]);
    assert.deepEqual(faults.map(({ reason, pool: name }) => [reason, name]), [['UnknownCluster', 'b']]); // prettier-ignore
    assert.match(faults[0]!.message, /no cluster "wset" was joined \(known: east, west\)/);
  });

  test('without joined clusters other ones are refused, and nothing else changes', () => {
    const alone = { kafka: kafkaOn(undefined), pools: [pool('a', 'east')], charter: NEW, joined: undefined };
    assert.deepEqual(placementOf(alone).faults.map(({ reason }) => reason), ['NotSupported']); // prettier-ignore
    const { network, targets, faults } = placementOf({ kafka: kafkaOn('mcs'), pools: [pool('a', undefined)], charter: NEW, joined: undefined }); // prettier-ignore
    assert.deepEqual({ network, targets, faults }, { network: undefined, targets: {}, faults: [] });
  });

  test('the network has to be said, and known, before there is one', () => {
    assert.deepEqual(reasons(undefined, [pool('a', 'east')]), ['Invalid']);
    assert.deepEqual(reasons('skupper', [pool('a', 'east')]), ['Invalid']);
    assert.deepEqual(reasons(undefined, [pool('a', undefined)]), []);
  });

  test('one that runs keeps its network, its names and its places', () => {
    assert.deepEqual(reasons('mcs', [pool('a', 'east', { 'strimzi.io/cluster-network-id': 'e' })], RUN), []);
    assert.deepEqual(reasons('cilium', [pool('a', 'east', { 'strimzi.io/cluster-network-id': 'e' })], RUN), ['ChangeNotPossible']); // prettier-ignore
    assert.deepEqual(reasons('mcs', [pool('a', 'east')], RUN), ['ChangeNotPossible']);
    assert.deepEqual(reasons('mcs', [pool('a', 'west')], RUN), ['ChangeNotPossible']);
    const plain = { ...RUN, network: undefined, targets: {}, nodes: RUN.nodes.map((node) => ({ ...node, target: 'local' })) }; // prettier-ignore
    assert.deepEqual(reasons('mcs', [pool('a', undefined)], plain), []);
    assert.equal(place('mcs', [pool('a', undefined)], plain).network, undefined);
    assert.deepEqual(reasons('mcs', [pool('a', undefined), pool('b', 'east')], plain), ['ChangeNotPossible']);
  });

  test('ids are parts of names, and each is of one cluster', () => {
    const labelled = (name: string, cluster: string, id: string) => pool(name, cluster, { 'strimzi.io/cluster-network-id': id }); // prettier-ignore
    assert.deepEqual(reasons('mcs', [labelled('a', 'east', 'Not.A.Label')]), ['Invalid']);
    assert.deepEqual(reasons('mcs', [labelled('a', 'east', 'x'), labelled('b', 'west', 'x')]), ['Invalid']);
    assert.deepEqual(reasons('mcs', [labelled('a', 'east', 'x'), labelled('b', 'east', 'y')]), ['Invalid']);
    const nameless = { ...JOINED, central: undefined } as unknown as typeof JOINED;
    assert.deepEqual(reasons('mcs', [pool('a', undefined)], NEW, nameless), ['Invalid']);
  });
});
