import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseAs } from '../../../resources/parse.ts';
import { redpandaCluster } from '../../../resources/redpanda/cluster.ts';
import { fromCluster } from './cluster.ts';
import type { Running } from './cluster.ts';

const VERSION = 'v25.2.1';

function reading(spec: object, running?: Running, name = 'panda') {
  const document = {
    apiVersion: 'redpanda.vectorized.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, namespace: 'n', uid: 'u' },
    spec: { version: VERSION, ...spec },
  };
  const parsed = parseAs(redpandaCluster, document, { unknownFields: 'ignore' });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return fromCluster(parsed.resource, running);
}

const refusalOf = (...given: Parameters<typeof reading>) => {
  const { model, faults } = reading(...given);
  assert.equal(model, undefined);
  return faults.map(({ reason, path, message }) => `${reason} ${path.join('.')} ${message}`).join('\n');
};

const RUNNING: Running = {
  replicas: 3,
  storage: { size: '1Gi', storageClass: undefined },
  version: VERSION,
  hasRun: true,
};

suite('a Redpanda Cluster', () => {
  test('needs no more than a version', () => {
    const { model, faults } = reading({});
    assert.deepEqual(faults, []);
    assert.equal(model?.image, `docker.redpanda.com/redpandadata/redpanda:${VERSION}`);
    assert.equal(model.replicas, 1);
    assert.deepEqual(
      model.kafka.map(({ name, port }) => [name, port]),
      [['kafka', 9092]],
    );
    assert.deepEqual(model.storage, { size: '100Gi', storageClass: undefined });
    assert.deepEqual(model.disruptionBudget, { maxUnavailable: 1 });
  });

  test('takes of the machine what it requests', () => {
    const argumentsFor = (resources: object, configuration: object = {}) =>
      reading({ resources, configuration }).model?.arguments;
    assert.deepEqual(argumentsFor({ requests: { cpu: '1500m', memory: '10Gi' } }), {
      'default-log-level': 'info',
      smp: '2',
      memory: '9216M',
      'reserve-memory': '0M',
    });
    assert.equal(argumentsFor({ requests: { cpu: 1 }, redpanda: { cpu: 4 } })?.['smp'], '4');
    assert.equal(
      argumentsFor({ requests: { cpu: 1 } }, { additionalCommandlineArguments: { smp: '3' } })?.['smp'],
      '3',
    );
  });

  test('is refused by the field, and with what to do', () => {
    assert.match(refusalOf({ version: '' }), /^Invalid spec\.version .*name the tag/);
    assert.match(refusalOf({ replicas: 0 }), /^Invalid spec\.replicas/);
    assert.match(refusalOf({}, undefined, 'a.b'), /^Invalid metadata\.name .*no dots/);
    assert.match(refusalOf({}, undefined, '1a'), /^Invalid metadata\.name .*letter/);
    assert.match(refusalOf({ nodePools: [{ name: 'x' }] }), /^NotSupported spec\.nodePools/);
    assert.match(refusalOf({ cloudStorage: { enabled: true } }), /^NotSupported spec\.cloudStorage/);
    assert.match(
      refusalOf({ podDisruptionBudget: { minAvailable: 1, maxUnavailable: 1 } }),
      /only one can count/,
    );
  });

  test('says which listeners cannot be', () => {
    const refused = (configuration: object) => refusalOf({ configuration });
    assert.match(refused({ kafkaApi: [{ port: 9644 }] }), /adminApi\.port: kafkaApi\.0\.port has port 9644/);
    assert.match(
      refused({ kafkaApi: [{}, { name: 'more' }] }),
      /kafkaApi\.1\.port: give the listener a port/,
    );
    assert.match(refused({ kafkaApi: [{}, { port: 9093 }] }), /kafkaApi\.1\.name/);
    const twice = [{ name: 'in' }, { name: 'in', port: 1 }];
    assert.match(refused({ kafkaApi: twice }), /kafkaApi\.1\.name: another port is called in/);
    assert.match(refused({ kafkaApi: [{ name: 'admin' }] }), /another port is called admin/);
    assert.match(refused({ kafkaApi: [{ tls: { enabled: true } }] }), /nodeSecretRef: name the Secret/);
    const halfTls = { enabled: true, nodeSecretRef: { name: 's' }, requireClientAuth: true };
    assert.match(refused({ kafkaApi: [{ tls: halfTls }] }), /clientCACertRef: name the Secret/);
    assert.match(refused({ adminApi: [{ tls: { enabled: true } }] }), /^NotSupported .*adminApi\.tls/);
    assert.match(refused({ adminApi: [{}, {}] }), /adminApi: there can be one/);
    const secret = { kafkaApi: [{ authenticationMethod: 'sasl' }], schemaRegistry: {} };
    assert.match(refused(secret), /need a listener in kafkaApi without TLS and authentication/);
    assert.match(refusalOf({ enableSasl: true, configuration: { schemaRegistry: {} } }), /need a listener/);
  });

  test('settings are sorted by what they are about, and those of the operator stay its own', () => {
    const { model, faults } = reading({
      superUsers: [{ username: 'root' }],
      configuration: { pandaproxyApi: [{}] },
      additionalConfiguration: {
        'redpanda.default_topic_partitions': '3',
        'redpanda.crash_loop_limit': '7',
        'pandaproxy.consumer_instance_timeout_ms': '60000',
        'redpanda.node_id': '7',
      },
    });
    assert.deepEqual(model?.bootstrap, {
      auto_create_topics_enabled: false,
      superusers: ['root'],
      default_topic_partitions: 3,
    });
    assert.deepEqual(model.settings, {
      redpanda: { crash_loop_limit: 7 },
      pandaproxy: { consumer_instance_timeout_ms: 60000 },
    });
    assert.match(faults.map(({ message }) => message).join(), /redpanda\.node_id is set by the operator/);
    const refused = (key: string, value: string) => refusalOf({ additionalConfiguration: { [key]: value } });
    assert.match(refused('node_id', '1'), /"node_id" is not a section and a name/);
    assert.match(refused('redpanda.x', '[1'), /the value of "redpanda\.x" is not YAML/);
    assert.match(refused('redpanda.x', '&a [*a, *a]'), /is not YAML/);
  });
});

