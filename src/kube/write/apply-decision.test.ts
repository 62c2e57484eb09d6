import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isOurs, leftovers, needsWrite, referenceOf, signed } from './apply-decision.ts';
import type { AnyObject, KubeObject } from '../object.ts';
import { ownsAll } from './ownership.ts';

const SIGNATURE = { fieldManager: 'writer', hashAnnotation: 'example.com/applied' };
const OWNER = { labels: { 'example.com/owner': 'one' }, kinds: [] };

/** A Deployment as a plan has it, and as a real server answered it. */
const wanted: AnyObject = signed<AnyObject>(
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'x', namespace: 'default' },
    spec: {
      selector: { matchLabels: { a: '1' } },
      template: {
        metadata: { labels: { a: '1' } },
        spec: {
          tolerations: [{ key: 'a', operator: 'Exists' }],
          containers: [
            {
              name: 'c',
              image: 'i',
              args: ['x'],
              resources: { limits: { cpu: '1000m' } },
              ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }],
              env: [{ name: 'A', value: '1' }],
            },
          ],
        },
      },
    },
  },
  OWNER,
  SIGNATURE,
);

const containerFields = () => ({
  '.': {},
  'f:name': {},
  'f:image': {},
  'f:args': {},
  'f:env': { 'k:{"name":"A"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
  'f:ports': {
    'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} },
    'k:{"containerPort":80,"protocol":"UDP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} },
  },
  'f:resources': { 'f:limits': { 'f:cpu': {} } },
});

const managedFields = () => ({
  'f:metadata': {
    'f:labels': { 'f:example.com/owner': {} },
    'f:annotations': { 'f:example.com/applied': {} },
  },
  'f:spec': {
    'f:selector': {},
    'f:template': {
      'f:metadata': { 'f:labels': { 'f:a': {} } },
      'f:spec': { 'f:tolerations': {}, 'f:containers': { 'k:{"name":"c"}': containerFields() } },
    },
  },
});

function liveWith(fields: Record<string, unknown> = managedFields(), version = '7'): AnyObject {
  const live = structuredClone(wanted);
  const spec = live['spec'] as { replicas: number; template: { spec: { containers: object[] } } };
  spec.replicas = 1;
  Object.assign(spec.template.spec.containers[0]!, {
    resources: { limits: { cpu: '1' } },
    imagePullPolicy: 'Always',
  });
  Object.assign(live.metadata, {
    uid: 'u',
    resourceVersion: version,
    managedFields: [
      {
        manager: 'kubectl',
        operation: 'Update',
        apiVersion: 'apps/v1',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      },
      { manager: 'writer', operation: 'Update', apiVersion: 'apps/v1', subresource: 'status', fieldsV1: {} },
      { manager: 'writer', operation: 'Apply', apiVersion: 'apps/v1', fieldsV1: fields },
    ],
  });
  return live;
}

/** Every place of the tree of fields, as a way to take it out, the way the server does when someone else changes it. */
function strippings(fields: Record<string, unknown>, path: string[] = []): string[][] {
  return Object.entries(fields).flatMap(([name, inner]) => [
    ...(name === '.' ? [] : [[...path, name]]),
    ...strippings(inner as Record<string, unknown>, [...path, name]),
  ]);
}

/** Takes a place out, and what is empty then, since a path is there only for what it leads to. */
function strip(
  path: readonly string[],
  fields: Record<string, unknown> = managedFields(),
): Record<string, unknown> {
  const [name = '', ...rest] = path;
  const inner = rest.length > 0 ? strip(rest, fields[name] as Record<string, unknown>) : {};
  const left = Object.keys(inner).length > 0 ? { ...fields, [name]: inner } : fields;
  return left === fields ? Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name)) : left;
}

