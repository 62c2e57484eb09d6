/** What is seen of one Kafka in the other Kubernetes clusters. */
import { keyOf } from '../../../kube/object.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { kafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import type { KafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import { serviceExport } from '../../../resources/multicluster/service-export.ts';
import { strimziPodSet } from '../../../resources/strimzi/strimzi-pod-set.ts';
import { LOCAL } from '../../kernel/plan.ts';
import { read } from '../../kernel/read.ts';
import type { Remote, Remotes, Sight } from '../../kernel/remotes.ts';
import { portsWritten } from '../expose/ports.ts';
import { POOL_LABEL, anchorName, kafkaOf } from '../model/names.ts';
import type { TargetViews } from './watches.ts';

/** One Kubernetes cluster besides the central one. What is in it may be of a while ago where it cannot be seen now. */
export interface TargetSight {
  sight: Sight;
  /** Of this Kafka; undefined if there is none. */
  anchor: KafkaAnchor | undefined;
  /** Why the anchor that is there cannot be read. */
  anchorProblem: string | undefined;
  podSets: readonly AnyObject[];
  pods: readonly AnyObject[];
  claims: readonly AnyObject[];
  services: readonly AnyObject[];
  /** Ports of nodes that other Kafkas there have, as their anchors say. */
  otherPorts: readonly number[];
  /** In which pod sets are written there; undefined if the cluster does not have the kind. */
  podSetVersion: string | undefined;
  /** The same of ServiceExports. */
  exportVersion: string | undefined;
  /** Networks of its pods, as its nodes say; undefined where nobody may read them. */
  podNetworks: readonly string[] | undefined;
}

/** By name. */
export type TargetSights = ReadonlyMap<string, TargetSight>;

export function sightsOf(
  remotes: Remotes<TargetViews> | undefined,
  name: { namespace: string; name: string },
): TargetSights | undefined {
  return remotes && new Map(remotes.names().map((cluster) => [cluster, sightOf(remotes.get(cluster), name)]));
}

const NEVER_FOLLOWED: TargetSight = {
  sight: { isSeen: false, since: 0, problem: 'its kubeconfig cannot be used' },
  anchor: undefined,
  anchorProblem: undefined,
  podSets: [],
  pods: [],
  claims: [],
  services: [],
  otherPorts: [],
  podSetVersion: undefined,
  exportVersion: undefined,
  podNetworks: undefined,
};

function sightOf(
  remote: Remote<TargetViews> | undefined,
  { namespace, name }: { namespace: string; name: string },
): TargetSight {
  if (!remote) return NEVER_FOLLOWED;
  const { views } = remote.watched;
  const key = keyOf({ namespace, name });
  const anchor = views.anchors?.get(keyOf({ namespace, name: anchorName(name) }));
  const reading = anchor && read(kafkaAnchor, anchor);
  return {
    sight: remote.sight,
    anchor: reading?.resource,
    anchorProblem: reading?.problem,
    podSets: views.podSets?.find('kafka', key) ?? [],
    pods: views.pods.find('kafka', key),
    claims: views.claims.find('kafka', key),
    services: views.services.find('kafka', key),
    otherPorts: (views.anchors?.list() ?? [])
      .filter((one) => !kafkaOf(one).includes(key))
      .flatMap(portsWritten),
    podSetVersion: versionOf(remote, 'podSets', strimziPodSet.group),
    exportVersion: versionOf(remote, 'exports', serviceExport.group),
    podNetworks: podNetworksOf(views.nodes?.list()),
  };
}

function versionOf({ watched }: Remote<TargetViews>, view: 'podSets' | 'exports', group: string) {
  const version = watched.versionOf(view);
  return version === undefined ? undefined : `${group}/${version}`;
}

/** The networks that nodes give addresses to their pods from; undefined if nobody can say. */
export function podNetworksOf(nodes: readonly AnyObject[] | undefined): string[] | undefined {
  const networks = nodes?.flatMap(({ spec }) => (spec as { podCIDRs: string[] }).podCIDRs);
  return networks === undefined || networks.length === 0 ? undefined : [...new Set(networks)].toSorted();
}

/** Where pools were put: a pod or a set that is anywhere else is a stranger's, or of another time. */
export const isInPlace = (
  targets: ReadonlyMap<string, string>,
  cluster: string,
  { metadata }: AnyObject,
): boolean => (targets.get(metadata.labels?.[POOL_LABEL] ?? '') ?? cluster) === cluster;

/** By pool: the cluster that it is in, as it was written down. */
export const targetsOfPools = (anchor: KafkaAnchor | undefined): Map<string, string> =>
  new Map((anchor?.spec.nodes ?? []).map(({ pool, target = LOCAL }) => [pool, target]));

/** The cluster that an object was seen in. */
export function placeOf(targets: TargetSights | undefined, { metadata: { uid } }: AnyObject): string {
  const holds = ({ podSets, pods, claims }: TargetSight) =>
    [podSets, pods, claims].some((objects) => objects.some(({ metadata }) => metadata.uid === uid));
  return [...(targets ?? [])].find(([, seen]) => holds(seen))?.[0] ?? LOCAL;
}

/** Clusters of which nothing is known now, among some. */
export const unseenAmong = (targets: TargetSights | undefined, names: Iterable<string>): string[] =>
  [...names].filter((name) => name !== LOCAL && targets?.get(name)?.sight.isSeen !== true).toSorted();

/** Whether a cluster is seen to have nothing of the Kafka that would go with it: claims may stay. */
export const isClean = (seen: TargetSight | undefined): boolean =>
  seen?.sight.isSeen === true &&
  seen.anchor === undefined &&
  seen.anchorProblem === undefined &&
  seen.podSets.length + seen.pods.length === 0;
