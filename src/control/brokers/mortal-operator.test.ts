/** The operator may end between any two writes: whatever it has begun, the next one brings to the same end. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { conditionOf, kafkaObject, poolObject } from '../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import { createMemoryNodes } from '../../../test/support/brokers/memory-nodes.ts';
import type { MemoryNodes } from '../../../test/support/brokers/memory-nodes.ts';
import type { AnyObject } from '../../kube/object.ts';
import { podsIn } from './objects/pod-sets.ts';

interface World {
  memory: MemoryKafka;
  nodes: MemoryNodes;
  /** How many writes there were. */
  writes: number;
  /** How many the operator lives to see. */
  left: number;
  /** Every id of a cluster that was ever written. */
  ids: Set<string>;
  beforeWrite: () => void;
}

/** The pod whose disk is lost for good. */
const GIVEN_UP = 'events-dual-1';

const DIED = new Error('the operator ends here');

function clusterIdIn({ spec, data, metadata }: AnyObject): string[] {
  const { clusterId } = (spec ?? {}) as { clusterId?: string };
  const found = [clusterId, (data as Record<string, string> | undefined)?.['cluster.id']];
  return [...found, metadata.annotations?.['isthmus.dev/cluster-id']].filter((id) => id !== undefined);
}

function newWorld(): World {
  const memory = createMemoryKafka();
  memory.keepsPods = false;
  const nodes = createMemoryNodes(memory);
  const world: World = { memory, nodes, writes: 0, left: Infinity, ids: new Set(), beforeWrite: () => {} };
  let asked = 0;
  memory.newClusterId = () => String((asked += 1)).padStart(22, 'A');
  memory.beforeWrite = (verb, object) => {
    if (world.left === 0) throw DIED;
    world.beforeWrite();
    world.left -= 1;
    world.writes += 1;
    for (const id of clusterIdIn(object)) world.ids.add(id);
    assert.ok(world.ids.size <= 1, `there are two clusters: ${[...world.ids].join()}`);
    if (verb === 'delete' && object.kind === 'PersistentVolumeClaim')
      assert.equal(object.metadata.name, `data-${GIVEN_UP}`, 'data is deleted that nobody has given up');
    if (verb === 'delete' && object.kind === 'Pod') world.nodes.taken(object);
  };
  return world;
}

/** Says whether anything was written. */
async function reconcile(world: World): Promise<boolean> {
  const before = world.writes;
  try {
    await world.memory.step();
  } catch (error) {
    if (error !== DIED) throw error;
    world.memory.restart();
    world.left = Infinity;
  }
  return world.writes > before;
}

/** Less than the time for which an empty broker counts as empty. */
const ROUND_MS = 50_000;

function pass(world: World, ms = ROUND_MS): void {
  world.nodes.tick();
  world.memory.now += ms;
}

const podSets = ({ memory }: World) => memory.list('StrimziPodSet');

/** What is not as it should be when all is done. */
function lacking({ memory, nodes, ...world }: World): string[] {
  const wanted = memory.list('KafkaNodePool').map(({ spec }) => (spec as { replicas: number }).replicas);
  const listed = memory.list('StrimziPodSet').flatMap(podsIn);
  const revisionOf = ({ metadata }: AnyObject) => metadata.annotations?.['strimzi.io/revision'];
  const { inFlight } = (memory.get('KafkaAnchor', 'events')?.['spec'] ?? {}) as { inFlight?: object };
  // Kafka keeps the settings of brokers that are gone.
  const settings = [...nodes.kafka.registered].flatMap((id) => Object.keys(nodes.kafka.dynamic.get(`broker ${id}`) ?? {})); // prettier-ignore
  return [
    ...(listed.length === wanted.reduce((sum, one) => sum + one, 0)
      ? []
      : [`${listed.length} pods are listed`]),
    ...listed.flatMap((pod) => {
      const live = memory.get('Pod', pod.metadata.name);
      const isBack = nodes.isBack(Number(/\d+$/.exec(pod.metadata.name)?.[0]));
      return live && isBack && revisionOf(live) === revisionOf(pod) ? [] : [`${pod.metadata.name} is not as it should be`]; // prettier-ignore
    }),
    ...(inFlight ? [`a restart is under way: ${JSON.stringify(inFlight)}`] : []),
    ...settings.filter((name) => /throttled|cordoned/.test(name)),
    ...(conditionOf(memory, 'Ready')?.status === 'True'
      ? []
      : [`not Ready: ${conditionOf(memory, 'Ready')?.message}`]),
    ...(world.ids.size === 1 ? [] : ['nothing was made']),
  ];
}

/** Longer than a delete that nobody answered is waited for. */
const MAX_ROUNDS = 120;

/** Lets the world rest until nothing is written any more, and all is as it should be. */
async function calm(world: World): Promise<void> {
  for (let round = 0, quiet = 0; round < MAX_ROUNDS && quiet < 2; round++) {
    pass(world);
    const isBusy = await reconcile(world);
    quiet = isBusy || lacking(world).length > 0 ? 0 : quiet + 1;
  }
  assert.deepEqual(lacking(world), []);
}

