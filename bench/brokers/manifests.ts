/** What the operator has made, as somebody would have written it by hand: nothing in it that only a server says. */
import type { AnyObject, ObjectMeta } from '../../src/kube/object.ts';

/** In the order in which they are applied: pods last, since they need the rest. */
const ORDER =
  'ServiceAccount NetworkPolicy PodDisruptionBudget Secret ConfigMap Service PersistentVolumeClaim Pod'.split(
    ' ',
  );

/** Pods come from their set, where they are listed as they were rendered. */
export function manifestsOf(live: readonly AnyObject[]): AnyObject[] {
  const pods = live.filter(({ kind }) => kind === 'StrimziPodSet').flatMap(podsOf);
  const others = live.filter(({ kind }) => kind !== 'Pod' && ORDER.includes(kind)).map(manifestOf);
  return [...others, ...pods].toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
}

function podsOf({ metadata: { namespace }, ...set }: AnyObject): AnyObject[] {
  const { pods } = set['spec'] as { pods: AnyObject[] };
  const home = namespace === undefined ? {} : { namespace };
  return pods.map(({ metadata, ...pod }) => ({
    ...pod,
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadataOf(metadata), ...home },
  }));
}

const metadataOf = ({ name, namespace, labels, annotations }: ObjectMeta): ObjectMeta => ({
  name,
  ...(namespace !== undefined && { namespace }),
  ...(labels && { labels }),
  ...(annotations && { annotations }),
});

function manifestOf({ status: _, metadata, ...object }: AnyObject): AnyObject {
  const manifest = { ...object, metadata: metadataOf(metadata) };
  const spec = object['spec'] as Record<string, unknown> | undefined;
  return spec === undefined ? manifest : { ...manifest, spec: specOf(spec) };
}

/** Without what is given out: the addresses of Services that have any, and the volumes of claims. */
function specOf({ volumeName: _, clusterIP, clusterIPs: __, ...spec }: Record<string, unknown>): object {
  return clusterIP === 'None' ? { ...spec, clusterIP } : spec;
}
