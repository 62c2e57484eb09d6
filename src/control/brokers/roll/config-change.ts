/**
 * What has to be done about a node whose configuration differs from what is wanted: nothing, a change while it runs, or
 * a restart. Decided by what the node itself says (DescribeConfigs with synonyms).
 */
import type { ConfigChanges } from '../../../kafka/admin/configs.ts';
import type { DescribeConfigsResponseDescribeConfigsResourceResult as ConfigEntry } from '../../../kafka/schemas/types.ts';
import { hashOf, isJsonObject } from '../../../kube/json.ts';
import { CONFIG_DIGESTS_ANNOTATION } from '../model/names.ts';
import { sameValue } from './config-value.ts';

/** Values by key. */
export type ConfigValues = Readonly<Record<string, string>>;

/** To be sent with IncrementalAlterConfigs: to the node's own resource, and to the default of all brokers. */
export interface DynamicChange {
  perBroker: { set: ConfigValues; delete: readonly string[] };
  clusterWide: { set: ConfigValues };
}

/** `unfixable`: keys that differ although the node was started with them; to be told, since neither way would help. */
export type ConfigChange =
  | { kind: 'none'; unfixable: readonly string[] }
  | { kind: 'dynamic'; change: DynamicChange; unfixable: readonly string[] }
  | { kind: 'restart'; keys: readonly string[] };

export interface ConfigQuestion {
  /** As in the node's ConfigMap. */
  wanted: ConfigValues;
  /** What the node answered. */
  described: readonly ConfigEntry[];
  /**
   * The digests of what the process was started with, from `startedWith`. They show changes of values that Kafka
   * hides, and keep a restart that cannot help from being tried for ever.
   */
  startedWith: ConfigValues;
  /** Keys that this process refused to change while it runs (threads, for one, can at most be doubled at once). */
  refused: ReadonlySet<string>;
}

/** Kafka's ids of where a value comes from. */
const PER_BROKER = 2;
const CLUSTER_WIDE = 3;
const STATIC = 4;
const DEFAULT = 5;

/** Never compared and never touched: known only where the pod runs, set by whoever moves partitions, or compared elsewhere (`quorum/chosen`). */
const NOT_OURS = new Set([
  'broker.id',
  'broker.rack',
  'controller.quorum.bootstrap.servers',
  'cordoned.log.dirs',
  'follower.replication.throttled.rate',
  'leader.replication.throttled.rate',
  'node.id',
  'replica.alter.log.dirs.io.max.bytes.per.second',
]);

/** The controller reads these from the default of all brokers; with ELR (KIP-966) Kafka refuses them for one broker. */
const ONLY_CLUSTER_WIDE = new Set(['min.insync.replicas', 'unclean.leader.election.enable']);

/**
 * Kafka calls these updatable, and a restart is still the only way: ports belong to the pod, too, and security
 * settings can be changed for one listener (`listener.name.…`) but not for all.
 */
const ONLY_BY_RESTART =
  /^(listeners|listener\.security\.protocol\.map|config\.providers|principal\.builder\.class|(ssl|sasl)\..+)$/;

type Step =
  | { do: 'set'; key: string; value: string; entry: ConfigEntry }
  | { do: 'delete'; key: string }
  | { do: 'restart'; key: string }
  | { do: 'unfixable'; key: string };

/** The digest of every value, by key: for the annotation of a pod that is started with them, as JSON. */
export function configDigests(values: ConfigValues): ConfigValues {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, hashOf(value)]));
}

/** What a pod says it was started with; nothing, where it does not say so in a way that can be read. */
export function startedWith(annotations: Readonly<Record<string, string>>): ConfigValues {
  try {
    const digests: unknown = JSON.parse(annotations[CONFIG_DIGESTS_ANNOTATION] ?? '{}');
    if (!isJsonObject(digests)) return {};
    const readable = Object.entries(digests).flatMap(([key, one]) =>
      typeof one === 'string' ? [[key, one]] : [],
    );
    return Object.fromEntries(readable) as ConfigValues;
  } catch {
    return {};
  }
}

/** What may be said of one key, and of the process that it is asked about. */
interface Known {
  /** The process was started with it: of a wanted key with this very value, of another with any. */
  started: boolean;
  refused: boolean;
}

function isUpdatable({ name, readOnly }: ConfigEntry, { refused }: Known): boolean {
  return !readOnly && !refused && !ONLY_BY_RESTART.test(name);
}

/** Passwords, keys that Kafka does not know, and what a config provider fills in: the answer does not show them. */
function isHidden(entry: ConfigEntry, value: string): boolean {
  return entry.isSensitive || value.includes('${');
}

