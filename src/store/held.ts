/** What of a folder goes on as it was last good, and since when. Pure. */
import type { EvaluatedCluster } from '../control/proxy/evaluate/cluster.ts';
import type { FolderResources } from './resources.ts';

export interface Held {
  kind: string;
  name: string;
  namespace: string;
  sinceMs: number;
}

const keyOf = ({ kind, name, namespace }: Omit<Held, 'sinceMs'>) => `${kind}/${namespace}/${name}`;

/** Resources whose file cannot be read now, and virtual clusters that lack something; `before` is what this said the last time. */
export function heldIn(
  { kept }: Pick<FolderResources, 'kept'>,
  evaluated: readonly EvaluatedCluster[],
  before: readonly Held[],
  now: number,
): Held[] {
  const since = new Map(before.map((one) => [keyOf(one), one.sinceMs]));
  const named = [
    ...[...kept].map(({ object: { kind, metadata } }) => ({ kind, ...metadata })),
    ...evaluated.filter(isHeld).map(({ cluster: { kind, metadata } }) => ({ kind, ...metadata })),
  ].map(({ kind, name, namespace = 'default' }) => ({ kind, name, namespace }));
  const distinct = new Map(named.map((one) => [keyOf(one), one]));
  return [...distinct].map(([key, one]) => ({ ...one, sinceMs: since.get(key) ?? now }));
}

const isHeld = ({ faults, filters, ingresses }: EvaluatedCluster) =>
  [...faults, ...[...filters, ...ingresses].flatMap((part) => part.faults)].some(({ held }) => held);
