/** Reads all that decisions about one Redpanda cluster depend on, from caches. */
import { isBeingDeleted, keyOf, nameOfKey } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { redpandaCluster } from '../../resources/redpanda/cluster.ts';
import type { RedpandaCluster } from '../../resources/redpanda/cluster.ts';
import { read } from '../kernel/read.ts';
import { createHostIndex } from '../shared/host-index.ts';
import { policiesSeen } from '../shared/name-policy.ts';
import { addPublished } from '../shared/published-names.ts';
import type { Watched } from '../kernel/watches.ts';
import { portsOfNode } from '../brokers/expose/ports.ts';
import type { Acted } from './act.ts';
import { portsIn } from './anchor.ts';
import { isManaged } from './front/cluster.ts';
import { hostsOf, recordedNames } from './granted-names.ts';
import type { NameSight } from './granted-names.ts';
import { anchorName, clusterOf, externalName } from './names.ts';
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
  /** What is written down of it, also of one of the same name that is gone. */
  anchor: AnyObject | undefined;
  /** Whether anything can be written down. */
  hasAnchors: boolean;
  /** Ports of the nodes that others have: other clusters, as they wrote down, and their pods. */
  otherHostPorts: ReadonlySet<number>;
  dnsEndpoint: AnyObject | undefined;
  /** Whether there is somebody who publishes names. */
  dns: 'present' | 'absent' | 'unknown';
  names: NameSight;
  acted: Acted | undefined;
}

export function observeCluster(
  { views, undiscovered }: Pick<Watched<RedpandaViews>, 'views' | 'undiscovered'>,
  key: string,
  acted: Acted | undefined,
): Observed {
  const { namespace = '', name } = nameOfKey(key);
  const found = views.clusters?.get(key);
  const anchor = views.anchors?.get(keyOf({ namespace, name: anchorName(name) }));
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
    anchor,
    hasAnchors: views.anchors !== undefined,
    otherHostPorts: hostPortsOfOthers(views, key, anchor),
    dnsEndpoint: views.dnsEndpoints?.get(external),
    dns: views.dnsEndpoints ? 'present' : undiscovered.has('dnsEndpoints') ? 'unknown' : 'absent',
    names: namesSeen({ views, undiscovered }, namespace, key),
    acted,
  };
}

function hostPortsOfOthers(
  { anchors, pods }: RedpandaViews,
  key: string,
  own: AnyObject | undefined,
): Set<number> {
  const others = (anchors?.list() ?? []).filter(({ metadata }) => metadata.uid !== own?.metadata.uid);
  const foreign = pods.list().filter((pod) => !clusterOf(pod).includes(key));
  return new Set([...others.flatMap((one) => Object.values(portsIn(one))), ...foreign.flatMap(portsOfNode)]);
}

function namesSeen(
  { views, undiscovered }: Pick<Watched<RedpandaViews>, 'views' | 'undiscovered'>,
  namespace: string,
  key: string,
): NameSight {
  const policies = policiesSeen(views.namePolicies?.list() ?? [], undiscovered.has('namePolicies'));
  const labelsOf = (one: string) => views.namespaces.get(one)?.metadata.labels ?? {};
  const { name } = nameOfKey(key);
  const own = keyOf({ namespace, name: externalName(name) });
  return {
    ...policies,
    namespaceLabels: labelsOf(namespace),
    grantsBeside: views.statefulSets.list(namespace).flatMap((set) => {
      const names = keyOf(set.metadata) === key ? undefined : recordedNames(set);
      const { replicas = 0 } = (set['spec'] ?? {}) as { replicas?: number };
      return names ? [hostsOf(names, replicas)] : [];
    }),
    published: () =>
      addPublished(
        createHostIndex(),
        (views.dnsEndpoints?.list() ?? []).filter(({ metadata }) => keyOf(metadata) !== own),
        policies,
        labelsOf,
      ),
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
