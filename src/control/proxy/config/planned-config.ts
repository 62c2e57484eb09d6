/** The configuration of a proxy as one text, and each virtual cluster's part of it. */
import { createHash } from 'node:crypto';
import { hashOf } from '../../../kube/json.ts';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import { moduleOf } from '../../../ops/filter-module.ts';
import type { KafkaProxy } from '../../../resources/kroxylicious/kafka-proxy.ts';
import { pemNamesIn, proxyConfig } from './document.ts';
import type { ProxyDocument, ProxySettings, ServedCluster } from './document.ts';
import {
  CERTIFICATE_KEY,
  MANAGEMENT_DIRECTORY,
  MANAGEMENT_PORT,
  METRICS_TOKEN_KEY,
  PRIVATE_KEY_KEY,
  TOKEN_KEY,
} from '../names.ts';
import { budgetOf, podResources, workersOf } from '../pod-resources.ts';

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
  const hash = textHash(text);
  return { text, hash, parts: partsOfText(text, hash) };
}

const textHash = (text: string) => createHash('sha256').update(text).digest('hex');

/** The parts of a configuration that was written before. */
export function configPartsOf(text: string): Parts {
  try {
    return partsOfText(text, textHash(text));
  } catch {
    return new Map(); // written by hand, or by another version: then nothing of it is known
  }
}

type Parts = ReadonlyMap<string, ConfigPart>;

/** By hash of the whole: a configuration is planned several times before it changes, and seen again when it was written. */
const known = new BoundedMap<string, WeakRef<Parts>>(10_000);

function partsOfText(text: string, hash: string): Parts {
  const parts = known.get(hash)?.deref() ?? partsOf(JSON.parse(text) as ProxyDocument);
  known.set(hash, new WeakRef(parts));
  return parts;
}

function partsOf(document: ProxyDocument): Parts {
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

const MANAGEMENT = {
  bindAddress: '::',
  port: MANAGEMENT_PORT,
  tokenFile: `${MANAGEMENT_DIRECTORY}/${TOKEN_KEY}`,
  metricsTokenFile: `${MANAGEMENT_DIRECTORY}/${METRICS_TOKEN_KEY}`,
  tls: {
    certificateFile: `${MANAGEMENT_DIRECTORY}/${CERTIFICATE_KEY}`,
    keyFile: `${MANAGEMENT_DIRECTORY}/${PRIVATE_KEY_KEY}`,
  },
};

/** What the configuration has in another place, and what the operator itself keeps to. */
const ELSEWHERE = new Set(['drainTimeout', 'maxNodesPerVirtualCluster']);

/** What a KafkaProxy says of its limits, as the configuration has it. */
export function limitSettings({ limits }: KafkaProxy['spec']): Pick<ProxySettings, 'limits' | 'network'> {
  const { drainTimeout } = limits ?? {};
  const rest = Object.fromEntries(Object.entries(limits ?? {}).filter(([key]) => !ELSEWHERE.has(key)));
  return {
    ...(limits && { limits: rest }),
    ...(drainTimeout !== undefined && { network: { proxy: { shutdownTimeout: drainTimeout } } }),
  };
}

/** For a proxy in pods. */
export function podSettings(proxy: KafkaProxy | undefined): ProxySettings {
  const resources = podResources(proxy);
  const { limits, network } = proxy ? limitSettings(proxy.spec) : {};
  const budget = budgetOf(resources);
  return {
    management: MANAGEMENT,
    workers: workersOf(resources),
    limits: { ...(budget !== undefined && { maxBufferedBytes: budget }), ...limits },
    // Developers name bootstrap servers, and the policy is the admin's.
    targetPolicy: { allow: [], ...proxy?.spec.targetPolicy, bootstrap: 'checked' },
    ...(network && { network }),
  };
}
