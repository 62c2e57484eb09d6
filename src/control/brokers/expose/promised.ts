/** Names that plans have given out, which other plans may not see written down yet: two planned at once would both get one. Pure. */
import { keyOf, nameOfKey } from '../../../kube/object.ts';
import type { NameGrant } from '../model/charter.ts';
import { isSame } from './grants.ts';

/** A cluster whose brokers have names. */
export interface ClusterName {
  /** For people. */
  kind: 'Kafka' | 'Redpanda cluster';
  namespace: string;
  name: string;
}

/** Names of another cluster. */
export interface OthersGrant extends NameGrant {
  cluster: ClusterName;
  /** Whether just an annotation says so, which many may write: it counts only against those that were granted nothing yet. */
  isUnproven?: boolean;
}

/** What was given out to one cluster, by plans that were all made from one version of what it is written down in. */
export interface Promised {
  /** Undefined: there was none. */
  version: string | undefined;
  grants: readonly NameGrant[];
}

/** By key of a cluster. */
export type PromisesOfRoad = Map<string, Promised>;

/** What all roads of a process have given out: they do not read what the others write down. */
export type Promises = Map<ClusterName['kind'], PromisesOfRoad>;

/** Those of a road that begins: what it gave out before, others may have by now. */
export function promisesOf(promises: Promises, kind: ClusterName['kind']): PromisesOfRoad {
  const own: PromisesOfRoad = new Map();
  promises.set(kind, own);
  return own;
}

/**
 * With the names of one more plan. What was given out before stays promised until the anchor is seen in another version: only one write over
 * the same version can have succeeded, nobody knows which, and whatever it was is seen then.
 */
export function promisedAlso(
  before: Promised | undefined,
  version: string | undefined,
  names: readonly NameGrant[],
): Promised {
  const earlier = before && before.version === version ? before.grants : [];
  const isNew = (grant: NameGrant) => names.every((one) => !isSame(one, grant));
  return { version, grants: [...names, ...earlier.filter(isNew)] };
}

export const promisedToOthers = (
  promises: ReadonlyMap<ClusterName['kind'], ReadonlyMap<string, Promised>>,
  own: ClusterName,
): OthersGrant[] =>
  [...promises].flatMap(([kind, ofRoad]) =>
    [...ofRoad].flatMap(([key, { grants }]) => {
      const { namespace = '', name } = nameOfKey(key);
      const isOwn = kind === own.kind && key === keyOf(own);
      return isOwn ? [] : grants.map((grant) => ({ ...grant, cluster: { kind, namespace, name } }));
    }),
  );
