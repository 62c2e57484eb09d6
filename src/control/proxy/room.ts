/** Keeps a configuration within what a Secret can hold. Without this the API server would refuse all of it, for everybody. */
import { ageOf } from './age.ts';
import type { ProxyDocument } from './config.ts';
import type { JudgedCluster } from './judge.ts';
import type { PlannedConfig } from './planned-config.ts';

/** The limit of Kubernetes for the values of a Secret together. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

export const isTooLarge = ({ text }: PlannedConfig) => Buffer.byteLength(text) > MAX_CONFIG_BYTES;

/** Refuses the youngest virtual clusters, until the rest has room: what has been served goes on being served. */
export function refuseYoungest(clusters: readonly JudgedCluster[], config: PlannedConfig): void {
  const sizes = new Map([...config.parts].map(([name, { document }]) => [name, sizeOf(document)]));
  const shared = new Map([...sizes.values()].flatMap((size) => [...size.shared]));
  const own = sum([...sizes.values()].map((size) => size.own));
  // What is around the parts: brackets, and the proxy's own settings.
  let used = Math.max(0, Buffer.byteLength(config.text) - own - sum([...shared.values()]));
  const included = new Set<string>();
  for (const { cluster, faults } of clusters.toSorted((a, b) =>
    ageOf(a.cluster.metadata) < ageOf(b.cluster.metadata) ? -1 : 1,
  )) {
    const size = sizes.get(cluster.metadata.name);
    if (!size) continue;
    const added = [...size.shared].filter(([name]) => !included.has(name));
    const bytes = size.own + sum(added.map(([, its]) => its));
    if (used + bytes > MAX_CONFIG_BYTES) {
      faults.push({ reason: 'ConfigTooLarge', path: ['spec', 'proxyRef'], message: MESSAGE });
      continue;
    }
    used += bytes;
    for (const [name] of added) included.add(name);
  }
}

const MESSAGE =
  'the configuration of the proxy has no room for it: with all keys, certificates and filters it may have 1 MiB, as any Secret, and older virtual clusters come first; use another KafkaProxy';

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
