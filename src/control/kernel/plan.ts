/** What a plan says: the one form in which every road decides. */
import type { AnyObject, ResourceType } from '../../kube/object.ts';

/**
 * Everything that is to become of one key. It is carried out in this order, and each step only if those before it succeeded:
 * what must never be forgotten is written down, objects are made, what is to be done once is done, and statuses are written.
 */
export interface Plan<Action = never> {
  /** Written first, one after the other. */
  documents?: readonly Document[];
  persist: readonly PersistedField[];
  targets: readonly Target[];
  actions: readonly Action[];
  statuses: readonly PlannedStatus[];
  /** When to look again although nothing has changed. */
  lookAgainInMs: number | undefined;
}

/** What one owner is to have in one cluster. A cluster that is not among the targets is left as it is. */
export interface Target {
  /** By name; the one that the program runs in is `LOCAL`. */
  cluster: string;
  /** On each object; nothing without these labels is touched. */
  labels: Readonly<Record<string, string>>;
  /** Where there may be objects of this owner. */
  namespaces: readonly string[];
  /** In the order in which they are to be made. */
  objects: readonly AnyObject[];
  /** Whether what the owner had before and is not among the objects goes. */
  prune: boolean;
  /** Labels of what stays all the same; `undefined` is a label that it must not have. */
  keeps?: readonly LabelSet[];
  /** What the owner may have made; all kinds that the road makes if left out. */
  kinds?: readonly ResourceType[];
}

export type LabelSet = Readonly<Record<string, string | undefined>>;

/** The cluster that the program runs in. */
export const LOCAL = 'local';

/** Names an object of a kind whose status a road writes. */
export interface StatusName {
  kind: string;
  namespace: string;
  name: string;
}

/** A status without the times of its conditions: those depend on what is there. */
export interface PlannedStatus extends StatusName {
  status: object;
  /** Whether what it does not say stays as it is. */
  keepsRest?: boolean;
  /** The types of conditions that are ours, where others write conditions too; those of others stay. */
  ownConditions?: readonly string[];
}

/** A field of a status that has to be there before anything that depends on it is: forgotten, it would go to someone else. */
export interface PersistedField extends StatusName {
  field: string;
  /** What it was when the plan was made. If it has become something else since, the plan is void. */
  seen: unknown;
  value: unknown;
}

/**
 * A whole object of ours that has to be written before anything that depends on it is: what must not be forgotten, and would not
 * survive in a status (which others may prune, and backups leave out). Never written over what the plan was not made from.
 */
export interface Document {
  /** By name; the one that the program runs in is `LOCAL`. */
  cluster: string;
  /** With the version that the plan was made from; without one it must not exist yet. */
  object: AnyObject;
}
