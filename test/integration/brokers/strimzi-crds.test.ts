/**
 * The kafka road with Strimzi's CRDs in the place of ours, which drop what they do not know: those of today, which serve v1 alone, and older
 * ones, which serve v1beta2 alone.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { required } from '../../../src/kafka/admin/answer.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { untilKindsAreServed } from '../../support/control-plane/served.ts';
import { ensureStrimziCrds } from '../../support/install/strimzi.ts';
import { metric } from '../control/harness.ts';
import { readInput } from '../../support/golden/input.ts';
import { PATIENCE, annotated, asking, entity, inVersion, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed, StrimziApi } from './fixture.ts';

const CRDS = resolve(import.meta.dirname, '../../../deploy/crds');

interface Told {
  name: string;
  address: string;
  reached: boolean;
}

/** Ours, but for those that Strimzi brings. */
async function planeWith(theirs: readonly string[]): Promise<ControlPlane> {
  const plane = await startControlPlane();
  const ours = globSync('*.yaml', { cwd: CRDS }).filter((file) => !file.endsWith('.strimzi.io.yaml'));
  const files = [...ours.map((file) => join(CRDS, file)), ...theirs].flatMap((file) => ['-f', file]);
  const { code, stderr } = await plane.kubectl(['apply', '--server-side', ...files]);
  assert.equal(code, 0, stderr);
  await untilKindsAreServed(plane);
  return plane;
}

const GOLDEN = resolve(import.meta.dirname, '../../golden/kafka');

/** Golden scenarios with what these CRDs do not know, and how an API server says so; they take all others as they are written. */
const HOSTPORT = {
  hostport: /Unsupported value: "hostport"/,
  'hostport-range': /configuration\.portStrategy: field not declared/,
  'hostport-subdomain': /configuration\.subdomain: field not declared/,
  loadbalancer: /configuration\.allowedSources: field not declared/,
};
/** Where the nodes of a pool are; an annotation of the pool says the same. */
const STRETCHED = Object.fromEntries(
  globSync('stretch-*', { cwd: GOLDEN }).map((scenario) => [scenario, /\.spec\.cluster: field not declared/]),
);
const UNKNOWN: Record<StrimziApi, Readonly<Record<string, RegExp>>> = {
  v1beta2: { ...HOSTPORT, ...STRETCHED, metrics: /metricsConfig\.values: field not declared/, 'rack-variable': /rack\.(type|envVarName): field not declared/ }, // prettier-ignore
  // What counts for all pools is said by each of them.
  v1: { ...HOSTPORT, ...STRETCHED, fields: /\.spec\.kafka\.resources: field not declared/ },
};

async function takesGoldenKafkas(bed: Bed, version: StrimziApi): Promise<void> {
  const refused = await refusals(bed, version);
  assert.deepEqual(Object.keys(refused).toSorted(), Object.keys(UNKNOWN[version]).toSorted());
  for (const [scenario, words] of Object.entries(UNKNOWN[version])) assert.match(refused[scenario]!, words);
}

/** What an API server says to the resources of each golden scenario where it refuses, or would drop, a part of them. */
async function refusals({ plane }: Bed, version: StrimziApi): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const file of globSync('*/in.yaml', { cwd: GOLDEN })) {
    const scenario = file.split('/')[0]!;
    const input = readInput(scenario, (name) => readFileSync(join(GOLDEN, name, 'in.yaml'), 'utf8'));
    const objects = (input as AnyObject[])
      .filter(({ kind }) => kind.startsWith('Kafka'))
      .map((one) => inVersion(version, { ...one, metadata: { ...one.metadata, namespace: 'default' } }));
    const stdin = objects.map((one) => JSON.stringify(one)).join('\n---\n');
    const args = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'];
    const { code, stderr } = await plane.kubectl(args, { stdin });
    if (code !== 0) found[scenario] = stderr;
  }
  return found;
}

const isReady = async (bed: Bed, kind: string, name: string) =>
  JSON.stringify((await bed.get(kind, name))?.['status'] ?? '').includes('"True"');

