/** Every manifest in the design documents applies as it is printed, to a real API server. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { parse } from 'yaml';
import { parseResource } from '../../../src/resources/parse.ts';
import { findKind } from '../../../src/resources/registry.ts';
import { readManifests } from '../../fixtures/documents.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { connect } from './api.ts';
import type { Answer, Api } from './api.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';

interface Printed {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  status?: object;
}

const CORE: Record<string, string> = {
  ServiceAccount: '/api/v1/namespaces/default/serviceaccounts',
  Secret: '/api/v1/namespaces/default/secrets',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
};

let plane: ControlPlane;
let api: Api;

before(async () => {
  plane = await startControlPlaneWithCrds();
  api = connect(plane);
});
after(async () => {
  api[Symbol.dispose]();
  await plane.stop();
});

const all = readManifests();
const manifests = all.filter(({ applied }) => applied);

function collection({ apiVersion, kind }: Printed): string {
  const known = findKind(apiVersion, kind);
  return known ? `/apis/${apiVersion}/namespaces/default/${known.plural}` : CORE[kind]!;
}

suite('documents', () => {
  for (const { name, yaml } of manifests) {
    test(`${name} applies, with the status it prints`, async () => {
      const printed = parse(yaml) as Printed;
      const path = collection(printed);
      const object = `${path}/${printed.metadata.name}`;
      const dryRun = await apply(`${object}?dryRun=All`, yaml);
      assert.equal(dryRun.status, 201, dryRun.message);
      const created = await api.send('POST', `${path}?fieldValidation=Strict`, yaml);
      assert.equal(created.status, 201, created.message);

      if (printed.status) await applyStatus(object, yaml, printed.status);
      if (findKind(printed.apiVersion, printed.kind)) {
        const live = await api.send('GET', object);
        const parsed = parseResource(live.body, { unknownFields: 'ignore' });
        assert.ok(parsed.ok, JSON.stringify(parsed));
      }
      assert.equal((await api.send('DELETE', object)).status, 200);
    });
  }

  test('all of them apply with kubectl, one after the other', async () => {
    // One command for all: it says which file it does not like.
    const { code, stderr } = await plane.kubectl(['apply', ...manifests.flatMap(({ path }) => ['-f', path])]);
    assert.equal(code, 0, stderr);
  });

  test('the kubeconfig that is printed is one', async () => {
    const kubeconfig = all.find(({ applied }) => !applied)!.path;
    const { code, stdout, stderr } = await plane.kubectl(['config', 'view', '--minify'], { kubeconfig });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /server: https:\/\/api\.example\.com:6443/);
  });

  test('the annotation that is printed as key=value survives an API server', async () => {
    const variation = manifests.find(({ yaml }) => yaml.includes('serving-cert-secret-name='))!;
    const applied = await plane.kubectl(['apply', '-f', variation.path]);
    assert.equal(applied.code, 0, applied.stderr);
    const { body } = await api.send('GET', collection(parse(variation.yaml) as Printed) + '/mycluster');
    const parsed = parseResource(body, { unknownFields: 'ignore' });
    assert.ok(parsed.ok && parsed.resource.kind === 'VirtualKafkaCluster', JSON.stringify(parsed));
    assert.deepEqual(parsed.resource.spec.ingresses[0]?.infrastructure.annotations, {
      'service.beta.openshift.io/serving-cert-secret-name': 'myservingcert',
    });
  });
});

/** Server-side apply. */
function apply(path: string, yaml: string): Promise<Answer> {
  const query = `${path.includes('?') ? '&' : '?'}fieldManager=test&force=true&fieldValidation=Strict`;
  return api.send('PATCH', path + query, yaml, 'application/apply-patch+yaml');
}

/** Writes the printed status as an operator would, and finds all of it again. */
async function applyStatus(object: string, yaml: string, status: object): Promise<void> {
  const applied = await apply(`${object}/status`, yaml);
  assert.equal(applied.status, 200, applied.message);
  assert.deepEqual(applied.body['status'], status);
}
