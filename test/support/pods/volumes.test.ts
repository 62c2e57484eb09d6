import assert from 'node:assert/strict';
import { lstat, readFile, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { workspace } from '../workspace.ts';
import type { Contents, Pod, Volume } from './types.ts';
import { environmentOf, filesOf, ownAddressOnly, replaceFiles } from './volumes.ts';

const POD: Pod = {
  metadata: { name: 'k-0', namespace: 'ns', uid: 'u', annotations: { b: 'x "y"\nz', a: '1' } },
  spec: { nodeName: 'n', containers: [] },
};
const PLACE = { podIP: '127.1.0.1', hostIP: '127.1.0.9' };
const meta = (name: string) => ({ name, namespace: 'ns', uid: name });
const CONTENTS: Contents = {
  configMaps: [{ metadata: meta('c'), data: { one: '1', two: '2' } }],
  secrets: [{ metadata: meta('s'), data: { key: Buffer.from('secret').toString('base64') } }],
};

function textsOf(volume: Omit<Volume, 'name'>): Record<string, string> | string | undefined {
  const found = filesOf({ name: 'v', ...volume }, POD, PLACE, CONTENTS);
  if (!found) return undefined;
  if ('missing' in found) return found.missing;
  return Object.fromEntries([...found.files].map(([path, bytes]) => [path, bytes.toString()]));
}

test('volumes have the files of what they are made of', () => {
  assert.deepEqual(textsOf({ configMap: { name: 'c' } }), { one: '1', two: '2' });
  assert.deepEqual(textsOf({ configMap: { name: 'c', items: [{ key: 'two', path: 'a/b' }] } }), {
    'a/b': '2',
  });
  assert.deepEqual(textsOf({ secret: { secretName: 's' } }), { key: 'secret' });
  const annotations = { path: 'annotations', fieldRef: { fieldPath: 'metadata.annotations' } };
  assert.deepEqual(textsOf({ downwardAPI: { items: [annotations] } }), {
    annotations: 'a="1"\nb="x \\"y\\"\\nz"',
  });
  const sources = [{ configMap: { name: 'c' } }, { secret: { name: 's' } }];
  assert.deepEqual(textsOf({ projected: { sources } }), { one: '1', two: '2', key: 'secret' });
  assert.equal(textsOf({ emptyDir: {} }), undefined);
});

test('what is not there is missing, unless it may be', () => {
  assert.equal(textsOf({ configMap: { name: 'x' } }), 'configmap "x" not found');
  assert.equal(textsOf({ secret: { secretName: 'x' } }), 'secret "x" not found');
  assert.equal(
    textsOf({ configMap: { name: 'c', items: [{ key: 'x', path: 'x' }] } }),
    'configmap "c" has no key x',
  );
  assert.deepEqual(textsOf({ configMap: { name: 'x', optional: true } }), {});
});

test('variables come from values, fields, ConfigMaps and Secrets', () => {
  const variables = [
    { name: 'A', value: 'a' },
    { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    { name: 'B', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['a']" } } },
    { name: 'C', valueFrom: { configMapKeyRef: { name: 'c', key: 'one' } } },
    { name: 'S', valueFrom: { secretKeyRef: { name: 's', key: 'key' } } },
    { name: 'O', valueFrom: { secretKeyRef: { name: 's', key: 'none', optional: true } } },
  ];
  const env = { A: 'a', IP: '127.1.0.1', B: '1', C: '1', S: 'secret' };
  assert.deepEqual(environmentOf(variables, POD, PLACE, CONTENTS), { env });
  const lacking = [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'c', key: 'x' } } }];
  assert.deepEqual(environmentOf(lacking, POD, PLACE, CONTENTS), { missing: '"c" has no key x' });
});

test('only server.config is told where to listen', () => {
  const text = Buffer.from('listeners=A://0.0.0.0:9092,B://0.0.0.0:9093');
  const files = ownAddressOnly(
    new Map([
      ['server.config', text],
      ['other', text],
    ]),
    '127.1.0.1',
  );
  assert.equal(files.get('server.config')?.toString(), 'listeners=A://127.1.0.1:9092,B://127.1.0.1:9093');
  assert.equal(files.get('other'), text);
});

test('files are replaced all at once, behind links that stay', async () => {
  const folder = workspace('volume');
  const bytes = (entries: Record<string, string>) =>
    new Map(Object.entries(entries).map(([path, text]) => [path, Buffer.from(text)]));
  await replaceFiles(folder, bytes({ a: '1', gone: '1', 'in/b': '1' }));
  const data = await readlink(join(folder, '..data'));
  assert.ok((await lstat(join(folder, 'a'))).isSymbolicLink());
  await replaceFiles(folder, bytes({ a: '2', 'in/b': '2', fresh: '2' }));
  assert.notEqual(await readlink(join(folder, '..data')), data);
  const visible = (await readdir(folder)).filter((name) => !name.startsWith('..'));
  assert.deepEqual(visible.toSorted(), ['a', 'fresh', 'in']);
  for (const path of ['a', 'in/b', 'fresh']) assert.equal(await readFile(join(folder, path), 'utf8'), '2');
  assert.equal((await readdir(folder)).length, 5, 'the former files are gone');
});
