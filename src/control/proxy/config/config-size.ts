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

/** What is new leaves so much free: whoever is served has to get new certificates, and those may be a little larger. */
const RESERVED = 1 / 16;
const ROTATION_BYTES = 4096;
/** The most of it that one virtual cluster may come to have: a few that want much must not keep out all others. */
const SHARE = 1 / 4;

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
 * and of the others the youngest are refused, and those that want more than their share.
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
  // Nobody can have more than there is in all.
  if (Buffer.byteLength(config.text) <= maxConfigBytes * SHARE) return { clusters: [...clusters], config };
  const { held, refused, immodest } = withoutRoom(maxConfigBytes, clusters, config, lastOf);
  const fitted = clusters.map((cluster) => {
    if (!held.has(cluster) && !refused.has(cluster)) return cluster;
    const fault = immodest.has(cluster) ? TOO_MUCH : TOO_LARGE;
    return { ...cluster, faults: [...cluster.faults, { ...fault, held: held.has(cluster) }] };
  });
  const rest = fitted.filter((_, index) => !held.has(clusters[index]!));
  return { clusters: fitted, config: configOf(rest, [...held.values()]) };
}

interface WithoutRoom {
  /** Those that go on as they were, and what that is. */
  held: ReadonlyMap<EvaluatedCluster, ServedCluster>;
  refused: ReadonlySet<EvaluatedCluster>;
  /** Those of both that want more than their share. */
  immodest: ReadonlySet<EvaluatedCluster>;
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
  const immodest = new Set<EvaluatedCluster>();
  const free = Number.isFinite(maxBytes) ? maxBytes * RESERVED : 0;
  for (const one of [...before.keys(), ...wanted.filter((one) => !before.has(one))]) {
    const known = before.get(one);
    if (known) ledger.remove(known.size);
    ledger.add(sizeNow(one));
    const isRotated = known && totalOf(sizeNow(one)) <= totalOf(known.size) + ROTATION_BYTES;
    const isModest = isRotated || totalOf(sizeNow(one)) <= maxBytes * SHARE;
    if (!isModest) immodest.add(one);
    else if (around + ledger.bytes() <= (isRotated ? maxBytes : maxBytes - free)) continue;
    ledger.remove(sizeNow(one));
    if (known) ledger.add(known.size);
    if (known) held.set(one, known.last);
    else refused.add(one);
  }
  return { held, refused, immodest };
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

const TOO_MUCH: Fault = {
  ...TOO_LARGE,
  message:
    'with its keys, certificates and filters it would take more than a quarter of the configuration of the proxy, which may have 1 MiB, as any Secret; use fewer or smaller ones, or another KafkaProxy',
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

const totalOf = ({ own, shared }: Size) => own + sum([...shared.values()]);

const sum = (sizes: readonly number[]) => sizes.reduce((total, bytes) => total + bytes, 0);

/** In JSON, with the comma or colon behind it. */
const itemBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value)) + 1;