test('a Kafka with the CRDs of an older Strimzi becomes ready, and so do its topics and users', async () => {
  const plane = await planeWith(Object.values(await ensureStrimziCrds('0.45.0')));
  await using bed = await startBed({ nodes: [{ name: 'a' }], plane, strimziVersion: 'v1beta2' });
  await takesGoldenKafkas(bed, 'v1beta2');
  const objects = [
    kafka('events', {}, { entityOperator: { topicOperator: {}, userOperator: {} } }),
    nodePool('events', 'dual'),
    entity('KafkaTopic', 'orders', 'events', { partitions: 1, replicas: 1 }),
    entity('KafkaUser', 'shop', 'events', { authentication: { type: 'tls' } }),
    entity('KafkaUser', 'desk', 'events', { quotas: { producerByteRate: 1024 } }),
  ];
  await bed.apply(...objects.map((one) => inVersion('v1beta2', one)));
  await bed.untilReady('events');
  for (const [kind, name] of [
    ['KafkaTopic', 'orders'],
    ['KafkaUser', 'shop'],
    ['KafkaUser', 'desk'],
  ] as const)
    // prettier-ignore
    await waitFor(`${kind} ${name} to be ready`, () => isReady(bed, kind, name), PATIENCE);
  assert.notEqual(await bed.secret('shop', 'user.crt'), '');
  await bed.apply(
    inVersion('v1beta2', entity('KafkaTopic', 'orders', 'events', { partitions: 3, replicas: 1 })),
  );
  const partitions = () =>
    asking(bed, ['events-dual-0'], async (admin) => {
      for await (const page of admin.topics({ names: ['orders'] }))
        return required(page)[0]?.partitions.length;
      return 0;
    });
  await waitFor('the topic has grown', async () => (await partitions()) === 3, PATIENCE);
  await bed.plane.kubectl(['delete', 'kafkatopic/orders', 'kafkauser/shop', '--wait=false']);
  const areGone = async () =>
    !(await bed.get('KafkaTopic', 'orders')) && !(await bed.get('KafkaUser', 'shop'));
  await waitFor('both are gone', areGone, PATIENCE);
});

test('a Kafka with Strimzi’s own CRDs becomes ready, with topics, users and brokers that are exposed, and is then left alone', async () => {
  const plane = await planeWith(Object.values(await ensureStrimziCrds('1.2.0')));
  await using bed = await startBed({ nodes: [{ name: 'a', zone: 'zone-a' }], plane });
  await takesGoldenKafkas(bed, 'v1');
  const annotations = {
    'isthmus.dev/rebalance': 'on-scale',
    'isthmus.dev/move-bytes-per-second': '1000000',
    'isthmus.dev/hostport': 'ext',
    'isthmus.dev/hostport-configuration': '{"preferredAddressType": "ExternalIP"}',
  };
  const listeners = ['plain', 'ext'].map((name, at) => ({ name, port: 9092 + at, type: 'internal', tls: at === 1 })); // prettier-ignore
  const one = kafka(
    'events',
    { listeners, rack: { type: 'topology-label', topologyKey: 'topology.kubernetes.io/zone' } },
    { entityOperator: { topicOperator: {}, userOperator: {} } },
  );
  await bed.apply(
    annotated(one, annotations),
    nodePool('events', 'dual'),
    entity('KafkaTopic', 'orders', 'events', { partitions: 1, replicas: 1 }),
    entity('KafkaUser', 'shop', 'events', { authentication: { type: 'tls' } }),
  );
  const { metadata } = await bed.untilReady('events');
  for (const [name, value] of Object.entries(annotations)) assert.equal(metadata.annotations?.[name], value);
  // Strimzi's CRD has no place for what was found of each broker; the anchor has.
  const exposed = async () =>
    (((await bed.get('KafkaAnchor', 'events'))?.['status'] ?? {}) as { exposed?: Told[] }).exposed ?? [];
  const isReached = async () => (await exposed()).some(({ name, reached }) => name === 'ext-0' && reached);
  await waitFor('the exposed broker is reached', isReached, PATIENCE).catch(async (error: unknown) =>
    assert.fail(`${String(error)}: ${JSON.stringify(await exposed())}`),
  );
  const [node] = bed.runner.nodes;
  assert.match((await exposed())[0]!.address, new RegExp(`^${node!.external.replaceAll('.', '\\.')}:\\d+$`));
  const isSaid = async () => (await bed.condition('events', 'Reachable'))?.status === 'True';
  await waitFor('the Kafka says so, too', isSaid, PATIENCE);
  for (const [kind, name] of [
    ['KafkaTopic', 'orders'],
    ['KafkaUser', 'shop'],
  ] as const) {
    await waitFor(`${kind} to be ready`, () => isReady(bed, kind, name), PATIENCE);
  }
  const writes = () => metric(bed.operator, 'isthmus_road_writes_total');
  const looks = () => metric(bed.operator, 'isthmus_controller_reconciles_total', 'kafka');
  // What came last wakes those before it.
  let before = -1;
  const isAtRest = async () => {
    const former = before;
    before = await writes();
    return former === before;
  };
  await waitFor('nothing to be written', isAtRest, { ...PATIENCE, everyMs: 3000 });
  const looked = await looks();
  for (const stir of ['1', '2', '3'])
    await bed.plane.kubectl(['annotate', '--overwrite', 'kafka/events', `example.com/stir=${stir}`]);
  await waitFor('more looks', async () => (await looks()) > looked, PATIENCE);
  assert.equal(await writes(), before);
});
