import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  SETTINGS,
  conditionsOf,
  fileOf,
  find,
  live,
  objectsFor,
  observed,
  plan,
  revisionOf,
  setOf,
} from '../../../test/support/control/redpanda.ts';
import { NOTHING_LEARNED } from '../kernel/reconcile.ts';
import { BOOTSTRAP_ANNOTATION, ROLL_ANNOTATION } from './names.ts';
import { planRedpanda } from './plan.ts';

suite('a plan for a Redpanda cluster', () => {
  test('has the objects of its own operator, by the same names', () => {
    const names = objectsFor({}).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    assert.deepEqual(names, [
      'ServiceAccount panda',
      'NetworkPolicy panda',
      'Service panda',
      'Service panda-cluster',
      'PodDisruptionBudget panda',
      'ConfigMap panda-base',
      'StatefulSet panda',
    ]);
    const { updateStrategy, serviceName, replicas } = setOf({}).spec;
    assert.deepEqual({ updateStrategy, serviceName, replicas }, { updateStrategy: { type: 'OnDelete' }, serviceName: 'panda', replicas: 3 }); // prettier-ignore
    assert.equal(
      find(objectsFor({ podDisruptionBudget: { enabled: false } }), 'PodDisruptionBudget'),
      undefined,
    );
  });

  test('keeps the admin API for the namespace and the operator, and the port between brokers for them', () => {
    const operator = { namespace: 'isthmus-system', labels: { app: 'isthmus' } };
    const rulesOf = (settings: typeof SETTINGS & { operator?: typeof operator }, spec: object = {}) => {
      const { targets } = planRedpanda(observed(spec), settings, NOTHING_LEARNED);
      const policy = find(targets[0]!.objects, 'NetworkPolicy')!;
      const rules = policy.spec['ingress'] as { ports: { port: number }[]; from?: object[] }[];
      return new Map(rules.map(({ ports, from }) => [ports[0]!.port, from]));
    };
    const rules = rulesOf({ ...SETTINGS, operator }, { configuration: { schemaRegistry: { port: 8084 } } });
    const control = {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'isthmus-system' } },
      podSelector: { matchLabels: { app: 'isthmus' } },
    };
    assert.deepEqual([...rules.keys()], [33_145, 9644, 9092, 8084]);
    assert.deepEqual(rules.get(9644), [{ podSelector: {} }, control]);
    assert.equal(rules.get(33_145)?.length, 1);
    assert.deepEqual([rules.get(9092), rules.get(8084)], [undefined, undefined]);
    // Where the operator connects from outside of Kubernetes, nobody knows its address.
    assert.deepEqual(rulesOf(SETTINGS).get(9644), undefined);
  });

  test('gives each broker its own id and addresses', () => {
    const host = 'panda-1.panda.n.svc.cluster.local';
    const { redpanda } = fileOf({ configuration: { kafkaApi: [{ port: 19_092 }] } }, 1);
    assert.equal(redpanda['node_id'], 1);
    assert.deepEqual(redpanda['kafka_api'], [{ name: 'kafka', address: '0.0.0.0', port: 19_092 }]);
    assert.deepEqual(redpanda['advertised_kafka_api'], [{ name: 'kafka', address: host, port: 19_092 }]);
    assert.deepEqual(redpanda['advertised_rpc_api'], { address: host, port: 33_145 });
  });

  test('lets no broker found a cluster by itself', () => {
    const { redpanda } = fileOf({}, 2);
    assert.equal(redpanda['empty_seed_starts_cluster'], false);
    assert.equal((redpanda['seed_servers'] as object[]).length, 3);
  });

  test('has sections for the other listeners where they are asked for, with their settings', () => {
    assert.deepEqual(Object.keys(fileOf({}, 0)), ['redpanda']);
    const configuration = { pandaproxyApi: [{ port: 8083 }], schemaRegistry: { port: 8084 } };
    const additionalConfiguration = { 'pandaproxy.advertised_pandaproxy_api': '[]', 'pandaproxy.x': '1' };
    const file = fileOf({ configuration, additionalConfiguration }, 0);
    assert.deepEqual(Object.keys(file), ['redpanda', 'pandaproxy', 'pandaproxy_client', 'schema_registry', 'schema_registry_client']); // prettier-ignore
    assert.equal((file['pandaproxy'] as { x: number }).x, 1);
    assert.equal(
      (file['pandaproxy'] as { advertised_pandaproxy_api: object[] }).advertised_pandaproxy_api.length,
      1,
    );
  });

  test('mounts the Secrets of a TLS listener where its file says', () => {
    const tls = { enabled: true, requireClientAuth: true, nodeSecretRef: { name: 's' }, clientCACertRef: { name: 'c' } }; // prettier-ignore
    const spec = { configuration: { kafkaApi: [{ name: 'secure', tls }] } };
    const [entry] = fileOf(spec, 0).redpanda['kafka_api_tls'] as Record<string, string>[];
    const pod = (setOf(spec).spec as { template: { spec: { containers: { volumeMounts: { mountPath: string; name: string }[] }[]; volumes: { name: string; secret?: { secretName: string } }[] } } }).template.spec; // prettier-ignore
    const secretAt = (path: string | undefined) => {
      const mount = pod.containers[0]!.volumeMounts.find(({ mountPath }) =>
        path?.startsWith(`${mountPath}/`),
      );
      return pod.volumes.find(({ name }) => name === mount?.name)?.secret?.secretName;
    };
    assert.deepEqual(
      [secretAt(entry?.['cert_file']), secretAt(entry?.['key_file']), secretAt(entry?.['truststore_file'])],
      ['s', 's', 'c'],
    );
  });

  test('restarts brokers for what they read at their start, and for nothing else', () => {
    const base = revisionOf({});
    assert.equal(revisionOf({ replicas: 5 }), base);
    assert.equal(revisionOf({ podDisruptionBudget: { enabled: false } }), base);
    assert.equal(revisionOf({ configuration: { autoCreateTopics: true } }), base);
    for (const spec of [
      { configuration: { kafkaApi: [{ port: 1 }] } },
      { version: 'v25.2.2' },
      { annotations: { a: 'b' } },
      { resources: { limits: { memory: '1Gi' } } },
      { additionalConfiguration: { 'redpanda.crash_loop_limit': '3' } },
    ])
      assert.notEqual(revisionOf(spec), base, JSON.stringify(spec));
  });

  test('keeps all that runs while something is refused', () => {
    const seen = observed({ replicas: 1 }, { statefulSet: live({}) });
    const { targets, actions } = plan(seen);
    assert.deepEqual([targets, actions], [[], []]);
    const conditions = conditionsOf(seen);
    assert.equal(conditions.get('ClusterConfigured')?.status, 'False');
    assert.equal(conditions.get('OperatorQuiescent')?.reason, 'ChangeNotPossible');
  });

  test('says that settings of the cluster were read when it was founded', () => {
    const changed = { configuration: { autoCreateTopics: true } };
    const statefulSet = live({});
    const warned = conditionsOf(observed(changed, { statefulSet })).get('OperatorQuiescent')!;
    assert.match(warned.message, /rpk cluster config set/);
    const kept = setOf(changed, { statefulSet }).metadata.annotations;
    assert.equal(kept?.[BOOTSTRAP_ANNOTATION], statefulSet.metadata.annotations?.[BOOTSTRAP_ANNOTATION]);
    const young = live({}, { [ROLL_ANNOTATION]: '{"hasRun":false}' });
    const { message } = conditionsOf(observed(changed, { statefulSet: young })).get('OperatorQuiescent')!;
    assert.doesNotMatch(message, /rpk/);
  });

  test('touches nothing of somebody else, and nothing that is not ours', () => {
    const taken = planRedpanda(observed({}), SETTINGS, { ...NOTHING_LEARNED, taken: new Set(['StatefulSet n/panda']) }); // prettier-ignore
    assert.deepEqual(taken.targets, []);
    assert.match(JSON.stringify(taken.statuses), /NameTaken/);
    assert.deepEqual(plan({ ...observed({}), cluster: undefined }).statuses, []);
  });

  test('names only conditions that Redpanda’s own CRD knows', () => {
    assert.deepEqual([...conditionsOf(observed({})).keys()], ['ClusterConfigured', 'OperatorQuiescent']);
    for (const condition of conditionsOf(observed({})).values())
      assert.ok(!('observedGeneration' in condition));
  });
});
