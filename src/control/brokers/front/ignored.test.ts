import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  conditionOf,
  kafkaObject,
  poolObject,
  settledKafka,
} from '../../../../test/support/brokers/kafka-objects.ts';
import { kafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import { kafka as kafkaKind } from '../../../resources/strimzi/kafka.ts';
import { parseAs } from '../../../resources/parse.ts';
import type { Kind, Resource } from '../../../resources/kind.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { ignoredFaults } from './ignored.ts';

function parse<R extends Resource>(kind: Kind<R>, object: object): R {
  const parsed = parseAs(kind, object, { unknownFields: 'ignore' });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.resource;
}

/** The fields that are named, each as a path. */
function ignoredIn(kafka: AnyObject, pool: AnyObject = poolObject()): string[] {
  const faults = ignoredFaults(parse(kafkaKind, kafka), [parse(kafkaNodePool, pool)]);
  assert.ok(faults.every(({ reason }) => reason === 'ConfigIgnored'));
  return faults.map(({ path }) => path.join('.'));
}

const listener = (configuration: object, type = 'internal') =>
  kafkaObject({ listeners: [{ name: 'plain', port: 9092, type, tls: true, configuration }] });

suite('fields that nothing comes of', () => {
  test('none is named where all are used, or left empty', () => {
    const broker = {
      resources: { limits: { memory: '1Gi' } },
      readinessProbe: { periodSeconds: 9 },
      template: { pod: { tolerations: [] }, kafkaContainer: { env: [] } },
      quotas: null,
    };
    assert.deepEqual(ignoredIn(kafkaObject(broker)), []);
    assert.deepEqual(
      ignoredIn(listener({ brokers: [], bootstrap: { alternativeNames: ['a.example'] } })),
      [],
    );
  });

  test('each is named by its path: of the Kafka, its listeners and its templates', () => {
    const broker = { tieredStorage: { type: 'custom' }, quotas: { type: 'kafka' }, jmxOptions: {} };
    const kafka = kafkaObject({ ...broker, livenessProbe: { timeoutSeconds: 5 } });
    const spec = kafka['spec'] as object;
    assert.deepEqual(ignoredIn({ ...kafka, spec: { ...spec, cruiseControl: {}, kafkaExporter: {} } }), [
      'spec.cruiseControl',
      'spec.kafkaExporter',
      'spec.kafka.tieredStorage',
      'spec.kafka.quotas',
      'spec.kafka.jmxOptions',
      'spec.kafka.livenessProbe',
    ]);
    const at = 'spec.kafka.listeners.0.configuration';
    const overrides = { hostTemplate: 'b-{nodeId}', brokers: [{ broker: 0 }], bootstrap: { host: 'a' } };
    assert.deepEqual(ignoredIn(listener(overrides, 'hostport')), [
      `${at}.brokers`,
      `${at}.hostTemplate`,
      `${at}.bootstrap.host`,
    ]);
    assert.deepEqual(ignoredIn(kafkaObject({ template: { jmxSecret: {}, pod: { dnsPolicy: 'None' } } })), [
      'spec.kafka.template.jmxSecret',
      'spec.kafka.template.pod.dnsPolicy',
    ]);
  });

  test('of authorization, rack, authorities and the entity operator, within', () => {
    const kafka = kafkaObject({
      authorization: { type: 'simple', superUsers: ['CN=a'], supportsAdminApi: true },
      rack: { topologyKey: 'zone', envVar: 'ZONE' },
    });
    const entityOperator = {
      topicOperator: { watchedNamespace: 'topics', reconciliationIntervalMs: 1000 },
      userOperator: { secretPrefix: 'kafka-' },
      template: {},
    };
    const clusterCa = { generateSecretOwnerReference: false, keySize: 4096 };
    const whole = { ...kafka, spec: { ...(kafka['spec'] as object), entityOperator, clusterCa } };
    assert.deepEqual(ignoredIn(whole), [
      'spec.entityOperator.template',
      'spec.entityOperator.topicOperator.reconciliationIntervalMs',
      'spec.entityOperator.userOperator.secretPrefix',
      'spec.clusterCa.keySize',
      'spec.kafka.authorization.supportsAdminApi',
      'spec.kafka.rack.envVar',
    ]);
    const odd = { ...kafkaObject(), spec: { kafka: {}, entityOperator: { topicOperator: 'x', userOperator: null } } }; // prettier-ignore
    assert.deepEqual(ignoredIn(odd), []);
  });

  test('what one type of listener heeds is named where it has another', () => {
    const wish = { subdomain: 'example.com', portStrategy: 'range', preferredAddressType: 'InternalIP' };
    const at = 'spec.kafka.listeners.0.configuration';
    assert.deepEqual(ignoredIn(listener(wish, 'hostport')), []);
    assert.deepEqual(ignoredIn(listener(wish, 'loadbalancer')), [
      `${at}.portStrategy`,
      `${at}.preferredAddressType`,
    ]);
    assert.equal(ignoredIn(listener(wish)).length, 3);
    const kafka = listener(wish);
    const annotations = { ...kafka.metadata.annotations, 'isthmus.dev/hostport': 'plain' };
    assert.equal(ignoredIn({ ...kafka, metadata: { ...kafka.metadata, annotations } }).length, 3);
  });

  test('of a pool: disks, and templates of objects that a pool does not have', () => {
    const volume = { id: 0, type: 'persistent-claim', size: '1Gi', selector: { disk: 'fast' } };
    const pool = { storage: { type: 'jbod', volumes: [volume] }, template: { bootstrapService: {} } };
    assert.deepEqual(ignoredIn(kafkaObject(), poolObject(pool)), [
      'spec.template.bootstrapService',
      'spec.storage.volumes.0.selector',
    ]);
  });

  test('the Kafka is ready all the same, and says which and what to do', async () => {
    const memory = await settledKafka({ quotas: { type: 'kafka' } });
    const { status, reason, message = '' } = conditionOf(memory, 'Ready') ?? {};
    assert.deepEqual([status, reason], ['True', 'ConfigIgnored']);
    assert.match(message, /spec\.kafka\.quotas is not used: give quotas to each KafkaUser/);
  });
});

test('a certificate of the user’s own for a listener is refused, and so is a name that no certificate can have', async () => {
  const refusedWith = async (configuration: object) => {
    const listeners = [{ name: 'tls', port: 9093, type: 'internal', tls: true, configuration }];
    return conditionOf(await settledKafka({ listeners }), 'Accepted');
  };
  const own = await refusedWith({ brokerCertChainAndKey: { secretName: 's', certificate: 'c', key: 'k' } });
  assert.deepEqual([own?.status, own?.reason], ['False', 'NotSupported']);
  assert.match(own?.message ?? '', /listener "tls": brokerCertChainAndKey is not supported/);
  const name = await refusedWith({ bootstrap: { alternativeNames: ['not a name'] } });
  assert.match(name?.message ?? '', /alternativeNames has not a name/);
});
