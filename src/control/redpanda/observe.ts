/** Reads all that decisions about one Redpanda cluster depend on, from caches. */
import { isBeingDeleted, keyOf, nameOfKey } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { redpandaCluster } from '../../resources/redpanda/cluster.ts';
import type { RedpandaCluster } from '../../resources/redpanda/cluster.ts';
import { read } from '../kernel/read.ts';
import type { Watched } from '../kernel/watches.ts';
import type { Acted } from './act.ts';
import { isManaged } from './front/cluster.ts';
import { externalName } from './names.ts';
import type { RedpandaViews } from './watches.ts';

export interface Observed {
  namespace: string;
  name: string;
  /** Undefined if there is none that can be read, or it is not ours, or it goes. */
  cluster: RedpandaCluster | undefined;
  /** Why it cannot be read. */
  problem: string | undefined;
  generation: number | undefined;
  statefulSet: AnyObject | undefined;
  /** By name. */
  pods: readonly AnyObject[];
  /** The Service that keeps the port of the nodes. */
  externalService: AnyObject | undefined;
  dnsEndpoint: AnyObject | undefined;
  /** Whether there is somebody who publishes names. */
  dns: 'present' | 'absent' | 'unknown';
  acted: Acted | undefined;
}

export function observeCluster(
  { views, undiscovered }: Pick<Watched<RedpandaViews>, 'views' | 'undiscovered'>,
  key: string,
  acted: Acted | undefined,
): Observed {
  const { namespace = '', name } = nameOfKey(key);
  const found = views.clusters?.get(key);
  const external = keyOf({ namespace, name: externalName(name) });
  const isOurs = found !== undefined && isManaged(found) && !isBeingDeleted(found);
  const { resource, problem } = isOurs ? read(redpandaCluster, found) : {};
  return {
    namespace,
    name,
    cluster: resource,
    problem,
    generation: found?.metadata.generation,
    statefulSet: views.statefulSets.get(key),
    pods: podsOf(views, key),
    externalService: views.services.get(external),
    dnsEndpoint: views.dnsEndpoints?.get(external),
    dns: views.dnsEndpoints ? 'present' : undiscovered.has('dnsEndpoints') ? 'unknown' : 'absent',
    acted,
  };
}

/** The pods of the StatefulSet, by name: anybody may label theirs like these. */
export function podsOf({ pods, statefulSets }: RedpandaViews, key: string): AnyObject[] {
  const set = statefulSets.get(key)?.metadata.uid;
  const isOurs = ({ metadata }: AnyObject) =>
    (metadata.ownerReferences ?? []).some(({ controller, uid }) => controller === true && uid === set);
  return pods
    .find('cluster', key)
    .filter(isOurs)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}
