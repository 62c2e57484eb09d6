/** Why a node has to be restarted: what it should be beside what its pod says it is. */
import type { RestartWhy } from '../../../pki/bundle.ts';
import { NODE_ANNOTATIONS, TOLD_ADDRESS_ANNOTATION } from '../../shared/node-annotations.ts';
import {
  MANUAL_ROLL_ANNOTATION,
  NEW_DISKS_ANNOTATION,
  REVISION_ANNOTATION,
  VERSION_ANNOTATION,
} from '../model/names.ts';
import type { ConfigChange } from './config-change.ts';
import type { PodFacts } from './pod-facts.ts';

/** Strimzi's names, so that whoever watches its events finds the same ones here. */
export type RestartReasonName =
  | 'POD_HAS_OLD_REVISION'
  | 'CA_CERT_HAS_OLD_GENERATION'
  | 'CLUSTER_CA_CERT_KEY_REPLACED'
  | 'KAFKA_CERTIFICATES_CHANGED'
  | 'CONFIG_CHANGE_REQUIRES_RESTART'
  | 'FILE_SYSTEM_RESIZE_NEEDED'
  | 'NODE_ADDRESS_CHANGED'
  | 'MANUAL_ROLLING_UPDATE'
  | 'POD_AND_PVC_DELETION'
  | 'POD_STUCK';

export interface RestartReason {
  name: RestartReasonName;
  note: string;
}

/** What a node should be. Annotations are those that its pod would be created with now; one left out is not compared. */
export interface WantedNode {
  annotations: Readonly<Record<string, string>>;
  /** What of its configuration differs; undefined where that could not be asked for. */
  config: ConfigChange | undefined;
  /** What of its certificates it can load by a restart only, where that is due. */
  certificates: RestartWhy | undefined;
  /** Clients are told the address of its node, as it was when the process began. */
  tellsAddress: boolean;
  /** Of the controllers that it was told of too few stay. */
  knowsTooFew?: boolean;
  /** A claim of it waits for a restart to grow its file system. */
  resizePending: boolean;
  /**
   * The uids that the pods had when the annotation on their set was first seen, written down then: the annotation
   * cannot say by itself which pods were restarted since, and clocks of different machines cannot either.
   */
  manualUids: ReadonlySet<string>;
}

const COMPARED: readonly [annotation: string, reason: RestartReasonName, what: string][] = [
  [REVISION_ANNOTATION, 'POD_HAS_OLD_REVISION', 'its pod was made from an older template'],
  [VERSION_ANNOTATION, 'POD_HAS_OLD_REVISION', 'it runs another version of Kafka'],
];

const CERTIFICATES: Record<RestartWhy, RestartReason> = {
  'keys changed': {
    name: 'CLUSTER_CA_CERT_KEY_REPLACED',
    note: 'the key of the cluster CA is being replaced',
  },
  'authority renewed': { name: 'CA_CERT_HAS_OLD_GENERATION', note: 'the cluster CA was renewed' },
  'certificate renewed': { name: 'KAFKA_CERTIFICATES_CHANGED', note: 'its certificate was renewed' },
};

function differences(wanted: WantedNode['annotations'], live: WantedNode['annotations']): RestartReason[] {
  return COMPARED.flatMap(([annotation, name, what]) => {
    const [from, to] = [live[annotation], wanted[annotation]];
    if (to === undefined || from === to) return [];
    return [{ name, note: `${what} (${from ?? 'none'} → ${to})` }];
  });
}

/** None while the node has no address: a broker that runs and tells a former one is better than one that does not start. */
export function addressReasons(live: WantedNode['annotations']): RestartReason[] {
  const [told, now] = [live[TOLD_ADDRESS_ANNOTATION], live[NODE_ANNOTATIONS.address]];
  if (told === undefined || now === undefined || told === now) return [];
  return [{ name: 'NODE_ADDRESS_CHANGED', note: `its clients are told a former address of its node (${told} → ${now})` }]; // prettier-ignore
}

/**
 * All reasons to restart a node, none where it is as it should be. A pod that is stuck is no reason by itself: made
 * anew from the same template it would be stuck again.
 */
export function restartReasons(wanted: WantedNode, pod: PodFacts): RestartReason[] {
  const reasons = differences(wanted.annotations, pod.annotations);
  if (wanted.config?.kind === 'restart') {
    const note = `Kafka takes these only at its start: ${wanted.config.keys.join(', ')}`;
    reasons.push({ name: 'CONFIG_CHANGE_REQUIRES_RESTART', note });
  }
  if (wanted.knowsTooFew) {
    const note = 'of the controllers that it knows by its configuration too few stay';
    reasons.push({ name: 'CONFIG_CHANGE_REQUIRES_RESTART', note });
  }
  if (wanted.certificates) reasons.push(CERTIFICATES[wanted.certificates]);
  if (wanted.tellsAddress) reasons.push(...addressReasons(pod.annotations));
  if (wanted.resizePending) {
    reasons.push({
      name: 'FILE_SYSTEM_RESIZE_NEEDED',
      note: 'a volume grows its file system at the next start',
    });
  }
  if (pod.annotations[MANUAL_ROLL_ANNOTATION] === 'true' || wanted.manualUids.has(pod.uid)) {
    reasons.push({ name: 'MANUAL_ROLLING_UPDATE', note: `asked for by ${MANUAL_ROLL_ANNOTATION}` });
  }
  if (pod.annotations[NEW_DISKS_ANNOTATION] === 'true') {
    reasons.push({ name: 'POD_AND_PVC_DELETION', note: `asked for by ${NEW_DISKS_ANNOTATION}` });
  }
  if (reasons.length > 0 && pod.stuck !== undefined) reasons.push({ name: 'POD_STUCK', note: pod.stuck });
  return reasons;
}

/** The reason of the event, as Strimzi spells it: `PodHasOldRevision`. */
export function eventReason({ name }: RestartReason): string {
  return name
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join('');
}
