/** Keeps a configuration within what a Secret can hold. Without this the API server would refuse all of it, for everybody. */
import { byAge, servedCluster } from '../evaluate/cluster.ts';
import type { EvaluatedCluster } from '../evaluate/cluster.ts';
import type { Platform } from '../evaluate/platform.ts';
import type { Fault } from '../faults.ts';
import type { ProxyDocument } from './document.ts';
import { plannedConfig } from './planned-config.ts';
import type { PlannedConfig } from './planned-config.ts';

/** The limit of Kubernetes for the values of a Secret together. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

export interface FittedConfig {
  clusters: EvaluatedCluster[];
  config: PlannedConfig;
}

/** The configuration of all that can be served. The youngest virtual clusters for which it has no room get a fault. */
export function fitConfig(
  clusters: readonly EvaluatedCluster[],
  { proxySettings, maxConfigBytes }: Pick<Platform, 'proxySettings' | 'maxConfigBytes'>,
): FittedConfig {
  const configOf = (served: readonly EvaluatedCluster[]) =>
    plannedConfig(
      proxySettings,
      served.flatMap((cluster) => servedCluster(cluster) ?? []),
    );
  const config = configOf(clusters);
  if (Buffer.byteLength(config.text) <= maxConfigBytes) return { clusters: [...clusters], config };
  const refused = youngestBeyond(maxConfigBytes, clusters, config);
  const fitted = clusters.map((cluster) =>
    refused.has(cluster) ? { ...cluster, faults: [...cluster.faults, TOO_LARGE] } : cluster,
  );
  return { clusters: fitted, config: configOf(fitted) };
}

/** The virtual clusters that have no room, the older ones being served first: what has been served goes on being served. */
function youngestBeyond(
  maxConfigBytes: number,
  clusters: readonly EvaluatedCluster[],
  config: PlannedConfig,
): ReadonlySet<EvaluatedCluster> {
  const sizes = new Map([...config.parts].map(([name, { document }]) => [name, sizeOf(document)]));
  const shared = new Map([...sizes.values()].flatMap((size) => [...size.shared]));
  const own = sum([...sizes.values()].map((size) => size.own));
  // What is around the parts: brackets, and the proxy's own settings.
  let used = Math.max(0, Buffer.byteLength(config.text) - own - sum([...shared.values()]));
  const included = new Set<string>();
  const refused = new Set<EvaluatedCluster>();
  for (const one of clusters.toSorted(byAge)) {
    const size = sizes.get(one.cluster.metadata.name);
    if (!size) continue;
    const added = [...size.shared].filter(([name]) => !included.has(name));
    const bytes = size.own + sum(added.map(([, its]) => its));
    if (used + bytes > maxConfigBytes) {
      refused.add(one);
      continue;
    }
    used += bytes;
    for (const [name] of added) included.add(name);
  }
  return refused;
}

const TOO_LARGE: Fault = {
  reason: 'ConfigTooLarge',
  path: ['spec', 'proxyRef'],
  message:
    'the configuration of the proxy has no room for it: with all keys, certificates and filters it may have 1 MiB, as any Secret, and older virtual clusters come first; use another KafkaProxy',
};

interface Size {
  own: number;
  /** What others may use too, and which is there only once: filters, keys and certificates. */
  shared: ReadonlyMap<string, number>;
}

function sizeOf({ virtualClusters, filterDefinitions, pem = {} }: ProxyDocument): Size {
  return {
    own: sum(virtualClusters.map(itemBytes)),
    shared: new Map([
      ...filterDefinitions.map((one) => [`filter ${one.name}`, itemBytes(one)] as const),
      ...Object.entries(pem).map(
        ([name, text]) => [`pem ${name}`, itemBytes(name) + itemBytes(text)] as const,
      ),
    ]),
  };
}

const sum = (sizes: readonly number[]) => sizes.reduce((total, bytes) => total + bytes, 0);

/** In JSON, with the comma or colon behind it. */
const itemBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) + 1;
