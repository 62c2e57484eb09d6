/** The one writer against a real kube-apiserver: what it writes, what it leaves alone, and that it stays quiet when it can. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createWriter } from '../../../src/kube/write/apply.ts';
import type { Summary, Target, Writer } from '../../../src/kube/write/apply.ts';
import { createCache, trimManagedFields } from '../../../src/kube/cache/cache.ts';
import type { Cache } from '../../../src/kube/cache/cache.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import { ApiError } from '../../../src/kube/http/errors.ts';
import { typeOf } from '../../../src/kube/object.ts';
import type { AnyObject, KubeObject, ResourceType } from '../../../src/kube/object.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { CONFIG_MAP, clientOf, configMap, log } from './harness.ts';
import type { ConfigMap } from './harness.ts';

const SIGNATURE = { fieldManager: 'writer', hashAnnotation: 'example.com/applied' };
const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment' };
const SERVICE = { group: '', version: 'v1', kind: 'Service' };
const SECRET = { group: '', version: 'v1', kind: 'Secret' };
const ROUTE = { group: 'route.openshift.io', version: 'v1', kind: 'Route' };
const KINDS = [CONFIG_MAP, DEPLOYMENT, SERVICE, SECRET, ROUTE]; // the last one is not served here

let plane: ControlPlane;
let admin: Client;
before(async () => {
  plane = await startControlPlane();
  admin = clientOf(plane.kubeconfigText);
});
after(async () => {
  await admin?.close();
  await plane?.stop();
});

const ownerOf = (name: string) => ({ labels: { 'example.com/owner': name }, kinds: KINDS });

/** A plan with everything that servers like to write their own way: quantities, defaults, keyed lists, atomic ones. */
function planOf(name: string, namespace: string): AnyObject[] {
  const labels = { app: name };
  const container = {
    name: 'main',
    image: 'registry/image:1',
    args: ['--one', '--two'],
    ports: [{ containerPort: 53 }, { containerPort: 53, protocol: 'UDP' }],
    env: [{ name: 'A', value: '1' }],
    resources: { requests: { cpu: '1000m', memory: '0.5Gi' } },
    volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
  };
  const pod = {
    containers: [container],
    volumes: [{ name: 'scratch', emptyDir: {} }],
    tolerations: [{ key: 'dedicated', operator: 'Exists' }],
    securityContext: { runAsNonRoot: true },
  };
  const metadata = { name, namespace };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { key: 'value', other: 'value' } },
    { apiVersion: 'v1', kind: 'Secret', metadata, data: { key: Buffer.from('secret').toString('base64') } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: {
        selector: labels,
        ports: [
          { name: 'dns', port: 53 },
          { name: 'dns-udp', port: 53, protocol: 'UDP' },
        ],
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...metadata, labels },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
    },
  ];
}

/** A namespace of its own for each test. */
async function newNamespace(name: string): Promise<string> {
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}

const writesOf = ({ counts }: Client) => counts.create + counts.update + counts.patch + counts.delete;
/** Without watches, which caches begin again when they must. */
const requestsOf = ({ counts }: Client) =>
  Object.entries(counts).reduce((sum, [verb, count]) => (verb === 'watch' ? sum : sum + count), 0);

async function versionsOf(objects: readonly KubeObject[]): Promise<(string | undefined)[]> {
  return Promise.all(
    objects.map(
      async (object) => (await admin.get(typeOf(object), object.metadata))?.metadata.resourceVersion,
    ),
  );
}

const counted = ({ created, updated, unchanged, deleted, errors }: Summary) => ({
  created: created.length,
  updated: updated.length,
  unchanged: unchanged.length,
  deleted: deleted.length,
  errors: errors.map(({ object, error }) => `${object}: ${(error as Error).message}`),
});
const nothingBut = (some: Partial<ReturnType<typeof counted>>) => ({
  created: 0,
  updated: 0,
  unchanged: 0,
  deleted: 0,
  errors: [],
  ...some,
});

const newWriter = (target: Partial<Target> = {}): Writer =>
  createWriter(() => ({ client: admin, ...target }), SIGNATURE);

