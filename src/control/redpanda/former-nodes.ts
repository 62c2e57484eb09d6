/**
 * The nodes that exposed brokers run on, so that one that is made again is rather put where it was: all others among them are taken by
 * its peers, which have the same port. They are written down in the template of the StatefulSet, and no part of a revision. Pure.
 */
import { isJsonObject } from '../../kube/json.ts';
import type { AnyObject } from '../../kube/object.ts';
import { preferring } from '../brokers/objects/former-node.ts';
import type { RedpandaModel } from './model.ts';

export interface PodSpec {
  affinity?: object;
  [field: string]: unknown;
}

/** Those of all brokers; while one runs nowhere, also those that were written down. */
export function formerNodes(
  { replicas, external }: Pick<RedpandaModel, 'replicas' | 'external'>,
  pods: readonly AnyObject[],
  statefulSet: AnyObject | undefined,
): string[] {
  if (!external) return [];
  const now = pods.flatMap(({ spec }) => (spec as { nodeName?: string }).nodeName ?? []);
  const before = now.length < replicas ? nodesIn(statefulSet) : [];
  return [...new Set([...now, ...before])].toSorted();
}

type Written = {
  template?: {
    spec?: {
      affinity?: {
        nodeAffinity?: {
          preferredDuringSchedulingIgnoredDuringExecution?: {
            preference?: { matchFields?: { values?: string[] }[] };
          }[];
        };
      };
    };
  };
};

function nodesIn(statefulSet: AnyObject | undefined): string[] {
  const spec = statefulSet?.['spec'];
  const { affinity } = ((isJsonObject(spec) ? spec : {}) as Written).template?.spec ?? {};
  const wishes = affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return wishes.flatMap(({ preference }) =>
    (preference?.matchFields ?? []).flatMap(({ values }) => values ?? []),
  );
}

/** A term for each: Kubernetes takes one name in each. */
export function preferringNodes({ affinity, ...rest }: PodSpec, nodes: readonly string[]): PodSpec {
  const all = nodes.reduce<object | undefined>((wishes, node) => preferring(wishes, node), affinity);
  return all ? { ...rest, affinity: all } : rest;
}
