/** The versions of Kafka that can be run, and the levels of `metadata.version` as Kafka 4.3.1 has them. */

/** The version that is run where a resource names none. */
export const DEFAULT_KAFKA_VERSION = '4.3.1';

/** One level of the feature `metadata.version`. */
export interface MetadataVersion {
  level: number;
  name: string;
  /** It changed the form of the metadata: Kafka refuses to go back to a level below it. */
  changesForm: boolean;
}

/** Of each release its levels; `!` marks those that changed the form. Kafka 4 supports none below 3.3-IV3. */
const LEVELS: readonly [release: string, firstLevel: number, levels: string][] = [
  ['3.3', 7, 'IV3!'],
  ['3.4', 8, 'IV0!'],
  ['3.5', 9, 'IV0 IV1 IV2!'],
  ['3.6', 12, 'IV0 IV1! IV2!'],
  ['3.7', 15, 'IV0! IV1 IV2! IV3 IV4'],
  ['3.8', 20, 'IV0'],
  ['3.9', 21, 'IV0'],
  ['4.0', 22, 'IV0 IV1! IV2 IV3'],
  ['4.1', 26, 'IV0 IV1'],
  ['4.2', 28, 'IV0 IV1'],
  ['4.3', 30, 'IV0!'],
];

/** The releases that can be run. A patch release never brings a new level, so all patches of a release are alike. */
export const SUPPORTED_RELEASES: readonly string[] = ['4.0', '4.1', '4.2', '4.3'];

/** All levels, the lowest first. */
export const METADATA_VERSIONS: readonly MetadataVersion[] = LEVELS.flatMap(([release, first, levels]) =>
  levels.split(' ').map((level, index) => ({
    level: first + index,
    name: `${release}-${level.replace('!', '')}`,
    changesForm: level.endsWith('!'),
  })),
);

/** `4.3-IV0`, or `4.3` for the last level of a release. */
export function metadataVersionOf(name: string): MetadataVersion | undefined {
  return METADATA_VERSIONS.findLast((one) => one.name === name || one.name.startsWith(`${name}-`));
}

/** The level that Kafka says is in force. */
export function metadataVersionAt(level: number): MetadataVersion | undefined {
  return METADATA_VERSIONS.find((one) => one.level === level);
}

/** Whether Kafka goes back from one level to a lower one: not where a level in between changed the form. */
export function canLower(from: MetadataVersion, to: MetadataVersion): boolean {
  return !METADATA_VERSIONS.some(
    ({ level, changesForm }) => changesForm && level > to.level && level <= from.level,
  );
}

/** A supported version of Kafka. */
export interface KafkaVersion {
  version: string;
  release: string;
  /** The highest level that it can run with. */
  latest: MetadataVersion;
}

/** Undefined: not supported. */
export function kafkaVersionOf(version: string): KafkaVersion | undefined {
  const release = /^(\d+\.\d+)\.\d+$/.exec(version)?.[1];
  if (release === undefined || !SUPPORTED_RELEASES.includes(release)) return undefined;
  return { version, release, latest: metadataVersionOf(release)! };
}

/** Of all versions the one that all nodes have at least; undefined if there is none. */
export const oldestOf = (versions: readonly string[]): string | undefined =>
  versions.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))[0];

/** The first level at which brokers can be closed to new replicas (KIP-1066). */
const CORDONS_SINCE = '4.3-IV0';

/** Whether they can at a level; below it a broker takes the setting, and nobody heeds it. */
export const cordons = (metadataVersion: string): boolean =>
  (metadataVersionOf(metadataVersion)?.level ?? 0) >= metadataVersionOf(CORDONS_SINCE)!.level;

/** The image of a version: the user's, or the official one. */
export function imageOf(version: string, images: Readonly<Record<string, string>>): string {
  return images[version] ?? `apache/kafka:${version}`;
}
