/** What pods see of ConfigMaps, Secrets and themselves: which files there are to be (pure), and their replacement as the kubelet does it. */
import { chmod, chown, mkdir, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { keyOf } from './types.ts';
import type { Contents, EnvVar, FieldRef, KeyToPath, Meta, Pod, Volume, VolumeSource } from './types.ts';

/** The files of a volume by path, or why it cannot be made yet. */
export type Files = { files: ReadonlyMap<string, Buffer> } | { missing: string };

const quoted = (entries: Record<string, string> | undefined) =>
  Object.entries(entries ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join('\n');

/** What a pod can be told of itself. */
export interface Place {
  podIP: string;
  hostIP: string;
}

/** A field of the pod as the downward API writes it. */
export function fieldOf({ metadata, spec }: Pod, { podIP, hostIP }: Place, { fieldRef }: FieldRef): string {
  const path = fieldRef?.fieldPath ?? '';
  const [, map, key = ''] = /^metadata\.(annotations|labels)\['(.+)'\]$/.exec(path) ?? [];
  if (map !== undefined) return metadata[map as 'annotations' | 'labels']?.[key] ?? '';
  const fields: Record<string, string> = {
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace,
    'metadata.uid': metadata.uid,
    'metadata.annotations': quoted(metadata.annotations),
    'metadata.labels': quoted(metadata.labels),
    'spec.nodeName': spec.nodeName ?? '',
    'status.podIP': podIP,
    'status.hostIP': hostIP,
  };
  const value = fields[path];
  if (value === undefined) throw new Error(`the pod runner knows no field ${path || '(none)'}`);
  return value;
}

const bytesOf = (entries: Record<string, string> | undefined, encoding: BufferEncoding) =>
  Object.entries(entries ?? {}).map(([name, text]) => [name, Buffer.from(text, encoding)] as const);

const find = <T extends { metadata: Meta }>(objects: readonly T[], namespace: string, name: string) =>
  objects.find(({ metadata }) => keyOf(metadata) === keyOf({ namespace, name }));

function selected(
  all: ReadonlyMap<string, Buffer>,
  items: readonly KeyToPath[] | undefined,
  of: string,
): Files {
  if (!items) return { files: all };
  const lacking = items.find(({ key }) => !all.has(key));
  if (lacking) return { missing: `${of} has no key ${lacking.key}` };
  return { files: new Map(items.map(({ key, path }) => [path, all.get(key)!])) };
}

function sourceFiles(source: VolumeSource, pod: Pod, place: Place, contents: Contents): Files {
  const { namespace } = pod.metadata;
  const { configMap, secret, downwardAPI } = source;
  if (configMap) {
    const found = find(contents.configMaps, namespace, configMap.name);
    if (!found)
      return configMap.optional
        ? { files: new Map() }
        : { missing: `configmap "${configMap.name}" not found` };
    const all = new Map([...bytesOf(found.data, 'utf8'), ...bytesOf(found.binaryData, 'base64')]);
    return selected(all, configMap.items, `configmap "${configMap.name}"`);
  }
  if (secret) {
    const name = secret.secretName ?? secret.name ?? '';
    const found = find(contents.secrets, namespace, name);
    if (!found) return secret.optional ? { files: new Map() } : { missing: `secret "${name}" not found` };
    return selected(new Map(bytesOf(found.data, 'base64')), secret.items, `secret "${name}"`);
  }
  if (downwardAPI) {
    const files = (downwardAPI.items ?? []).map(
      ({ path, ...ref }) => [path, Buffer.from(fieldOf(pod, place, ref))] as const,
    );
    return { files: new Map(files) };
  }
  throw new Error(`the pod runner knows no source of a volume with ${Object.keys(source).join(', ')}`);
}

/** The files of a volume that is made of objects; undefined for one that is a folder of its own. */
export function filesOf(volume: Volume, pod: Pod, place: Place, contents: Contents): Files | undefined {
  const { projected } = volume;
  if (!projected && !volume.configMap && !volume.secret && !volume.downwardAPI) return undefined;
  const files = new Map<string, Buffer>();
  for (const source of projected?.sources ?? [volume]) {
    const found = sourceFiles(source, pod, place, contents);
    if ('missing' in found) return found;
    for (const [path, bytes] of found.files) files.set(path, bytes);
  }
  return { files };
}

/**
 * The one thing that pods see otherwise than in a cluster: they share the machine's network, so that what would listen at all
 * addresses of its pod listens at the pod's address alone.
 */
export function ownAddressOnly(files: ReadonlyMap<string, Buffer>, podIP: string): Map<string, Buffer> {
  const localised = (path: string, bytes: Buffer) =>
    path === 'server.config'
      ? Buffer.from(bytes.toString().replaceAll('://0.0.0.0:', `://${podIP}:`))
      : bytes;
  return new Map([...files].map(([path, bytes]) => [path, localised(path, bytes)]));
}

/** The variables of a container, or why they cannot be had yet. */
export function environmentOf(
  variables: readonly EnvVar[],
  pod: Pod,
  place: Place,
  { configMaps, secrets }: Contents,
): { env: Record<string, string> } | { missing: string } {
  const env: Record<string, string> = {};
  const { namespace } = pod.metadata;
  for (const { name, value = '', valueFrom } of variables) {
    const [ref, data, encoding] = valueFrom?.secretKeyRef
      ? ([
          valueFrom.secretKeyRef,
          find(secrets, namespace, valueFrom.secretKeyRef.name)?.data,
          'base64',
        ] as const)
      : ([
          valueFrom?.configMapKeyRef,
          find(configMaps, namespace, valueFrom?.configMapKeyRef?.name ?? '')?.data,
          'utf8',
        ] as const);
    const found = ref && data?.[ref.key];
    if (ref && found === undefined && !ref.optional)
      return { missing: `"${ref.name}" has no key ${ref.key}` };
    if (ref && found === undefined) continue;
    if (ref) env[name] = Buffer.from(found ?? '', encoding).toString();
    else env[name] = valueFrom ? fieldOf(pod, place, valueFrom) : value;
  }
  return { env };
}

/**
 * Replaces the files of a volume all at once: they are in a new folder, to which `..data` points from one moment to the next. Each
 * file that a container sees is a link into `..data`.
 */
export async function replaceFiles(
  folder: string,
  files: ReadonlyMap<string, Buffer>,
  group?: number,
): Promise<void> {
  const former = await readlink(join(folder, '..data')).catch(() => undefined);
  const fresh = `..${process.hrtime.bigint()}`;
  for (const [path, bytes] of files) {
    const target = join(folder, fresh, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, bytes, { mode: 0o644 });
    if (group !== undefined) await chown(target, -1, group).catch(() => {});
  }
  await mkdir(join(folder, fresh), { recursive: true });
  await symlink(fresh, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
  const wanted = new Set([...files.keys()].map((path) => path.split('/')[0] ?? path));
  for (const name of await readdir(folder)) {
    if (!name.startsWith('..') && !wanted.delete(name)) await rm(join(folder, name));
  }
  for (const name of wanted) await symlink(join('..data', name), join(folder, name));
  if (former !== undefined) await rm(join(folder, former), { recursive: true, force: true });
}

/** Gives a folder to a pod's group, as the kubelet does for `fsGroup`; without one everybody may write. */
export async function openToGroup(folder: string, group: number | undefined): Promise<void> {
  if (group === undefined) return chmod(folder, 0o777);
  if (process.getuid?.() === 0) await chown(folder, -1, group);
  await chmod(folder, 0o2775);
}