suite('apply decision', () => {
  test('what is applied, and unchanged since, is not written again', () => {
    assert.equal(needsWrite(wanted, liveWith(), undefined, SIGNATURE), false);
  });

  test('any field of ours that someone else took makes it be written', () => {
    const places = strippings(managedFields());
    assert.ok(places.length > 25);
    for (const place of places)
      assert.equal(needsWrite(wanted, liveWith(strip(place)), undefined, SIGNATURE), true, place.join(' '));
  });

  test('a changed plan, another version of the API, or no trace of us makes it be written', () => {
    const changed = signed({ ...wanted, spec: { replicas: 3 } }, OWNER, SIGNATURE);
    assert.equal(needsWrite(changed, liveWith(), undefined, SIGNATURE), true);
    assert.equal(needsWrite({ ...wanted, apiVersion: 'apps/v2' }, liveWith(), undefined, SIGNATURE), true);
    const bare = liveWith();
    bare.metadata.managedFields = [];
    assert.equal(needsWrite(wanted, bare, undefined, SIGNATURE), true);
    assert.equal(needsWrite(wanted, undefined, undefined, SIGNATURE), true);
  });

  test('an atomic list that someone else changed and gave to us is compared by value', () => {
    const live = liveWith();
    const spec = live['spec'] as { template: { spec: { tolerations: unknown[] } } };
    spec.template.spec.tolerations = [];
    assert.equal(needsWrite(wanted, live, undefined, SIGNATURE), true);
  });

  test('what this process wrote last counts for more than an old cache', () => {
    const hash = wanted.metadata.annotations?.[SIGNATURE.hashAnnotation] ?? '';
    const own = { hash, uid: 'u', resourceVersion: '7' };
    const unowned = liveWith(strip(['f:spec']));
    assert.equal(needsWrite(wanted, unowned, own, SIGNATURE), false, 'nothing changed since our write');
    const later = liveWith(strip(['f:spec']), '8');
    assert.equal(needsWrite(wanted, later, own, SIGNATURE), true, 'changed since our write');
    const between = { ...own, hash: 'another plan' };
    assert.equal(
      needsWrite(wanted, liveWith(), between, SIGNATURE),
      true,
      'the cache shows what was before that',
    );
    assert.equal(
      needsWrite(wanted, liveWith(), { ...between, uid: 'dead' }, SIGNATURE),
      false,
      'another incarnation',
    );
  });

  test('signing is stable, and the owner’s labels win', () => {
    assert.deepEqual(signed(wanted, OWNER, SIGNATURE).metadata.labels, wanted.metadata.labels);
    const object = {
      apiVersion: 'v1',
      kind: 'A',
      metadata: { name: 'a', labels: { 'example.com/owner': 'forged', b: '1' } },
    };
    assert.deepEqual(signed(object, OWNER, SIGNATURE).metadata.labels, {
      'example.com/owner': 'one',
      b: '1',
    });
    assert.equal(object.metadata.labels['example.com/owner'], 'forged', 'the plan itself is left alone');
  });

  test('ours is what has our label, or lost it after we applied it', () => {
    assert.equal(isOurs(liveWith(), OWNER, SIGNATURE), true);
    const unlabelled = liveWith();
    delete unlabelled.metadata.labels;
    assert.equal(isOurs(unlabelled, OWNER, SIGNATURE), true);
    assert.equal(isOurs({ ...unlabelled, metadata: { name: 'x' } }, OWNER, SIGNATURE), false);
    const others = liveWith();
    others.metadata.labels = { 'example.com/owner': 'two' };
    assert.equal(isOurs(others, OWNER, SIGNATURE), false, 'of another owner');
  });

  test('leftovers are what is not wanted and not going already', () => {
    const object = (name: string, more: object = {}): KubeObject => ({
      apiVersion: 'apps/v1',
      kind: 'D',
      metadata: { name, ...more },
    });
    const found = [object('kept'), object('old'), object('going', { deletionTimestamp: 'now' })];
    const asBeta = { ...object('kept'), apiVersion: 'apps/v1beta1' };
    assert.deepEqual(leftovers(found, new Set([referenceOf(asBeta)])), [object('old')]);
  });
});

suite('ownership', () => {
  const check = (fieldsV1: Record<string, unknown>, content: object, live = content) =>
    ownsAll({ fieldsV1 }, { ...content } as KubeObject, live as KubeObject);
  const meta = { apiVersion: 'v1', kind: 'K', metadata: { name: 'n', labels: { a: '1' } } };
  const metaFields = { 'f:metadata': { 'f:labels': { 'f:a': {} } } };

  test('sets, empty containers and keys left to the server', () => {
    const finalizers = { ...meta, metadata: { ...meta.metadata, finalizers: ['x/y'] } };
    assert.ok(
      check({ 'f:metadata': { 'f:labels': { 'f:a': {} }, 'f:finalizers': { 'v:"x/y"': {} } } }, finalizers),
    );
    assert.ok(
      !check({ 'f:metadata': { 'f:labels': { 'f:a': {} }, 'f:finalizers': { 'v:"z"': {} } } }, finalizers),
    );
    assert.ok(check({ ...metaFields, 'f:emptyDir': {} }, { ...meta, emptyDir: {} }));
    assert.ok(!check(metaFields, { ...meta, emptyDir: {} }));
    assert.ok(check(metaFields, { ...meta, nothing: undefined, nil: null }));
  });

  test('an item of a map that has lost its content is found out', () => {
    const content = { ...meta, nodes: { a: { x: 1 } } };
    const fields = { ...metaFields, 'f:nodes': { 'f:a': {} } };
    assert.ok(check(fields, content));
    assert.ok(!check(fields, content, { ...meta, nodes: { a: { x: 2 } } }));
  });

  test('two items that could both be one entry need two entries', () => {
    const content = { ...meta, ports: [{ port: 53 }, { port: 53, protocol: 'UDP' }] };
    const entry = (protocol: string) => ({
      [`k:{"port":53,"protocol":"${protocol}"}`]: { '.': {}, 'f:port': {}, 'f:protocol': {} },
    });
    assert.ok(check({ ...metaFields, 'f:ports': { ...entry('UDP'), ...entry('TCP') } }, content));
    assert.ok(!check({ ...metaFields, 'f:ports': entry('UDP') }, content));
  });
});
