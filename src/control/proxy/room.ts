/** Keeps a configuration within what a Secret can hold. Without this the API server would refuse all of it, for everybody. */
import { ageOf } from './age.ts';
import type { JudgedCluster } from './judge.ts';
import type { PlannedConfig } from './planned-config.ts';

/** The limit of Kubernetes for the values of a Secret together. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

export const isTooLarge = ({ text }: PlannedConfig) => Buffer.byteLength(text) > MAX_CONFIG_BYTES;

interface PartDocument {
  virtualClusters: object[];
  filterDefinitions: { name: string }[];
}

/** Refuses the youngest virtual clusters, until the rest has room: what has been served goes on being served. */
export function refuseYoungest(clusters: readonly JudgedCluster[], config: PlannedConfig): void {
  const parts = [...config.parts].map(([name, { document }]) => [name, document as PartDocument] as const);
  const documents = new Map(parts);
  const all = parts.reduce((sum, [, { virtualClusters }]) => sum + bytesOf(virtualClusters), 0);
  const definitions = new Map(
    parts.flatMap(([, { filterDefinitions }]) => filterDefinitions.map((one) => [one.name, bytesOf(one)])),
  );
  const shared = [...definitions.values()].reduce((sum, bytes) => sum + bytes, 0);
  // What is around the parts: brackets, and the proxy's own settings.
  let used = Math.max(0, Buffer.byteLength(config.text) - all - shared);
  const included = new Set<string>();
  for (const { cluster, faults } of clusters.toSorted((a, b) =>
    ageOf(a.cluster.metadata) < ageOf(b.cluster.metadata) ? -1 : 1,
  )) {
    const document = documents.get(cluster.metadata.name);
    if (!document) continue;
    const added = document.filterDefinitions.filter(({ name }) => !included.has(name));
    const bytes = added.reduce(
      (sum, { name }) => sum + definitions.get(name)!,
      bytesOf(document.virtualClusters),
    );
    if (used + bytes > MAX_CONFIG_BYTES) {
      faults.push({ reason: 'ConfigTooLarge', path: ['spec', 'proxyRef'], message: MESSAGE });
      continue;
    }
    used += bytes;
    for (const { name } of added) included.add(name);
  }
}

const MESSAGE =
  'the configuration of the proxy has no room for it: with all keys, certificates and filters it may have 1 MiB, as any Secret, and older virtual clusters come first; use another KafkaProxy';

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