suite('the writer', { timeout: 600_000 }, () => {
  test('applied again, the same plan writes nothing: with memory, without it, and from caches without a request', async () => {
    const namespace = await newNamespace('quiet');
    const request = { owner: ownerOf('quiet'), objects: planOf('quiet', namespace) };
    const writer = newWriter();
    assert.deepEqual(counted(await writer.apply(request)), nothingBut({ created: 4 }));
    const versions = await versionsOf(request.objects);
    const writes = writesOf(admin);

    assert.deepEqual(counted(await writer.apply(request)), nothingBut({ unchanged: 4 }));
    assert.deepEqual(
      counted(await newWriter().apply(request)),
      nothingBut({ unchanged: 4 }),
      'as after a restart',
    );
    const caches = new Map<string, Cache<KubeObject>>();
    for (const type of KINDS.slice(0, 4)) {
      const trim = trimManagedFields<KubeObject>(SIGNATURE.fieldManager);
      caches.set(type.kind, createCache<KubeObject>({ type, trim }, { client: () => admin, log }));
    }
    await Promise.all([...caches.values()].map((cache) => cache.synced));
    const requests = requestsOf(admin);
    const cached = newWriter({ cacheOf: (type: ResourceType) => caches.get(type.kind) });
    const owner = { ...request.owner, kinds: KINDS.slice(0, 4) };
    assert.deepEqual(counted(await cached.apply({ ...request, owner })), nothingBut({ unchanged: 4 }));

    assert.equal(requestsOf(admin), requests, 'not one question was asked');
    await Promise.all([...caches.values()].map((cache) => cache.stop()));
    assert.equal(writesOf(admin), writes, 'not one write was sent');
    assert.deepEqual(await versionsOf(request.objects), versions);
  });

  test('fields of others survive, and wake nobody', async () => {
    const namespace = await newNamespace('foreign');
    const request = { owner: ownerOf('foreign'), objects: planOf('foreign', namespace) };
    await newWriter().apply(request);
    const n = ['-n', namespace];
    for (const args of [
      ['scale', 'deployment/foreign', '--replicas=3'],
      ['annotate', 'deployment/foreign', 'team=blue'],
      ['label', 'configmap/foreign', 'mine=yes'],
      ['patch', 'configmap/foreign', '-p', '{"data":{"added":"by someone"}}'],
      ['set', 'env', 'deployment/foreign', 'B=2'],
    ]) {
      const done = await plane.kubectl([...args, ...n]);
      assert.equal(done.code, 0, done.stderr);
    }
    const writes = writesOf(admin);
    assert.deepEqual(counted(await newWriter().apply(request)), nothingBut({ unchanged: 4 }));
    assert.equal(writesOf(admin), writes);

    // A changed plan writes its own fields, and only those.
    const changed = structuredClone(request.objects);
    (changed[0] as AnyObject)['data'] = { key: 'new' };
    (
      changed[3]!['spec'] as { template: { spec: { containers: { image: string }[] } } }
    ).template.spec.containers[0]!.image = 'registry/image:2';
    assert.deepEqual(
      counted(await newWriter().apply({ ...request, objects: changed })),
      nothingBut({ updated: 2, unchanged: 2 }),
    );
    const config = await admin.get<ConfigMap>(CONFIG_MAP, { namespace, name: 'foreign' });
    assert.deepEqual(
      config?.data,
      { key: 'new', added: 'by someone' },
      '`other` was ours, and gone from the plan',
    );
    assert.equal(config?.metadata.labels?.['mine'], 'yes');
    const deployment = (await admin.get(DEPLOYMENT, { namespace, name: 'foreign' })) as unknown as {
      metadata: { annotations: Record<string, string> };
      spec: { replicas: number; template: { spec: { containers: { image: string; env: object[] }[] } } };
    };
    assert.equal(deployment.spec.replicas, 3);
    assert.equal(deployment.metadata.annotations['team'], 'blue');
    const [container] = deployment.spec.template.spec.containers;
    assert.equal(container?.image, 'registry/image:2');
    assert.deepEqual(container?.env, [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ]);
  });

  test('drift on fields of ours is repaired', async () => {
    const namespace = await newNamespace('drift');
    const request = { owner: ownerOf('drift'), objects: planOf('drift', namespace) };
    await newWriter().apply(request);
    const stateOf = async () => {
      const objects = await Promise.all(
        request.objects.map((object) => admin.get(typeOf(object), object.metadata)),
      );
      return objects.map((object) => {
        assert.ok(object);
        const { labels, annotations } = object.metadata;
        return {
          labels,
          hash: annotations?.[SIGNATURE.hashAnnotation],
          spec: object['spec'],
          data: object['data'],
        };
      });
    };
    const before = await stateOf();
    const json = (path: string, op: string, value?: unknown) => JSON.stringify([{ op, path, value }]);
    const container = '/spec/template/spec/containers/0';
    for (const [target, patch] of [
      ['configmap/drift', json('/data/key', 'replace', 'wrong')],
      ['configmap/drift', json('/data/other', 'remove')],
      ['configmap/drift', json('/metadata/labels/example.com~1owner', 'remove')],
      ['secret/drift', json('/data', 'remove')],
      ['service/drift', json('/spec/selector/app', 'replace', 'elsewhere')],
      ['service/drift', json('/spec/ports/1', 'remove')],
      ['service/drift', json('/spec/ports/0/port', 'replace', 54)],
      ['deployment/drift', json(`${container}/image`, 'replace', 'evil')],
      ['deployment/drift', json(`${container}/args`, 'replace', ['--three'])],
      ['deployment/drift', json(`${container}/resources/requests/cpu`, 'replace', '7')],
      ['deployment/drift', json(`${container}/env/0/value`, 'replace', '9')],
      [
        'deployment/drift',
        json('/spec/template/spec/volumes/0', 'replace', { name: 'scratch', hostPath: { path: '/' } }),
      ],
      ['deployment/drift', json('/spec/template/spec/tolerations', 'remove')],
    ] as const) {
      const done = await plane.kubectl(['patch', target, '--type=json', '-p', patch, '-n', namespace]);
      assert.equal(done.code, 0, done.stderr);
      const summary = await newWriter().apply(request);
      assert.deepEqual(counted(summary), nothingBut({ updated: 1, unchanged: 3 }), `${target} ${patch}`);
      assert.deepEqual(await stateOf(), before, `${target} ${patch}`);
    }

    // After all that we are the only owner: what a later plan drops, goes.
    const later = structuredClone(request.objects);
    const [main] = (later[3]!['spec'] as { template: { spec: { containers: { args?: string[] }[] } } })
      .template.spec.containers;
    delete main!.args;
    assert.deepEqual(counted(await newWriter().apply({ ...request, objects: later })).updated, 1);
    assert.ok(!JSON.stringify(await stateOf()).includes('--one'));
  });

  test('prune removes what the plan dropped and nothing else', async () => {
    const namespace = await newNamespace('prune');
    const writer = newWriter();
    const mine = ownerOf('mine');
    const labelled = (name: string, owner: string) =>
      configMap(name, {}, { namespace, labels: { 'example.com/owner': owner } });
    const wanted = [configMap('kept', {}, { namespace }), configMap('dropped', {}, { namespace })];
    await writer.apply({ owner: mine, objects: wanted });
    await writer.apply({ owner: ownerOf('other'), objects: [configMap('of-other', {}, { namespace })] });
    await admin.create(labelled('labelled-by-hand', 'mine'));
    await admin.create(configMap('stranger', {}, { namespace }));
    const account = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { ...labelled('of-another-kind', 'mine').metadata },
    };
    await admin.create(account);

    const summary = await writer.apply({ owner: mine, objects: wanted.slice(0, 1) });
    assert.deepEqual(summary.deleted.toSorted(), [
      'ConfigMap prune/dropped',
      'ConfigMap prune/labelled-by-hand',
    ]);
    assert.deepEqual(summary.errors, []);
    const left = (await admin.list<ConfigMap>(CONFIG_MAP, { namespace })).items.map(
      ({ metadata }) => metadata.name,
    );
    assert.deepEqual(left.toSorted(), ['kept', 'of-other', 'stranger']);
    assert.ok(await admin.get(typeOf(account), account.metadata));

    assert.deepEqual(counted(await writer.apply({ owner: mine, objects: [] })), nothingBut({ deleted: 1 }));
  });

  test('an old cache makes nobody delete what is no longer what it was', async () => {
    const namespace = await newNamespace('stale');
    const owner = { ...ownerOf('stale'), kinds: [CONFIG_MAP] };
    const objects = ['reborn', 'taken', 'changed'].map((name) => configMap(name, {}, { namespace }));
    await newWriter().apply({ owner, objects });
    const old = (await admin.list<ConfigMap>(CONFIG_MAP, { namespace })).items;
    // A cache that shows what was there before the following happened.
    const cache = {
      isSynced: true,
      get: () => undefined,
      addIndex() {},
      find: () => old,
    } as unknown as Cache<KubeObject>;
    await admin.delete(CONFIG_MAP, { namespace, name: 'reborn' });
    await admin.create(configMap('reborn', {}, { namespace }));
    await admin.mergePatch(
      CONFIG_MAP,
      { namespace, name: 'taken' },
      { metadata: { labels: { 'example.com/owner': 'other' } } },
    );
    await admin.mergePatch(CONFIG_MAP, { namespace, name: 'changed' }, { data: { a: 'b' } });

    const summary = await newWriter({ cacheOf: () => cache }).apply({ owner, objects: [] });
    assert.deepEqual(counted(summary), nothingBut({ deleted: 1 }), 'changed, but still ours');
    const left = (await admin.list<ConfigMap>(CONFIG_MAP, { namespace })).items.map(
      ({ metadata }) => metadata.name,
    );
    assert.deepEqual(left.toSorted(), ['reborn', 'taken']);
  });

  test('an object that fails is named, stops no other, and keeps leftovers alive; one of someone else is not touched', async () => {
    const namespace = await newNamespace('failing');
    const owner = ownerOf('failing');
    const writer = newWriter();
    await writer.apply({ owner, objects: [configMap('leftover', {}, { namespace })] });
    await admin.create(configMap('strangers', { whose: 'not yours' }, { namespace }));
    const invalid = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'Not A Name', namespace },
      spec: {},
    };
    const unknown = configMap('unknown-field', {}, { namespace });
    (unknown as AnyObject & { dota?: object }).dota = { a: 'b' };
    const objects = [
      configMap('first', {}, { namespace }),
      invalid,
      configMap('strangers', { whose: 'ours now' }, { namespace }),
      unknown,
      configMap('last', {}, { namespace }),
      configMap('last', { twice: 'yes' }, { namespace }),
    ];
    const summary = await writer.apply({ owner, objects });
    assert.deepEqual(summary.created, ['ConfigMap failing/first', 'ConfigMap failing/last']);
    assert.deepEqual(summary.deleted, [], 'what replaces the leftover may be what failed');
    const failures = Object.fromEntries(summary.errors.map(({ object, error }) => [object, error]));
    assert.deepEqual(Object.keys(failures), [
      'Service failing/Not A Name',
      'ConfigMap failing/strangers',
      'ConfigMap failing/unknown-field',
      'ConfigMap failing/last',
    ]);
    const notOurs = failures['ConfigMap failing/strangers'];
    assert.ok(notOurs instanceof ApiError && notOurs.reason === 'NotOurs');
    const strangers = await admin.get<ConfigMap>(CONFIG_MAP, { namespace, name: 'strangers' });
    assert.deepEqual(strangers?.data, { whose: 'not yours' });
    assert.ok(await admin.get(CONFIG_MAP, { namespace, name: 'leftover' }));

    const adopted = await writer.apply({ owner, objects: objects.slice(2, 3), adopt: () => true });
    assert.deepEqual(adopted.errors, []);
    assert.deepEqual(adopted.updated, ['ConfigMap failing/strangers']);
    assert.deepEqual(adopted.deleted.toSorted(), [
      'ConfigMap failing/first',
      'ConfigMap failing/last',
      'ConfigMap failing/leftover',
    ]);
    const ours = await admin.get<ConfigMap>(CONFIG_MAP, { namespace, name: 'strangers' });
    assert.deepEqual(ours?.data, { whose: 'ours now' });
  });
});
