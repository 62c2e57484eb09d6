/** The resources of a folder, sorted by kind, and where each of them stands. */
import { z } from 'zod';
import type { KeyedText, ProxySnapshot } from '../control/proxy/snapshot.ts';
import type { AnyObject } from '../kube/object.ts';
import { pathText, problemsOf } from '../resources/messages.ts';
import { isForeignKind, parseResource } from '../resources/parse.ts';
import type { KnownResource } from '../resources/registry.ts';
import { readFolder } from './folder.ts';
import type { FolderContents, LocatedDocument, Problem } from './folder.ts';

export interface FolderResources {
  snapshot: ProxySnapshot;
  problems: Problem[];
  /** Every resource as it is written, and where. */
  written: WrittenObject[];
  /** Those among them that are as they were read before: what the file says now cannot be read, or is not valid. */
  kept: ReadonlySet<WrittenObject>;
  /** How many documents are resources of ours, and how many are of kinds that are other programs' business. */
  counts: { ours: number; foreign: number };
  /** The document a resource was read from; the first of that name if no namespace is given. */
  documentOf(kind: string, name: string, namespace?: string): LocatedDocument | undefined;
}

/** A resource of a file, with the namespace that it has here. */
export interface WrittenObject {
  object: AnyObject;
  document: LocatedDocument;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

/**
 * Reads a folder. What is wrong is a problem with file, line and advice; the rest is there all the same. What was read before is
 * taken away by whoever deletes it, and not by a mistake.
 */
export function readResources(folder: string, before?: FolderResources): FolderResources {
  return resourcesOf(readFolder(folder), before);
}

/** The same of documents that have been read already. */
export function resourcesOf(
  { documents, problems, unreadable }: FolderContents,
  before?: Pick<FolderResources, 'written'>,
): FolderResources {
  const snapshot: Mutable<ProxySnapshot> = {
    proxies: [],
    ingresses: [],
    virtualClusters: [],
    clusterRefs: [],
    filters: [],
    secrets: [],
    configMaps: [],
  };
  const places = new Map<string, LocatedDocument>();
  const written: WrittenObject[] = [];
  const readBefore = new Set(before?.written.map(({ object }) => keyOf(object)));
  const invalid = new Set<string>();
  const unclear = new Set(unreadable);
  const ours = documents.filter(({ value }) => !isForeignKind(value));

  for (const document of ours) {
    const problem = (path: readonly (string | number)[], message: string) => {
      const where = path.length > 0 ? `${pathText(path)} ` : '';
      problems.push({ file: document.file, line: document.lineOf(path), message: `${where}${message}` });
    };
    const resource = resourceOf(document, problem);
    if (!resource) {
      // Where kind or name are the mistake, nobody can say which one of the file's it was.
      const key = keyOf(document.value);
      if (readBefore.has(key)) invalid.add(key);
      else unclear.add(document.file);
      continue;
    }
    const key = keyOf(resource);
    const first = places.get(key);
    if (first) problem(['metadata', 'name'], `is there twice; the first is in ${first.file}:${first.line}`);
    else {
      places.set(key, document);
      written.push(writtenObject(document, resource.metadata.namespace));
      place(snapshot, resource);
    }
  }
  const isLost = (key: string, file: string) => !places.has(key) && (invalid.has(key) || unclear.has(file));
  const kept = (before?.written ?? []).filter(({ object, document: { file } }) =>
    isLost(keyOf(object), file),
  );
  for (const one of kept) {
    const resource = resourceOf(one.document, () => {});
    places.set(keyOf(one.object), one.document);
    written.push(one);
    if (resource) place(snapshot, resource);
  }
  return {
    snapshot,
    problems,
    written,
    kept: new Set(kept),
    counts: { ours: ours.length, foreign: documents.length - ours.length },
    documentOf(kind, name, namespace) {
      if (namespace !== undefined) return places.get(`${kind}/${name}/${namespace}`);
      return [...places].find(([key]) => key.startsWith(`${kind}/${name}/`))?.[1];
    },
  };
}

/** By what a resource is known, also one that is not valid. */
function keyOf(value: unknown): string {
  const { kind, metadata } = (value ?? {}) as {
    kind?: unknown;
    metadata?: { name?: unknown; namespace?: unknown };
  };
  const { name, namespace } = metadata ?? {};
  return [kind, name, namespace ?? 'default'].map((part) => (typeof part === 'string' ? part : '')).join('/');
}

function writtenObject(document: LocatedDocument, namespace: string | undefined): WrittenObject {
  const value = document.value as AnyObject;
  const metadata = { ...value.metadata, ...(namespace !== undefined && { namespace }) };
  return { object: { ...value, metadata }, document };
}

type CoreResource = KeyedText & { kind: 'Secret' | 'ConfigMap' };
type Report = (path: readonly (string | number)[], message: string) => void;

function resourceOf({ value }: LocatedDocument, report: Report): KnownResource | CoreResource | undefined {
  const { kind, apiVersion } = (value ?? {}) as { kind?: unknown; apiVersion?: unknown };
  if (apiVersion === 'v1' && (kind === 'Secret' || kind === 'ConfigMap')) {
    const core = coreSchema.safeParse(value);
    if (core.success) return coreResource(kind, core.data);
    // A value is not shown: it is a secret.
    for (const { path, message } of problemsOf(core.error, value))
      report(path, path[0] === 'metadata' ? message : coreFault(path));
    return undefined;
  }
  const parsed = parseResource(value);
  if (parsed.ok) return parsed.resource;
  for (const { path, message } of parsed.problems) report(path, message);
  return undefined;
}

const coreFault = ({ length }: readonly unknown[]) =>
  length > 1 ? 'must be a string; put it in quotes' : 'must be a mapping';

/** Secrets and ConfigMaps are Kubernetes' own kinds; here only their values matter. */
const texts = z.record(z.string(), z.string()).nullish();
const coreSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string().min(1), namespace: z.string().nullish() }),
  data: texts,
  stringData: texts,
});

function coreResource(
  kind: CoreResource['kind'],
  { metadata, data, stringData }: z.output<typeof coreSchema>,
): CoreResource {
  const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString('utf8');
  const plain = Object.entries(data ?? {}).map(([key, text]) => [
    key,
    kind === 'Secret' ? fromBase64(text) : text,
  ]);
  return {
    kind,
    metadata: { name: metadata.name, namespace: metadata.namespace ?? 'default' },
    data: { ...(Object.fromEntries(plain) as Record<string, string>), ...stringData },
    ...(kind === 'Secret' && data && { base64: data }),
  };
}

function place(snapshot: Mutable<ProxySnapshot>, resource: KnownResource | CoreResource): void {
  if (resource.kind === 'KafkaProxy') snapshot.proxies.push(resource);
  else if (resource.kind === 'KafkaProxyIngress') snapshot.ingresses.push(resource);
  else if (resource.kind === 'VirtualKafkaCluster') snapshot.virtualClusters.push(resource);
  else if (resource.kind === 'KafkaClusterRef') snapshot.clusterRefs.push(resource);
  else if (resource.kind === 'KafkaProtocolFilter') snapshot.filters.push(resource);
  else if (resource.kind === 'Secret') snapshot.secrets.push(resource);
  else if (resource.kind === 'ConfigMap') snapshot.configMaps.push(resource);
}
