/** The cases of test/crds, judged by a real API server with all that `install` prints about kinds. test/unit/cases.test.ts has the schemas judge the same. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { convert } from '../../../src/cli/convert/convert.ts';
import { infrastructurePolicy } from '../../../src/control/install/infrastructure-policy.ts';
import { crdName } from '../../../src/resources/crd.ts';
import { KINDS, findKind } from '../../../src/resources/registry.ts';
import { readCases } from '../../crds/cases.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { connect } from './api.ts';
import type { Api } from './api.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import { apply } from '../control/harness.ts';

let plane: ControlPlane;
let api: Api;

before(async () => {
  plane = await startControlPlaneWithCrds();
  api = connect(plane);
  assert.equal((await api.send('POST', INGRESSES, JSON.stringify(BAD))).status, 201);
  await apply(plane, ...infrastructurePolicy());
  // The server learns of the policy a moment later.
  await waitFor('the policy', async () => {
    const another = { ...BAD, metadata: { name: 'another' } };
    const { status } = await api.send('POST', `${INGRESSES}?dryRun=All`, JSON.stringify(another));
    return status === 422;
  });
});
after(async () => {
  api[Symbol.dispose]();
  await plane.stop();
});

const INGRESSES = '/apis/kroxylicious.io/v1alpha1/namespaces/default/kafkaproxyingresses';
/** Came before there was a policy. */
const BAD = {
  apiVersion: 'kroxylicious.io/v1alpha1',
  kind: 'KafkaProxyIngress',
  metadata: { name: 'bad' },
  spec: {
    proxyRef: { name: 'p' },
    clusterIP: { protocol: 'TCP' },
    infrastructure: { annotations: { 'kroxylicious.io/x': 'y' } },
  },
};

function collection(yaml: string): string {
  const { apiVersion, kind } = parse(yaml) as { apiVersion: string; kind: string };
  const { plural, scope } = findKind(apiVersion, kind)!;
  return `/apis/${apiVersion}/${scope === 'Cluster' ? '' : 'namespaces/default/'}${plural}`;
}

test('what `isthmus convert` makes of manifests of Kroxylicious’ operator', async () => {
  const file = resolve(import.meta.dirname, '../../fixtures/kroxylicious/manifests.yaml');
  const given = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as unknown);
  const ours = convert(given).documents.filter(({ kind }) => kind !== 'ConfigMap');
  assert.equal(ours.length, 12);
  for (const document of ours) {
    const text = JSON.stringify(document);
    const { status, message } = await api.send(
      'POST',
      `${collection(text)}?dryRun=All&fieldValidation=Strict`,
      text,
    );
    assert.equal(status, 201, `${text}: ${message}`);
  }
});

suite('cases', () => {
  for (const { name, yaml, expected } of readCases()) {
    test(name, async () => {
      const { status, message } = await api.send(
        'POST',
        `${collection(yaml)}?dryRun=All&fieldValidation=Strict`,
        yaml,
      );
      if (expected === undefined) assert.equal(status, 201, message);
      else {
        assert.ok(status === 422 || status === 400, `accepted, or failed with ${status}: ${message}`);
        assert.ok(message.includes(expected.server), message);
      }
    });
  }
});

suite('CRDs', () => {
  test('have no schema that an API server finds fault with', async () => {
    for (const kind of KINDS) {
      const { body } = await api.send(
        'GET',
        `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName(kind)}`,
      );
      const { conditions } = body['status'] as { conditions: { type: string; message: string }[] };
      assert.deepEqual(
        conditions.filter(({ type }) => type === 'NonStructuralSchema'),
        [],
      );
    }
  });

  test('can be applied a second time without a change', async () => {
    const name = 'kafkaproxies.kroxylicious.io';
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
    const generation = async () =>
      ((await api.send('GET', path)).body['metadata'] as { generation: number }).generation;
    const first = await generation();
    const { code, stderr } = await plane.kubectl([
      'apply',
      '--server-side',
      '-f',
      `deploy/crds/${name}.yaml`,
    ]);
    assert.equal(code, 0, stderr);
    assert.equal(await generation(), first);
  });
});

