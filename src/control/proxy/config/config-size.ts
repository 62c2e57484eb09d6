/** Keeps a configuration within what a Secret can hold. Without this the API server would refuse all of it, for everybody. */
import { hashOf } from '../../../kube/json.ts';
import { byAge, servedCluster } from '../evaluate/cluster.ts';
import type { EvaluatedCluster } from '../evaluate/cluster.ts';
import type { Platform } from '../evaluate/platform.ts';
import type { Fault } from '../faults.ts';
import { proxyConfig } from './document.ts';
import type { ProxyDocument, ServedCluster } from './document.ts';
import { plannedConfig } from './planned-config.ts';
import type { PlannedConfig } from './planned-config.ts';

/** The limit of Kubernetes for the values of a Secret together. */
export const MAX_CONFIG_BYTES = 1024 * 1024;

export interface FittedConfig {
  clusters: EvaluatedCluster[];
  config: PlannedConfig;
}

/** What was served before. */
export interface ServedBefore {
  /** Virtual clusters that cannot be read. */
  unreadable: readonly ServedCluster[];
  /** What was last good of one. */
  lastOf: (cluster: EvaluatedCluster) => ServedCluster | undefined;
}

/**
 * The configuration of all that can be served. What has no room gets a fault: a virtual cluster that is served goes on as it was,
 * and of the others the youngest are refused.
 */
export function fitConfig(
  clusters: readonly EvaluatedCluster[],
  { proxySettings, maxConfigBytes }: Pick<Platform, 'proxySettings' | 'maxConfigBytes'>,
  { unreadable, lastOf }: ServedBefore,
): FittedConfig {
  const configOf = (of: readonly EvaluatedCluster[], held: readonly ServedCluster[]) => {
    const served = of.flatMap((cluster) => servedCluster(cluster) ?? []);
    return plannedConfig(proxySettings, [...served, ...unreadable, ...held]);
  };
  const config = configOf(clusters, []);
  if (Buffer.byteLength(config.text) <= maxConfigBytes) return { clusters: [...clusters], config };
  const { held, refused } = withoutRoom(maxConfigBytes, clusters, config, lastOf);
  const fitted = clusters.map((cluster) => {
    if (!held.has(cluster) && !refused.has(cluster)) return cluster;
    return { ...cluster, faults: [...cluster.faults, { ...TOO_LARGE, held: held.has(cluster) }] };
  });
  const rest = fitted.filter((_, index) => !held.has(clusters[index]!));
  return { clusters: fitted, config: configOf(rest, [...held.values()]) };
}

interface WithoutRoom {
  /** Those that go on as they were, and what that is. */
  held: ReadonlyMap<EvaluatedCluster, ServedCluster>;
  refused: ReadonlySet<EvaluatedCluster>;
}

/**
 * Who has no room. All that was served before has had it; then, the older ones first, each becomes what it should be if there is
 * room for that, and what is new comes last.
 */
function withoutRoom(
  maxBytes: number,
  clusters: readonly EvaluatedCluster[],
  config: PlannedConfig,
  lastOf: ServedBefore['lastOf'],
): WithoutRoom {
  const own = [...config.parts].map(([name, { document }]) => [name, sizeOf(document)] as const);
  const sizes = new Map(own);
  const ledger = createLedger();
  for (const size of sizes.values()) ledger.add(size);
  // What is around the parts: brackets, and the proxy's own settings.
  const around = Math.max(0, Buffer.byteLength(config.text) - ledger.bytes());
  const wanted = clusters.filter(({ cluster }) => sizes.has(cluster.metadata.name)).toSorted(byAge);
  const sizeNow = ({ cluster }: EvaluatedCluster) => sizes.get(cluster.metadata.name)!;
  const before = new Map(
    wanted.flatMap((one) => {
      const last = lastOf(one);
      return last ? [[one, { last, size: sizeAlone(last) }] as const] : [];
    }),
  );
  for (const one of wanted) ledger.remove(sizeNow(one));
  for (const { size } of before.values()) ledger.add(size);
  const held = new Map<EvaluatedCluster, ServedCluster>();
  const refused = new Set<EvaluatedCluster>();
  for (const one of [...before.keys(), ...wanted.filter((one) => !before.has(one))]) {
    const known = before.get(one);
    if (known) ledger.remove(known.size);
    ledger.add(sizeNow(one));
    if (around + ledger.bytes() <= maxBytes) continue;
    ledger.remove(sizeNow(one));
    if (known) ledger.add(known.size);
    if (known) held.set(one, known.last);
    else refused.add(one);
  }
  return { held, refused };
}

const sizeAlone = (served: ServedCluster) => sizeOf(proxyConfig([served], {}));

/** Adds up sizes; what several have in common counts once. */
function createLedger() {
  const shared = new Map<string, number>();
  let total = 0;
  const count = ({ own, shared: items }: Size, step: 1 | -1) => {
    total += step * own;
    for (const [item, bytes] of items) {
      const users = shared.get(item) ?? 0;
      if (step === 1 ? users === 0 : users === 1) total += step * bytes;
      shared.set(item, users + step);
    }
  };
  return {
    add: (size: Size) => count(size, 1),
    remove: (size: Size) => count(size, -1),
    bytes: () => total,
  };
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
      ...filterDefinitions.map((one) => [`filter ${hashOf(one)}`, itemBytes(one)] as const),
      ...Object.entries(pem).map(
        ([name, text]) => [`pem ${name}`, itemBytes(name) + itemBytes(text)] as const,
      ),
    ]),
  };
}

const sum = (sizes: readonly number[]) => sizes.reduce((total, bytes) => total + bytes, 0);

/** In JSON, with the comma or colon behind it. */
const itemBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) + 1;
