/** The operator may end between any two writes: whatever it has begun, the next one brings to the same end. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { conditionOf, kafkaObject, poolObject } from '../../../test/support/brokers/kafka-objects.ts';
import { collectGarbage, smallDisks } from '../../../test/support/brokers/memory-controllers.ts';
import { createMemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../test/support/brokers/memory-kafka.ts';
import { createMemoryNodes } from '../../../test/support/brokers/memory-nodes.ts';
import type { MemoryNodes } from '../../../test/support/brokers/memory-nodes.ts';
import type { AnyObject } from '../../kube/object.ts';
import { readNodeAnnotations } from '../../pki/bundle.ts';
import { VERSION_ANNOTATION } from './model/names.ts';
import { podsIn } from './objects/pod-sets.ts';
import { kafkaVersionOf } from './roll/versions.ts';
import { isPodReady } from './status.ts';

interface World {
  memory: MemoryKafka;
  nodes: MemoryNodes;
  /** How many writes there were. */
  writes: number;
  /** How many the operator lives to see. */
  left: number;
  /** Every id of a cluster that was ever written. */
  ids: Set<string>;
  /** How many Kafkas of the name there were. */
  kafkas: number;
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
  const world: World = {
    memory,
    nodes,
    writes: 0,
    left: Infinity,
    ids: new Set(),
    kafkas: 0,
    beforeWrite: () => {},
  };
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
  believeEachOther(world);
}

const certificatesOf = ({ metadata }: AnyObject) => readNodeAnnotations(metadata.annotations ?? {});

/** Each node that runs verifies what each other presents. */
function believeEachOther({ memory }: World): void {
  const running = memory.list('Pod').filter(isPodReady);
  for (const one of running)
    for (const other of running) {
      const { clusterTrust } = certificatesOf(one);
      const isTrusted = clusterTrust !== 'unknown' && clusterTrust.some(({ keyId }) => keyId === certificatesOf(other).signedBy); // prettier-ignore
      assert.ok(isTrusted, `${one.metadata.name} does not trust ${other.metadata.name}`);
    }
}

const podSets = ({ memory }: World) => memory.list('StrimziPodSet');

/** What of the versions that run is not as it should be, or not said. */
function otherVersions({ memory, nodes }: World): string[] {
  const { spec, status } = memory.get('Kafka', 'events')!;
  const { version } = (spec as { kafka: { version: string } }).kafka;
  const { latest } = kafkaVersionOf(version)!;
  const running = memory.list('Pod').map(({ metadata }) => metadata.annotations?.[VERSION_ANNOTATION]);
  const { kafkaVersion, kafkaMetadataVersion } = (status ?? {}) as Record<string, string>;
  return [
    ...running.filter((one) => one !== version).map((one) => `a node runs ${one}`),
    ...(nodes.kafka.level === latest.level ? [] : [`the metadata is at level ${nodes.kafka.level}`]),
    ...(kafkaVersion === version && kafkaMetadataVersion === latest.name
      ? []
      : [`it is said to run ${kafkaVersion} with metadata of ${kafkaMetadataVersion}`]),
  ];
}

