/** The resources of a folder, sorted by kind, and where each of them stands. */
import type { KeyedText, ProxyWorld } from '../control/proxy/world.ts';
import { pathText } from '../resources/messages.ts';
import { parseResource } from '../resources/parse.ts';
import type { KnownResource } from '../resources/registry.ts';
import { readFolder } from './folder.ts';
import type { LocatedDocument, Problem } from './folder.ts';

export interface FolderResources {
  world: ProxyWorld;
  problems: Problem[];
  /** The document a resource was read from. */
  documentOf(kind: string, name: string): LocatedDocument | undefined;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

/** Reads a folder. What is wrong is a problem with file, line and advice; the rest is there all the same. */
export function readResources(folder: string): FolderResources {
  const { documents, problems } = readFolder(folder);
  const world: Mutable<ProxyWorld> = {
    proxies: [],
    ingresses: [],
    virtualClusters: [],
    clusterRefs: [],
    filters: [],
    secrets: [],
    configMaps: [],
  };
  const places = new Map<string, LocatedDocument>();

  for (const document of documents) {
    const problem = (path: readonly (string | number)[], message: string) => {
      const where = path.length > 0 ? `${pathText(path)} ` : '';
      problems.push({ file: document.file, line: document.lineOf(path), message: `${where}${message}` });
    };
    const resource = resourceOf(document, problem);
    if (!resource) continue;
    const key = `${resource.kind}/${resource.metadata.name}`;
    const first = places.get(key);
    if (first) problem(['metadata', 'name'], `is there twice; the first is in ${first.file}:${first.line}`);
    else {
      places.set(key, document);
      place(world, resource);
    }
  }
  return { world, problems, documentOf: (kind, name) => places.get(`${kind}/${name}`) };
}

type CoreResource = KeyedText & { kind: 'Secret' | 'ConfigMap' };
type Report = (path: readonly (string | number)[], message: string) => void;

function resourceOf({ value }: LocatedDocument, report: Report): KnownResource | CoreResource | undefined {
  const core = coreResource(value);
  if (core) return core;
  const parsed = parseResource(value);
  if (parsed.ok) return parsed.resource;
  for (const { path, message } of parsed.problems) report(path, message);
  return undefined;
}

/** Secrets and ConfigMaps are Kubernetes' own kinds; here only their values matter. */
function coreResource(value: unknown): CoreResource | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { apiVersion, kind, metadata, data, stringData } = value as Record<
    string,
    Record<string, string> | undefined
  >;
  const isSecret = (kind as unknown) === 'Secret';
  if ((apiVersion as unknown) !== 'v1' || !(isSecret || (kind as unknown) === 'ConfigMap')) return undefined;
  const plain = Object.entries(data ?? {}).map(([key, text]) => [key, isSecret ? fromBase64(text) : text]);
  return {
    kind: isSecret ? 'Secret' : 'ConfigMap',
    metadata: { name: String(metadata?.name), namespace: metadata?.namespace ?? 'default' },
    data: { ...(Object.fromEntries(plain) as Record<string, string>), ...stringData },
  };
}

const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString('utf8');

function place(world: Mutable<ProxyWorld>, resource: KnownResource | CoreResource): void {
  if (resource.kind === 'KafkaProxy') world.proxies.push(resource);
  else if (resource.kind === 'KafkaProxyIngress') world.ingresses.push(resource);
  else if (resource.kind === 'VirtualKafkaCluster') world.virtualClusters.push(resource);
  else if (resource.kind === 'KafkaClusterRef') world.clusterRefs.push(resource);
  else if (resource.kind === 'KafkaProtocolFilter') world.filters.push(resource);
  else if (resource.kind === 'Secret') world.secrets.push(resource);
  else if (resource.kind === 'ConfigMap') world.configMaps.push(resource);
}
