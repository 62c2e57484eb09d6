/** Reads all that decisions about one Redpanda cluster depend on, from caches. */
import { isBeingDeleted, keyOf, nameOfKey } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { redpandaCluster } from '../../resources/redpanda/cluster.ts';
import type { RedpandaCluster } from '../../resources/redpanda/cluster.ts';
import { read } from '../kernel/read.ts';
import { createHostIndex } from '../shared/host-index.ts';
import { mayClaim, namespaceOf, policiesSeen } from '../shared/name-policy.ts';
import { addPublished } from '../shared/published-names.ts';
import type { Watched } from '../kernel/watches.ts';
import { hostsOf } from '../brokers/expose/grants.ts';
import type { NameSight } from '../brokers/expose/grants.ts';
import { promisedToOthers } from '../brokers/expose/promised.ts';
import type { OthersGrant, Promises } from '../brokers/expose/promised.ts';
import { portsOfNode } from '../brokers/expose/ports.ts';
import type { Acted } from './act.ts';
import { portsIn } from './anchor.ts';
import { isManaged } from './front/cluster.ts';
import { anchorName, clusterOf, externalName, isOfRedpanda } from './names.ts';
import { recordedNames } from './recorded-names.ts';
import type { Recorded } from './recorded-names.ts';
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
  now: number;
}

type Brought = Pick<Observed, 'acted' | 'now'> & {
  /** Names that are about to be written down, so that none is given twice. */
  promised: Promises;
};

export function observeCluster(
  { views, undiscovered }: Pick<Watched<RedpandaViews>, 'views' | 'undiscovered'>,
  key: string,
  brought: Brought,
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
    names: namesSeen({ views, undiscovered }, key, brought),
    acted: brought.acted,
    now: brought.now,
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
  key: string,
  { promised, now }: Brought,
): NameSight {
  const { namespace = '', name } = nameOfKey(key);
  const policies = policiesSeen(views.namePolicies?.list() ?? [], undiscovered.has('namePolicies'));
  const labelsOf = (one: string) => views.namespaces.get(one)?.metadata.labels ?? {};
  const isWritten = (one: AnyObject) =>
    isOfRedpanda(one) && clusterOf(one).some((of) => of === key || recordOf(views, of, now) !== undefined);
  const mayHave = ({ cluster, ...grant }: OthersGrant) => {
    const claimant = { namespace: namespaceOf(cluster.namespace, labelsOf(cluster.namespace)) };
    const { bootstrap, brokers } = hostsOf(grant);
    return [bootstrap, brokers].every(
      (host) =>
        mayClaim(policies.namePolicies, { name: host, claimant }, policies.unreadablePolicies).allowed,
    );
  };
  return {
    others: [
      // Nobody keeps a name from its owner by an annotation.
      ...namesOfOthers(views, key, now).filter((one) => !one.isUnproven || mayHave(one)),
      ...promisedToOthers(promised, { kind: 'Redpanda cluster', namespace, name }),
    ],
    ...policies,
    namespaceLabels: labelsOf(namespace),
    published: () =>
      addPublished(
        createHostIndex(),
        // Who has those of Redpanda clusters is written down.
        (views.dnsEndpoints?.list() ?? []).filter((one) => !isWritten(one)),
        policies,
        labelsOf,
      ),
  };
}

/** What is written down of a Cluster that is still there: an anchor outlives its own, and then nobody claims its names. */
function recordOf(
  { clusters, anchors, statefulSets }: RedpandaViews,
  key: string,
  now: number,
): Recorded | undefined {
  const found = clusters?.get(key);
  const { namespace = '', name } = nameOfKey(key);
  const anchor = anchors?.get(keyOf({ namespace, name: anchorName(name) }));
  return found && recordedNames(anchor, statefulSets.get(key), found.metadata.uid, now);
}

const namesOfOthers = (views: RedpandaViews, own: string, now: number): OthersGrant[] =>
  (views.clusters?.list() ?? []).flatMap(({ metadata: { namespace = '', name } }): OthersGrant[] => {
    const key = keyOf({ namespace, name });
    const { grant, by } = (key === own ? undefined : recordOf(views, key, now)) ?? {};
    const cluster = { kind: 'Redpanda cluster' as const, namespace, name };
    return grant ? [{ ...grant, cluster, isUnproven: by === 'annotation' }] : [];
  });

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