/** What is not as it should be when all is done. */
function lacking(world: World): string[] {
  const { memory, nodes } = world;
  const pools = memory.list('KafkaNodePool').map(({ metadata, spec }) => ({
    name: metadata.name,
    ...(spec as { replicas: number; storage: { size: string } }),
  }));
  const listed = memory.list('StrimziPodSet').flatMap(podsIn);
  const revisionOf = ({ metadata }: AnyObject) => metadata.annotations?.['strimzi.io/revision'];
  const { inFlight } = (memory.get('KafkaAnchor', 'events')?.['spec'] ?? {}) as { inFlight?: object };
  // Kafka keeps the settings of brokers that are gone.
  const settings = [...nodes.kafka.registered].flatMap((id) => Object.keys(nodes.kafka.dynamic.get(`broker ${id}`) ?? {})); // prettier-ignore
  return [
    ...otherVersions(world),
    ...(listed.length === pools.reduce((sum, { replicas }) => sum + replicas, 0)
      ? []
      : [`${listed.length} pods are listed`]),
    ...listed.flatMap((pod) => {
      const live = memory.get('Pod', pod.metadata.name);
      const id = Number(/\d+$/.exec(pod.metadata.name)?.[0]);
      const isBack = nodes.isBack(id);
      const trusted = live && certificatesOf(live).clusterTrust.length;
      const { size } =
        pools.find(({ name }) => pod.metadata.name.startsWith(`events-${name}-`))?.storage ?? {};
      if (trusted !== 1) return [`${pod.metadata.name} trusts ${trusted} CAs`];
      if (size !== undefined && smallDisks(memory, id, size).length > 0) return [`the disk of ${pod.metadata.name} is small`]; // prettier-ignore
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

const OLD = '4.2.1';
const NEW = '4.3.1';

/** The Kafka as it is, or one that is applied (again). */
function theKafka(world: World, version = OLD): AnyObject {
  const live = world.memory.get('Kafka', 'events');
  if (live) return live;
  const kafka = kafkaObject({ version });
  world.kafkas += 1;
  return { ...kafka, metadata: { ...kafka.metadata, uid: `uid-kafka-${world.kafkas}` } };
}

const put = ({ memory }: World, object: AnyObject, change: object) =>
  memory.put({ ...memory.get(object.kind, object.metadata.name), ...object, ...change });

/** Sets something of `spec.kafka`. */
const kafkaWith =
  (part: object): Change =>
  (world) => {
    const live = theKafka(world);
    const { kafka } = live['spec'] as { kafka: object };
    put(world, live, { spec: { kafka: { ...kafka, ...part } } });
  };

/** Nobody goes back from metadata of 4.3, nor knows what nodes that have not started yet will begin with. */
const mayGoBack = ({ nodes: { kafka } }: World) =>
  kafka.level > 0 && kafka.level <= kafkaVersionOf(OLD)!.latest.level;

const LARGER = poolObject({ storage: { type: 'persistent-claim', size: '20Gi' } });

const CHANGES = {
  create(world) {
    put(world, theKafka(world), {});
    if (!world.memory.get('KafkaNodePool', 'dual')) put(world, poolObject(), {});
  },
  upgrade: kafkaWith({ version: NEW }),
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
  'grow disks': (world) => put(world, LARGER, {}),
  'replace the key of the CA'({ memory }) {
    const { metadata, ...secret } = memory.get('Secret', 'events-cluster-ca') ?? kafkaObject();
    const annotations = { ...metadata.annotations, 'strimzi.io/force-replace': 'true' };
    if (secret.kind === 'Secret') memory.put({ ...secret, metadata: { ...metadata, annotations } });
  },
  'delete it and apply it again'(world) {
    const { spec } = theKafka(world);
    world.memory.delete('Kafka', 'events');
    // It is applied while half of what was its own is still there.
    collectGarbage(world.memory);
    put(world, { ...theKafka(world), spec }, {});
  },
} satisfies Record<string, Change>;

const OTHER_CHANGES = {
  ...CHANGES,
  'change pods': kafkaWith({ template: { pod: { metadata: { labels: { team: 'blue' } } } } }),
  'take all of it back': kafkaWith({ config: {}, template: {} }),
  'delete a pool': ({ memory }) => memory.delete('KafkaNodePool', 'extra'),
  'delete the Kafka': ({ memory }) => memory.delete('Kafka', 'events'),
  'go back': (world) => kafkaWith({ version: mayGoBack(world) ? OLD : NEW })(world),
} satisfies Record<string, Change>;

type Command = [name: string, run: (world: World) => unknown];

const commands = fc.oneof(
  { weight: 3, arbitrary: fc.nat(12).map((lives): Command => [`end after ${lives} writes`, (world) => void (world.left = lives)]) }, // prettier-ignore
  { weight: 8, arbitrary: fc.constant<Command>(['reconcile', reconcile]) },
  { weight: 4, arbitrary: fc.constant<Command>(['pass', pass]) },
  { weight: 3, arbitrary: fc.constantFrom(...Object.entries<Change>(OTHER_CHANGES)) },
  { weight: 1, arbitrary: fc.nat(4).map((id): Command => [`lose disk ${id}`, ({ nodes }) => nodes.loseDisk(id)]) }, // prettier-ignore
);

/** How many of a change are tried. */
const MOMENTS = 12;

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
  test('before each of those that a change takes, the next operator brings it to the same end', async () => {
    const world = newWorld();
    for (const [name, change] of Object.entries<Change>(CHANGES)) {
      const ends: (() => void)[] = [];
      change(world);
      world.beforeWrite = () => ends.push(remember(world));
      await calm(world);
      world.beforeWrite = () => {};
      assert.ok(ends.length > 0, `${name}: nothing is written`);
      const done = remember(world);
      // Of a long change, of which much is the same for each node, not all moments in one run.
      const step = Math.ceil(ends.length / MOMENTS);
      const [first] = fc.sample(fc.nat(step - 1), 1);
      for (const end of ends.filter((_, at) => at % step === first)) {
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
        CHANGES.create(world);
        if (!mayGoBack(world)) CHANGES.upgrade(world);
        await calm(world);
      }),
      { numRuns: 10 },
    );
  });
});
