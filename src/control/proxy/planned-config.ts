/** The configuration of a proxy as one text, and each virtual cluster's part of it. */
import { createHash } from 'node:crypto';
import { hashOf } from '../../kube/json.ts';
import type { KafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { proxyConfig } from './config.ts';
import type { ProxySettings, ServedCluster } from './config.ts';
import { MANAGEMENT_PORT } from './names.ts';

export interface PlannedConfig {
  text: string;
  /** As the proxy computes it: SHA-256 of the text. */
  hash: string;
  /** Each virtual cluster's part, as a configuration of its own. */
  parts: ReadonlyMap<string, ConfigPart>;
}

export interface ConfigPart {
  document: object;
  hash: string;
}

/** Pure, and the same for the same virtual clusters, in whatever order they come. */
export function plannedConfig(
  proxy: KafkaProxy | undefined,
  served: readonly ServedCluster[],
): PlannedConfig {
  const text = `${JSON.stringify(proxyConfig(served, settingsOf(proxy)))}\n`;
  const parts = served.map((cluster) => {
    const document = proxyConfig([cluster], {});
    return [cluster.cluster.metadata.name, { document, hash: hashOf(document) }] as const;
  });
  return { text, hash: createHash('sha256').update(text).digest('hex'), parts: new Map(parts) };
}

/** The hashes of the parts of a configuration that was written before. */
export function configPartsOf(text: string): Map<string, string> {
  try {
    const { virtualClusters, filterDefinitions } = JSON.parse(text) as WrittenConfig;
    return new Map(
      virtualClusters.map((cluster) => {
        const own = filterDefinitions.filter(({ name }) => cluster.filters.includes(name));
        return [cluster.name, hashOf({ filterDefinitions: own, virtualClusters: [cluster] })];
      }),
    );
  } catch {
    return new Map(); // written by hand, or by another version: then nothing of it is known
  }
}

interface WrittenConfig {
  virtualClusters: { name: string; filters: string[] }[];
  filterDefinitions: { name: string }[];
}

function settingsOf(proxy: KafkaProxy | undefined): ProxySettings {
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