type Change = (world: World) => void;

const put = ({ memory }: World, object: AnyObject, change: object) =>
  memory.put({ ...memory.get(object.kind, object.metadata.name), ...object, ...change });

/** Sets something of `spec.kafka`. */
const kafkaWith =
  (part: object): Change =>
  (world) => {
    const live = world.memory.get('Kafka', 'events') ?? kafkaObject();
    const { kafka } = live['spec'] as { kafka: object };
    put(world, live, { spec: { kafka: { ...kafka, ...part } } });
  };

const CHANGES = {
  create(world) {
    put(world, kafkaObject(), {});
    put(world, poolObject(), {});
  },
  'change what a broker takes while it runs': kafkaWith({ config: { 'log.retention.ms': '3600000' } }),
  'change what takes a restart': kafkaWith({ config: { 'auto.create.topics.enable': 'false' } }),
  'scale up': (world) => put(world, poolObject({ roles: ['broker'], replicas: 2 }, 'extra'), {}),
  'scale down': (world) => put(world, poolObject({ roles: ['broker'], replicas: 1 }, 'extra'), {}),
  'restart all by hand'(world) {
    for (const { metadata, ...set } of podSets(world)) {
      const annotations = { ...metadata.annotations, 'strimzi.io/manual-rolling-update': 'true' };
      world.memory.put({ ...set, metadata: { ...metadata, annotations } });
    }
  },
  'give up a lost disk'({ memory, nodes }) {
    const { metadata, ...pod } = memory.get('Pod', GIVEN_UP) ?? kafkaObject();
    if (!nodes.loseDisk(1, 'for good')) return;
    const annotations = { ...metadata.annotations, 'strimzi.io/delete-pod-and-pvc': 'true' };
    const { status } = memory.get('Pod', GIVEN_UP)!;
    memory.put({ ...pod, metadata: { ...metadata, annotations }, status });
  },
  'have others be brokers': (world) => [poolObject({ roles: ['broker'] }, 'others'), poolObject({ roles: ['controller'] })].forEach((pool) => put(world, pool, {})), // prettier-ignore
  // Of a disk that was never written to nobody could tell that without the anchor.
  'lose the anchor'({ memory }) {
    const { nodes = [] } = (memory.get('KafkaAnchor', 'events')?.['spec'] ?? {}) as {
      nodes?: { formatted: string[] }[];
    };
    if (nodes.every(({ formatted }) => formatted.length > 0)) memory.delete('KafkaAnchor', 'events');
  },
} satisfies Record<string, Change>;

const OTHER_CHANGES = {
  ...CHANGES,
  'change pods': kafkaWith({ template: { pod: { metadata: { labels: { team: 'blue' } } } } }),
  'take all of it back': kafkaWith({ config: {}, template: {} }),
  'delete a pool': ({ memory }) => memory.delete('KafkaNodePool', 'extra'),
} satisfies Record<string, Change>;

type Command = [name: string, run: (world: World) => unknown];

const commands = fc.oneof(
  { weight: 3, arbitrary: fc.nat(12).map((lives): Command => [`end after ${lives} writes`, (world) => void (world.left = lives)]) }, // prettier-ignore
  { weight: 8, arbitrary: fc.constant<Command>(['reconcile', reconcile]) },
  { weight: 4, arbitrary: fc.constant<Command>(['pass', pass]) },
  { weight: 3, arbitrary: fc.constantFrom(...Object.entries<Change>(OTHER_CHANGES)) },
  { weight: 1, arbitrary: fc.nat(4).map((id): Command => [`lose disk ${id}`, ({ nodes }) => nodes.loseDisk(id)]) }, // prettier-ignore
);

/** What is returned brings back how it was, with a new operator. */
function remember(world: World): () => void {
  const restores = [world.memory.remember(), world.nodes.remember()];
  const ids = [...world.ids];
  return () => {
    restores.forEach((restore) => restore());
    world.ids = new Set(ids);
  };
}

suite('an operator that ends between two writes', () => {
  test('before every single one of each change, the next operator brings it to the same end', async () => {
    const world = newWorld();
    for (const [name, change] of Object.entries<Change>(CHANGES)) {
      const ends: (() => void)[] = [];
      change(world);
      world.beforeWrite = () => ends.push(remember(world));
      await calm(world);
      world.beforeWrite = () => {};
      assert.ok(ends.length > 0, `${name}: nothing is written`);
      const done = remember(world);
      for (const end of ends) {
        end();
        await calm(world);
      }
      done();
    }
  });

  test('whatever else is asked for meanwhile, and whatever disks are lost: one cluster, formatted once, one node down at most', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(commands, { minLength: 10, maxLength: 40, size: 'max' }), async (script) => {
        const world = newWorld();
        CHANGES.create(world);
        for (const [, run] of script) await run(world);
        world.nodes.findDisks();
        await calm(world);
      }),
      { numRuns: 10 },
    );
  });
});