suite('a Redpanda Cluster that has run', () => {
  const storage = { capacity: '1Gi' };

  test('grows, and does not shrink', () => {
    assert.equal(reading({ replicas: 5, storage }, RUNNING).model?.replicas, 5);
    assert.match(
      refusalOf({ replicas: 2, storage }, RUNNING),
      /^ChangeNotPossible spec\.replicas .*go back to 3/,
    );
    assert.equal(reading({ replicas: 1, storage }, { ...RUNNING, hasRun: false }).model?.replicas, 1);
  });

  test('keeps its disks, however their size is spelled', () => {
    const { model } = reading({ replicas: 3, storage: { capacity: '1024Mi' } }, RUNNING);
    assert.equal(model?.storage.size, '1Gi');
    assert.match(refusalOf({ replicas: 3, storage: { capacity: '2Gi' } }, RUNNING), /go back to 1Gi/);
    assert.match(
      refusalOf({ replicas: 3, storage: { ...storage, storageClassName: 'fast' } }, RUNNING),
      /spec\.storage\.storageClassName .*go back to none/,
    );
  });

  test('goes to newer versions, and back within a feature release', () => {
    const modelFor = (version: string) => reading({ replicas: 3, storage, version }, RUNNING).model;
    assert.ok(modelFor('v25.3.1'));
    assert.ok(modelFor('v25.2.0'));
    assert.ok(modelFor('latest'));
    assert.equal(modelFor('v25.1.9'), undefined);
  });
});
