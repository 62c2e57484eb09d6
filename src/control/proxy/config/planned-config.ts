/** The configuration of a proxy as one text, and each virtual cluster's part of it. */
import { createHash } from 'node:crypto';
import { hashOf } from '../../../kube/json.ts';
import { moduleOf } from '../../../ops/filter-module.ts';
import type { KafkaProxy } from '../../../resources/kroxylicious/kafka-proxy.ts';
import { pemNamesIn, proxyConfig } from './document.ts';
import type { ProxyDocument, ProxySettings, ServedCluster } from './document.ts';
import { MANAGEMENT_PORT } from '../names.ts';

export interface PlannedConfig {
  text: string;
  /** As the proxy computes it: SHA-256 of the text. */
  hash: string;
  /** Each virtual cluster's part, as a configuration of its own. */
  parts: ReadonlyMap<string, ConfigPart>;
}

export interface ConfigPart {
  document: ProxyDocument;
  hash: string;
}

/** Pure, and the same for the same virtual clusters, in whatever order they come. */
export function plannedConfig(settings: ProxySettings, served: readonly ServedCluster[]): PlannedConfig {
  const document = proxyConfig(served, settings);
  const text = `${JSON.stringify(document)}\n`;
  const hash = createHash('sha256').update(text).digest('hex');
  return { text, hash, parts: partsOf(document) };
}

/** The parts of a configuration that was written before. */
export function configPartsOf(text: string): Map<string, ConfigPart> {
  try {
    return partsOf(JSON.parse(text) as ProxyDocument);
  } catch {
    return new Map(); // written by hand, or by another version: then nothing of it is known
  }
}

function partsOf(document: ProxyDocument): Map<string, ConfigPart> {
  const { virtualClusters, filterDefinitions, filterModules = [], pem = {} } = document;
  const definitions = new Map(filterDefinitions.map((one) => [one.name, one]));
  const parts = virtualClusters.map((cluster) => {
    const filters = [...new Set(cluster.filters)].toSorted().flatMap((name) => definitions.get(name) ?? []);
    const modules = filterModules.filter(({ name }) => filters.some(({ type }) => moduleOf(type) === name));
    const own = {
      filterDefinitions: filters,
      ...(modules.length > 0 && { filterModules: modules }),
      virtualClusters: [cluster],
    };
    const pems = [...pemNamesIn(cluster)].map((name) => [name, pem[name]] as const);
    // What is in `pem` has names that change with it, and need not be hashed once more.
    const document = { ...own, ...(pems.length > 0 && { pem: Object.fromEntries(pems) as typeof pem }) };
    return [cluster.name, { document, hash: hashOf(own) }] as const;
  });
  return new Map(parts);
}

/** For a proxy in pods. */
export function podSettings(proxy: KafkaProxy | undefined): ProxySettings {
  const { limits, requests } = proxy?.spec.infrastructure.proxy.resources ?? {};
  const cpus = cpusOf(limits?.['cpu'] ?? requests?.['cpu']);
  return { management: { bindAddress: '::', port: MANAGEMENT_PORT }, workers: cpus ?? DEFAULT_WORKERS };
}

/** Without limits a pod sees all CPUs of its node; a worker for each would be too many. */
const DEFAULT_WORKERS = 2;
const MAX_WORKERS = 64;

function cpusOf(quantity: string | number | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  const text = String(quantity);
  const cpus = text.endsWith('m') ? Number(text.slice(0, -1)) / 1000 : Number(text);
  return Number.isFinite(cpus) ? Math.min(MAX_WORKERS, Math.max(1, Math.ceil(cpus))) : undefined;
}