suite('infrastructure that cannot be used', () => {
  const patch = (change: object) =>
    api.send('PATCH', `${INGRESSES}/bad`, JSON.stringify(change), 'application/merge-patch+json');

  test('is refused in a change, and keeps nobody from labels, the cure and deletion', async () => {
    const finalizers = { metadata: { labels: { a: 'b' }, finalizers: ['example.com/x'] } };
    assert.equal((await patch(finalizers)).status, 200);
    const refused = await patch({ spec: { clusterIP: { port: 9999 } } });
    assert.equal(refused.status, 422);
    assert.match(refused.message, /leave out keys that begin with kroxylicious\.io/);
    assert.equal((await api.send('DELETE', `${INGRESSES}/bad`)).status, 200);
    assert.equal((await patch({ metadata: { finalizers: null } })).status, 200);
    assert.equal((await api.send('GET', `${INGRESSES}/bad`)).status, 404);
    assert.equal(
      (
        await api.send(
          'POST',
          INGRESSES,
          JSON.stringify({ ...BAD, spec: { ...BAD.spec, infrastructure: {} } }),
        )
      ).status,
      201,
    );
  });
});

suite('KafkaProxy', () => {
  test('gets its defaults, and can be scaled as an autoscaler would', async () => {
    const path = '/apis/kroxylicious.io/v1alpha1/namespaces/default/kafkaproxies';
    const yaml = 'apiVersion: kroxylicious.io/v1alpha1\nkind: KafkaProxy\nmetadata: {name: scaled}\n';
    assert.equal((await api.send('POST', path, yaml)).status, 201);

    const status = JSON.stringify({ status: { replicas: 1, labelSelector: 'a=b' } });
    const patched = await api.send('PATCH', `${path}/scaled/status`, status, 'application/merge-patch+json');
    assert.equal(patched.status, 200, patched.message);

    const scale = await api.send('GET', `${path}/scaled/scale`);
    assert.deepEqual(scale.body['spec'], { replicas: 1 });
    assert.deepEqual(scale.body['status'], { replicas: 1, selector: 'a=b' });

    const { code, stderr } = await plane.kubectl(['scale', 'kafkaproxy', 'scaled', '--replicas=3']);
    assert.equal(code, 0, stderr);
    const { body } = await api.send('GET', `${path}/scaled`);
    assert.deepEqual(body['spec'], { infrastructure: { proxy: { replicas: 3 } }, logLevel: 'info' });
  });

  test('is found by its short name and category, and explained', async () => {
    for (const name of ['kp', 'kroxylicious', 'isthmus']) {
      const { stdout, stderr } = await plane.kubectl(['get', name]);
      assert.match(stdout, /scaled/, stderr);
    }
    // The server writes its own documentation when it finds the time.
    await waitFor('the explanation', async () => {
      const { stdout } = await plane.kubectl(['explain', 'kafkaproxy.spec.infrastructure.proxy.replicas']);
      return /How many pods\./.test(stdout);
    });
  });
});

suite('KafkaAnchor', () => {
  test('never goes back to an older epoch, and keeps its cluster id', async () => {
    const path = '/apis/isthmus.dev/v1alpha1/namespaces/default/kafkaanchors';
    const { yaml } = readCases().find(({ name }) => name === 'valid-kafka-anchor-full.yaml')!;
    assert.equal((await api.send('POST', path, yaml)).status, 201);
    const change = (spec: object) =>
      api.send('PATCH', `${path}/anchor-full`, JSON.stringify({ spec }), 'application/merge-patch+json');
    const older = await change({ epoch: 2 });
    assert.equal(older.status, 422);
    assert.match(older.message, /keep the epoch or raise it/);
    const other = await change({ clusterId: 'MkU3OEVBNTcwNTJENDM2Qg' });
    assert.equal(other.status, 422);
    assert.match(other.message, /keep the cluster id/);
    for (const epoch of [3, 4]) assert.equal((await change({ epoch })).status, 200);
  });
});

suite('Strimzi kinds', () => {
  test('are served in both versions, with fields that nobody here interprets', async () => {
    const base = '/apis/kafka.strimzi.io';
    const yaml =
      'apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nmetadata: {name: both}\n' +
      'spec: {kafka: {replicas: 3, nobodyKnows: {this: [1, 2]}}, zookeeper: {replicas: 3}}\n';
    const created = await api.send(
      'POST',
      `${base}/v1beta2/namespaces/default/kafkas?fieldValidation=Strict`,
      yaml,
    );
    assert.equal(created.status, 201, created.message);
    const { body } = await api.send('GET', `${base}/v1/namespaces/default/kafkas/both`);
    assert.equal(body['apiVersion'], 'kafka.strimzi.io/v1');
    assert.deepEqual(body['spec'], {
      kafka: { replicas: 3, nobodyKnows: { this: [1, 2] } },
      zookeeper: { replicas: 3 },
    });
  });
});
