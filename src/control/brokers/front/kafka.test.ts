import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { kafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import type { KafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import { kafka as kafkaKind } from '../../../resources/strimzi/kafka.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { parseAs } from '../../../resources/parse.ts';
import type { Kind, Resource } from '../../../resources/kind.ts';
import { createHostIndex } from '../../shared/host-index.ts';
import { HOST_PORTS } from '../expose/ports.ts';
import type { Charter } from '../model/charter.ts';
import type { Volume } from '../model/cluster.ts';
import type { Joined } from './placement.ts';
import { fromKafka, isManaged } from './kafka.ts';
import type { Reading } from './kafka.ts';

const SETTINGS = {
  images: {},
  ownImage: 'isthmus:test',
  clusterDomain: 'cluster.local',
};

function parse<R extends Resource>(kind: Kind<R>, object: object): R {
  const parsed = parseAs(kind, object, { unknownFields: 'ignore' });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.resource;
}

const kafkaWith = (broker: object = {}, annotations: Record<string, string> = {}): Kafka =>
  parse(kafkaKind, {
    apiVersion: 'kafka.strimzi.io/v1',
    kind: 'Kafka',
    metadata: { name: 'events', namespace: 'kafka', uid: 'u', annotations },
    spec: { kafka: { listeners: [{ name: 'plain', port: 9092, type: 'internal', tls: false }], ...broker } },
  });

const poolWith = (name: string, spec: object = {}, annotations: Record<string, string> = {}): KafkaNodePool =>
  parse(kafkaNodePool, {
    apiVersion: 'kafka.strimzi.io/v1',
    kind: 'KafkaNodePool',
    metadata: { name, namespace: 'kafka', labels: { 'strimzi.io/cluster': 'events' }, annotations },
    spec: {
      replicas: 3,
      roles: ['controller', 'broker'],
      storage: { type: 'persistent-claim', size: '10Gi' },
      ...spec,
    },
  });

const NEW: Charter = {
  clusterId: 'MkU3OEVBNTcwNTJENDM2Qg',
  epoch: 1,
  nodes: [],
  hostPorts: {},
  targets: {},
  addresses: {},
  names: {},
};

const readWith = (
  kafka: Kafka,
  pools: readonly KafkaNodePool[],
  charter = NEW,
  storage: ReadonlyMap<string, readonly Volume[]> = new Map(),
  joined?: Joined,
): Reading =>
  fromKafka(
    {
      kafka,
      pools,
      charter,
      storage,
      names: {
        others: [],
        published: () => createHostIndex(),
        namePolicies: [],
        unreadablePolicies: [],
        namespaceLabels: {},
        now: 0,
      },
      running: [],
      metadataLevel: undefined,
      externalLogging: undefined,
      podSetVersion: 'core.strimzi.io/v1',
      joined,
      ports: { services: [], others: new Set(), used: new Set(), range: HOST_PORTS },
    },
    SETTINGS,
  );

const messagesOf = ({ faults }: Reading) => faults.map(({ message }) => message);

/** The same, as it is once its nodes have run. */
function afterRun({ charter }: Reading): Charter {
  return { ...charter, nodes: charter.nodes.map((node) => ({ ...node, formatted: ['data'] })) };
}

suite('a cluster from Kafka and KafkaNodePool', () => {
  test('gets ids, disks that may be formatted once, and the newest version', () => {
    const first = readWith(kafkaWith(), [poolWith('dual')]);
    assert.deepEqual(first.faults, []);
    assert.deepEqual([first.cluster?.version, first.cluster?.image], ['4.3.1', 'apache/kafka:4.3.1']);
    assert.deepEqual(
      first.cluster?.pools[0]?.nodes.map(({ formatting }) => formatting),
      [0, 1, 2].map((id) => [`/var/lib/kafka/data/kafka-log${id}`]),
    );
    const later = readWith(
      kafkaWith(),
      [poolWith('dual', { replicas: 4, roles: ['broker', 'controller'] })],
      {
        ...afterRun(first),
      },
    );
    assert.match(messagesOf(later).join(), /the controllers of a running cluster stay the same/);
  });

  test('a new disk of a node that has run may be formatted, the old one not; one that goes with its pod always', () => {
    const jbod = (...volumes: object[]) => ({ storage: { type: 'jbod', volumes } });
    const one = { id: 0, type: 'persistent-claim', size: '1Gi' };
    const first = readWith(kafkaWith(), [poolWith('dual', jbod(one))]);
    const run = {
      ...first.charter,
      nodes: first.charter.nodes.map((node) => ({ ...node, formatted: ['data-0'] })),
    };
    const had = new Map([['dual', first.cluster!.pools[0]!.volumes]]);
    const more = readWith(kafkaWith(), [poolWith('dual', jbod(one, { ...one, id: 1 }))], run, had);
    assert.deepEqual(more.cluster?.pools[0]?.nodes[0]?.formatting, ['/var/lib/kafka/data-1/kafka-log0']);
    const ephemeral = [poolWith('dual', { storage: { type: 'ephemeral' } })];
    const fleeting = readWith(kafkaWith(), ephemeral, afterRun(readWith(kafkaWith(), ephemeral)));
    assert.deepEqual(fleeting.cluster?.pools[0]?.nodes[0]?.formatting, ['/var/lib/kafka/data/kafka-log0']);
  });

  const refused: [what: string, read: () => Reading, says: RegExp][] = [
    [
      'an unknown version',
      () => readWith(kafkaWith({ version: '3.9.0' }), [poolWith('d')]),
      /Kafka 3\.9\.0 is not supported/,
    ],
    ['no listener', () => readWith(kafkaWith({ listeners: [] }), [poolWith('d')]), /there is no listener/],
    [
      'two listeners of one port',
      () =>
        readWith(
          kafkaWith({
            listeners: [
              { name: 'a', port: 9092, type: 'internal' },
              { name: 'b', port: 9092, type: 'internal' },
            ],
          }),
          [poolWith('d')],
        ),
      /port 9092 is that of listener "a"/,
    ],
    [
      'a listener on a port between nodes',
      () =>
        readWith(kafkaWith({ listeners: [{ name: 'a', port: 9404, type: 'internal' }] }), [poolWith('d')]),
      /port 9404 is used between the nodes/,
    ],
    [
      'a listener type of another road',
      () => readWith(kafkaWith({ listeners: [{ name: 'a', port: 9094, type: 'route' }] }), [poolWith('d')]),
      /type route is not served/,
    ],
    [
      'client certificates without TLS',
      () =>
        readWith(
          kafkaWith({
            listeners: [{ name: 'a', port: 9094, type: 'internal', authentication: { type: 'tls' } }],
          }),
          [poolWith('d')],
        ),
      /needs TLS/,
    ],
    [
      'no controller',
      () => readWith(kafkaWith(), [poolWith('d', { roles: ['broker'] })]),
      /no node is a controller/,
    ],
    ['no pool', () => readWith(kafkaWith(), []), /no node is a broker/],
    [
      'more replicas than brokers',
      () => readWith(kafkaWith({ config: { 'default.replication.factor': 5 } }), [poolWith('d')]),
      /default\.replication\.factor is 5, but there are only 3 brokers/,
    ],
    [
      'a setting of two lines',
      () => readWith(kafkaWith({ config: { a: 'x\ny' } }), [poolWith('d')]),
      /not a name and a value on one line/,
    ],
    ['no storage', () => readWith(kafkaWith(), [poolWith('d', { storage: {} })]), /storage\.type is missing/],
    [
      'a disk that shrinks',
      () => {
        const had = readWith(kafkaWith(), [poolWith('d')]).cluster!.pools[0]!.volumes;
        const smaller = poolWith('d', { storage: { type: 'persistent-claim', size: '5Gi' } });
        return readWith(kafkaWith(), [smaller], NEW, new Map([['d', had]]));
      },
      /cannot shrink from 10Gi to 5Gi/,
    ],
    [
      'another kind of disk',
      () => {
        const had = readWith(kafkaWith(), [poolWith('d')]).cluster!.pools[0]!.volumes;
        return readWith(
          kafkaWith(),
          [poolWith('d', { storage: { type: 'ephemeral' } })],
          NEW,
          new Map([['d', had]]),
        );
      },
      /cannot change its type/,
    ],
  ];
  for (const [what, read, says] of refused)
    test(`is refused with ${what}, and what to do is said`, () => {
      const reading = read();
      assert.equal(reading.cluster, undefined);
      assert.match(messagesOf(reading).join('; '), says);
    });

  test('warns of what works all the same', () => {
    const reading = readWith(kafkaWith({ config: { 'log.dirs': '/x' } }), [
      poolWith('d', { replicas: 2 }, { 'strimzi.io/next-node-ids': 'x' }),
    ]);
    assert.ok(reading.cluster);
    assert.deepEqual(reading.faults.map(({ reason }) => reason).toSorted(), [
      'ConfigIgnored',
      'ConfigIgnored',
    ]);
  });

  test('ids to take next that another pool has are named, with the annotation', () => {
    const brokers = { replicas: 2, roles: ['broker'] };
    const { cluster, faults } = readWith(kafkaWith(), [
      poolWith('d'),
      poolWith('e', brokers, { 'strimzi.io/next-node-ids': '[1-2,7]' }),
    ]);
    assert.deepEqual(cluster?.pools[1]?.nodes.map(({ id }) => id), [3, 7]); // prettier-ignore
    assert.deepEqual(faults.map(({ reason }) => reason), ['ConfigIgnored']); // prettier-ignore
    assert.equal(faults[0]?.path.at(-1), 'strimzi.io/next-node-ids');
    assert.match(faults[0]?.message ?? '', /"e": .* has ids of other pools: 1 \(of "d"\), 2 \(of "d"\)/);
  });

  test('only those that ask for it are ours', () => {
    assert.equal(isManaged(kafkaWith()), false);
    for (const annotation of ['isthmus.dev/managed', 'strimzi.io/enable-stretch-cluster'])
      assert.equal(isManaged(kafkaWith({}, { [annotation]: 'true' })), true);
    assert.equal(isManaged(kafkaWith({}, { 'strimzi.io/cross-cluster-type': 'submariner' })), true);
  });
});
