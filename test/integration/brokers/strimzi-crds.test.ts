/** The kafka road with the CRDs of today's Strimzi in the place of ours: they serve v1 alone, and drop what they do not know. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { untilKindsAreServed } from '../../support/control-plane/served.ts';
import { ensureStrimziCrds, newJava } from '../../support/install/strimzi.ts';
import { metric } from '../control/harness.ts';
import { PATIENCE, entity, kafka, nodePool, startBed } from './fixture.ts';

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

test('a Kafka with Strimzi’s own CRDs becomes ready, with topics, users and brokers that are exposed, and is then left alone', async (t) => {
  const java = await newJava();
  if (java === undefined) return t.skip('Strimzi 1.2.0 makes its CRDs with Java 21, which is not here');
  const plane = await planeWith(Object.values(await ensureStrimziCrds('1.2.0', java)));
  await using bed = await startBed({ nodes: [{ name: 'a', zone: 'zone-a' }], plane });
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
    { ...one, metadata: { ...one.metadata, annotations: { ...one.metadata.annotations, ...annotations } } },
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
    // prettier-ignore
    const isReady = async () => JSON.stringify((await bed.get(kind, name))?.['status'] ?? '').includes('"True"');
    await waitFor(`${kind} to be ready`, isReady, PATIENCE);
  }
  const writes = () => metric(bed.operator, 'isthmus_road_writes_total');
  const looks = () => metric(bed.operator, 'isthmus_controller_reconciles_total');
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
