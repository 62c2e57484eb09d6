/**
 * The way from one version of Kafka to another: binaries first, one node after the other, and `metadata.version` only
 * when all of them run the new one. Until then going back is one change of the resource. Kafka takes steps over several
 * releases at once, so there is nothing to be said about skipping.
 */
import type { KafkaVersion, MetadataVersion } from './versions.ts';
import {
  SUPPORTED_RELEASES,
  canLower,
  kafkaVersionOf,
  metadataVersionAt,
  metadataVersionOf,
} from './versions.ts';

export interface UpgradeQuestion {
  /** The version that the pod of each node runs; empty for a cluster that does not exist yet. */
  running: readonly string[];
  /** `spec.kafka.version`. */
  wanted: string;
  /** The level of `metadata.version` in force; undefined where Kafka could not be asked. */
  metadataLevel: number | undefined;
  /** `spec.kafka.metadataVersion`; undefined: the last one of the wanted version. */
  wantedMetadata: string | undefined;
}

export type UpgradeStep =
  | {
      do: 'run';
      /** What pods are to run now. */
      version: string;
      /** What storage is formatted with now. */
      metadataVersion: string;
      /** To be sent with UpdateFeatures now, as an upgrade or a safe downgrade. */
      finalize: { level: number; downgrade: boolean } | undefined;
    }
  /** Nothing is changed before Kafka has said which level is in force; that is what pods run meanwhile. */
  | { do: 'ask'; version: string; metadataVersion: string; why: string }
  | { do: 'refused'; field: 'spec.kafka.version' | 'spec.kafka.metadataVersion'; why: string };

const refuse = (field: 'version' | 'metadataVersion', why: string): UpgradeStep => ({
  do: 'refused',
  field: `spec.kafka.${field}`,
  why,
});

const supported = SUPPORTED_RELEASES.map((release) => `${release}.x`).join(', ');

function unknownVersion(version: string): UpgradeStep {
  return refuse('version', `Kafka ${version} is not supported; choose one of ${supported}.`);
}

/** A cluster with nodes: what they run, and what was asked for, all of it known. */
interface Known {
  running: readonly KafkaVersion[];
  wanted: KafkaVersion;
  target: MetadataVersion;
  /** The user named the level, so that lowering it is their wish. */
  explicit: boolean;
}

function run(version: KafkaVersion, metadata: MetadataVersion, to?: MetadataVersion): UpgradeStep {
  const finalize = to && { level: to.level, downgrade: to.level < metadata.level };
  return { do: 'run', version: version.version, metadataVersion: metadata.name, finalize };
}

function cannotLower(from: MetadataVersion, to: MetadataVersion): string {
  return `Kafka cannot go back from metadata.version ${from.name} to ${to.name}: the form of the metadata changed in between.`;
}

/** The wanted binaries cannot read the metadata that is in force. */
function downgradeBelow(current: MetadataVersion, known: Known): UpgradeStep {
  const { wanted, target, explicit, running } = known;
  const problem = `Kafka ${wanted.version} supports metadata.version up to ${wanted.latest.name}, and ${current.name} is in force.`;
  if (!canLower(current, wanted.latest)) {
    const way = `Set the version back to ${running[0]!.release}.x or newer.`;
    return refuse('version', `${problem} ${cannotLower(current, wanted.latest)} ${way}`);
  }
  if (!explicit) {
    return refuse('version', `${problem} Set spec.kafka.metadataVersion to ${wanted.latest.name} as well.`);
  }
  if (!canLower(current, target)) return refuse('metadataVersion', cannotLower(current, target));
  // The level goes down first, while everybody still runs what understands both.
  return run(running[0]!, current, target);
}

function stepFrom(current: MetadataVersion, known: Known): UpgradeStep {
  const { running, wanted, target } = known;
  if (current.level > wanted.latest.level) return downgradeBelow(current, known);
  if (target.level < current.level && !canLower(current, target)) {
    const way = `Set it to ${current.name} or newer.`;
    return refuse('metadataVersion', `${cannotLower(current, target)} ${way}`);
  }
  const allRun = running.every(({ version }) => version === wanted.version);
  return allRun && target.level !== current.level ? run(wanted, current, target) : run(wanted, current);
}

function stepBlind(known: Known): UpgradeStep {
  const { running, wanted, target } = known;
  const lowest = running.reduce((low, one) => (one.latest.level < low.latest.level ? one : low));
  if (running.some(({ latest }) => latest.level > wanted.latest.level)) {
    const why = `Nodes run a newer Kafka than ${wanted.version}, and metadata.version could not be read; it has to be known before a downgrade.`;
    return { do: 'ask', version: running[0]!.version, metadataVersion: lowest.latest.name, why };
  }
  return run(wanted, target.level < lowest.latest.level ? target : lowest.latest);
}

function wantedMetadata(question: UpgradeQuestion, wanted: KafkaVersion): MetadataVersion | UpgradeStep {
  const name = question.wantedMetadata;
  if (name === undefined) return wanted.latest;
  const target = metadataVersionOf(name);
  const latest = `Kafka ${wanted.version} supports 3.3-IV3 to ${wanted.latest.name}.`;
  if (target === undefined) return refuse('metadataVersion', `${name} is no metadata.version. ${latest}`);
  if (target.level <= wanted.latest.level) return target;
  return refuse('metadataVersion', `${target.name} is too new. ${latest}`);
}

/** What to run and what to finalize now. Pure, and called at each reconcile: it has no state of its own. */
export function upgradeStep(question: UpgradeQuestion): UpgradeStep {
  const wanted = kafkaVersionOf(question.wanted);
  if (wanted === undefined) return unknownVersion(question.wanted);
  const target = wantedMetadata(question, wanted);
  if ('do' in target) return target;
  if (question.running.length === 0) return run(wanted, target);

  const strange = question.running.find((version) => kafkaVersionOf(version) === undefined);
  if (strange !== undefined) {
    return refuse(
      'version',
      `A node runs Kafka ${strange}, which is not supported (${supported}): it is left as it is.`,
    );
  }
  const running = question.running.map((version) => kafkaVersionOf(version)!);
  // The newest first: it is what a step back starts from.
  running.sort((a, b) => b.latest.level - a.latest.level);
  const known: Known = { running, wanted, target, explicit: question.wantedMetadata !== undefined };
  if (question.metadataLevel === undefined) return stepBlind(known);
  const current = metadataVersionAt(question.metadataLevel);
  if (current === undefined) {
    return refuse(
      'version',
      `metadata.version is at level ${question.metadataLevel}, which is not known here; use a newer Isthmus.`,
    );
  }
  return stepFrom(current, known);
}
