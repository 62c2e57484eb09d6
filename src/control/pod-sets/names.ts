/** Labels and annotations of pod sets and their pods: spelled here and nowhere else. */
import { MANAGED_BY } from '../kernel/field-manager.ts';

/** Who writes pods, beside whoever else does. */
export const POD_FIELD_MANAGER = 'isthmus-pod-sets';

/** On a set: how often its Kafka was taken over when the set was written. */
export const EPOCH_ANNOTATION = 'isthmus.dev/epoch';
/** On a pod: how many before it ended soon after they had begun. */
export const FAILURES_ANNOTATION = 'isthmus.dev/failures';
/** On a pod, and on the same pod in the set: equal if it is as listed. */
export const REVISION_ANNOTATION = 'strimzi.io/revision';

/** The Kafka that a set belongs to. */
export const CLUSTER_LABEL = 'strimzi.io/cluster';

const CONTROLLER_LABEL = 'strimzi.io/controller';
const CONTROLLER_NAME_LABEL = 'strimzi.io/controller-name';
const CONTROLLER = 'strimzipodset';

const [[MANAGER_LABEL, MANAGER] = ['', '']] = Object.entries(MANAGED_BY);

/** Selects the sets that are ours: those of a Strimzi operator name another manager. */
export const SET_SELECTOR = `${MANAGER_LABEL}=${MANAGER}`;
/** Selects the pods of such sets. */
export const POD_SELECTOR = `${SET_SELECTOR},${CONTROLLER_LABEL}=${CONTROLLER}`;

/** On every pod of a set, whatever else it has: without them nobody would see it. */
export const podLabels = (set: string): Record<string, string> => ({
  ...MANAGED_BY,
  [CONTROLLER_LABEL]: CONTROLLER,
  [CONTROLLER_NAME_LABEL]: set,
});

/** The set that a pod says it belongs to. */
export const setNameIn = (labels: Readonly<Record<string, string>> = {}): string | undefined =>
  labels[CONTROLLER_NAME_LABEL];
