/** What the roller believes of Kafka, held against what a real broker says and takes. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { configChange, configDigests } from '../../../src/control/brokers/roll/config-change.ts';
import type { ConfigChange, ConfigValues } from '../../../src/control/brokers/roll/config-change.ts';
import { METADATA_VERSIONS, kafkaVersionOf } from '../../../src/control/brokers/roll/versions.ts';
import { connectKafka } from '../../../src/kafka/client.ts';
import type { KafkaClient } from '../../../src/kafka/client.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { KAFKA_VERSION } from '../../support/install/kafka.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';

const BROKER = 4;
const SET = 0;
const DELETE = 1;

let kafka: KafkaCluster;
let client: KafkaClient;
/** What the broker was started with. */
let started: ConfigValues;

async function decide(wanted: ConfigValues, refused: string[] = []): Promise<ConfigChange> {
  const resources = [{ resourceType: BROKER, resourceName: '1', configurationKeys: null }];
  const { results } = await client.request('DescribeConfigs', { resources, includeSynonyms: true });
  assert.equal(results[0]?.errorCode, 0);
  const described = results[0].configs;
  return configChange({ wanted, described, startedWith: configDigests(started), refused: new Set(refused) });
}

const without = (key: string) => Object.fromEntries(Object.entries(started).filter(([name]) => name !== key));

/** Sends what was decided; the error codes of both resources. */
async function send(decided: ConfigChange): Promise<number[]> {
  assert.equal(decided.kind, 'dynamic');
  const { perBroker, clusterWide } = decided.change;
  const sets = (set: ConfigValues) =>
    Object.entries(set).map(([name, value]) => ({ name, configOperation: SET, value }));
  const deletes = perBroker.delete.map((name) => ({ name, configOperation: DELETE, value: null }));
  const resources = [
    { resourceType: BROKER, resourceName: '1', configs: [...sets(perBroker.set), ...deletes] },
    { resourceType: BROKER, resourceName: '', configs: sets(clusterWide.set) },
  ].filter(({ configs }) => configs.length > 0);
  const { responses } = await client.request('IncrementalAlterConfigs', { resources, validateOnly: false });
  return responses.map(({ errorCode }) => errorCode);
}

/** A change is taken, and arrives: the broker then says that nothing differs. */
async function assertTaken(wanted: ConfigValues): Promise<void> {
  assert.deepEqual(new Set(await send(await decide(wanted))), new Set([0]));
  await waitFor('the change at the broker', async () => (await decide(wanted)).kind === 'none');
}

suite('the roller and a real broker', () => {
  before(async () => {
    kafka = await startKafka();
    const [host = '', port] = kafka.bootstrap.plaintext.split(':');
    client = await connectKafka({
      host,
      port: Number(port),
      connectTimeoutMs: 60_000,
      requestTimeoutMs: 60_000,
    });
    const text = await readFile(join(kafka.directory, 'broker-1', 'server.properties'), 'utf8');
    const lines = text.split('\n').filter((line) => line.includes('='));
    started = Object.fromEntries(
      lines.map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)]),
    );
  });

  after(async () => {
    client?.close();
    await kafka?.stop();
  });

  test('what it was started with is what it has: nothing differs, hidden values included', async () => {
    assert.ok(Object.keys(started).length > 40, 'all kinds of keys');
    assert.deepEqual(await decide(started), { kind: 'none', unfixable: [] });
  });

  test('updatable keys are changed while it runs, and back', async () => {
    await assertTaken({ ...started, 'log.retention.ms': '3600000', 'log.cleanup.policy': 'compact, delete' });
    await assertTaken(started);
  });

  test('a key of its file that is no longer wanted goes to its default', async () => {
    await assertTaken(without('num.io.threads'));
    await assertTaken(started);
  });

  test('min.insync.replicas is taken for all brokers', async () => {
    await assertTaken({ ...started, 'min.insync.replicas': '2' });
    await assertTaken(started);
  });

  test('what it refuses to change while it runs becomes a restart', async () => {
    const wanted = { ...started, 'background.threads': '64' };
    const codes = await send(await decide(wanted));
    assert.notDeepEqual(codes, [0], 'more than twice as many threads');
    assert.deepEqual(await decide(wanted, ['background.threads']), {
      kind: 'restart',
      keys: ['background.threads'],
    });
  });

  test('what it takes only at its start needs a restart', async () => {
    const fewer = without('listener.name.sasl_ssl.plain.sasl.jaas.config');
    const keys = { 'auto.create.topics.enable': 'false', 'ssl.keystore.type': 'PKCS12', 'my.own.key': '1' };
    assert.deepEqual(await decide({ ...fewer, ...keys }), {
      kind: 'restart',
      keys: [
        'auto.create.topics.enable',
        'listener.name.sasl_ssl.plain.sasl.jaas.config',
        'my.own.key',
        'ssl.keystore.type',
      ],
    });
  });

  test('the leader of the quorum gives its own present time, by which voters are compared', async () => {
    const asked = BigInt(Date.now());
    const partitions = [{ partitionIndex: 0 }];
    const { topics } = await client.request('DescribeQuorum', {
      topics: [{ topicName: '__cluster_metadata', partitions }],
    });
    const { leaderId, currentVoters } = topics[0]!.partitions[0]!;
    const leader = currentVoters.find(({ replicaId }) => replicaId === leaderId);
    assert.ok(leader!.lastCaughtUpTimestamp >= asked);
  });

  test('the levels of metadata.version are those that we know', async () => {
    const versions = await client.request('ApiVersions', {
      clientSoftwareName: 'test',
      clientSoftwareVersion: '1',
    });
    const of = <Feature extends { name: string }>(features: Feature[] = []) =>
      features.find(({ name }) => name === 'metadata.version');
    const { latest } = kafkaVersionOf(KAFKA_VERSION)!;
    const supported = of(versions.supportedFeatures);
    assert.deepEqual(
      [supported?.minVersion, supported?.maxVersion],
      [METADATA_VERSIONS[0]!.level, latest.level],
    );
    assert.equal(of(versions.finalizedFeatures)?.maxVersionLevel, latest.level);
  });
});