function synonym({ name, synonyms }: ConfigEntry, source: number): string | null | undefined {
  return synonyms.find((one) => one.name === name && one.source === source)?.value;
}

function stepForWanted(key: string, value: string, entry: ConfigEntry | undefined, known: Known): Step[] {
  if (entry !== undefined && !isHidden(entry, value)) {
    // What was written counts as well as what Kafka made of it, or a spelling we do not know would never be done with.
    const written = entry.synonyms.find(({ name }) => name === key)?.value;
    if (sameValue(entry, value) || written?.trim() === value.trim()) return [];
    if (isUpdatable(entry, known)) return [{ do: 'set', key, value, entry }];
    return [{ do: known.started ? 'unfixable' : 'restart', key }];
  }
  return known.started ? [] : [{ do: 'restart', key }];
}

/** Back to the default, where that can be done at run time. */
function stepToDefault(entry: ConfigEntry, known: Known): Step[] {
  const fallback = synonym(entry, DEFAULT);
  if (fallback != null && !entry.isSensitive) {
    if (sameValue(entry, fallback)) return [];
    if (isUpdatable(entry, known)) return [{ do: 'set', key: entry.name, value: fallback, entry }];
  }
  return [{ do: 'restart', key: entry.name }];
}

/** The resource is the truth: an override of this node that it does not ask for goes. Defaults of all brokers stay. */
function stepForUnwanted(entry: ConfigEntry, known: Known): Step[] {
  if (entry.configSource === PER_BROKER) {
    // Without its override the value of the old file would come back, unless one of all brokers hides that as well.
    const fromFile = synonym(entry, STATIC) !== undefined && synonym(entry, CLUSTER_WIDE) === undefined;
    return fromFile && known.started ? stepToDefault(entry, known) : [{ do: 'delete', key: entry.name }];
  }
  // What was not in the file we gave was made by Kafka (`broker.id`) or by the start script.
  return entry.configSource === STATIC && known.started ? stepToDefault(entry, known) : [];
}

function changeOf(steps: readonly Step[]): DynamicChange {
  const perBroker = { set: {} as Record<string, string>, delete: [] as string[] };
  const clusterWide = { set: {} as Record<string, string> };
  for (const step of steps) {
    if (step.do === 'delete') perBroker.delete.push(step.key);
    if (step.do !== 'set') continue;
    if (!ONLY_CLUSTER_WIDE.has(step.key)) perBroker.set[step.key] = step.value;
    else {
      clusterWide.set[step.key] = step.value;
      if (step.entry.configSource === PER_BROKER) perBroker.delete.push(step.key);
    }
  }
  return { perBroker, clusterWide };
}

/** Compares what is wanted of a node with what it says it has. */
export function configChange({ wanted, described, startedWith, refused }: ConfigQuestion): ConfigChange {
  const live = new Map(described.map((entry) => [entry.name, entry]));
  const ours = Object.entries(wanted).filter(([key]) => !NOT_OURS.has(key));
  const unwanted = described.filter(({ name }) => !Object.hasOwn(wanted, name) && !NOT_OURS.has(name));
  const known = (key: string, started: boolean): Known => ({ started, refused: refused.has(key) });
  const steps = [
    ...ours.flatMap(([key, value]) =>
      stepForWanted(key, value, live.get(key), known(key, startedWith[key] === hashOf(value))),
    ),
    ...unwanted.flatMap((entry) =>
      stepForUnwanted(entry, known(entry.name, Object.hasOwn(startedWith, entry.name))),
    ),
  ].toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const keysOf = (what: Step['do']) => steps.filter((step) => step.do === what).map(({ key }) => key);
  const keys = keysOf('restart');
  if (keys.length > 0) return { kind: 'restart', keys };
  const unfixable = keysOf('unfixable');
  if (steps.length === unfixable.length) return { kind: 'none', unfixable };
  return { kind: 'dynamic', change: changeOf(steps), unfixable };
}

/** The same as Kafka is asked for it: of the node, and of all. */
export function alterationsOf(node: number, { perBroker, clusterWide }: DynamicChange): ConfigChanges[] {
  const set = (properties: Readonly<Record<string, string>>) =>
    Object.entries(properties).map(([name, value]) => ({ name, change: 'set' as const, value }));
  const own = [
    ...set(perBroker.set),
    ...perBroker.delete.map((name) => ({ name, change: 'delete' as const })),
  ];
  const all = set(clusterWide.set);
  return [
    ...(own.length > 0 ? [{ resource: { type: 'broker' as const, name: String(node) }, changes: own }] : []),
    ...(all.length > 0 ? [{ resource: { type: 'broker' as const, name: '' }, changes: all }] : []),
  ];
}
