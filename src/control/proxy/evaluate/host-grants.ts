/**
 * Since when virtual clusters have their host names. It is kept in the status of their KafkaProxy: who was granted a name first has it for as
 * long as it claims it, and the age of a VirtualKafkaCluster counts only among those that were never granted theirs.
 */
import { ageOf } from '../../../kube/object.ts';
import type { ObjectMeta } from '../../../kube/object.ts';
import { timestamp } from '../../../kube/write/conditions.ts';
import type { KafkaProxy } from '../../../resources/kroxylicious/kafka-proxy.ts';
import type { ClusterIngress, EvaluatedCluster } from './cluster.ts';

export type HostGrant = NonNullable<NonNullable<KafkaProxy['status']>['hostNames']>[number];

/** The first in this order has a host name that several claim; see `HostHolder`. */
export function hostRank(metadata: ObjectMeta, since: string | undefined): string {
  const { namespace = '', name } = metadata;
  return since === undefined ? `1 ${ageOf(metadata)}` : `0 ${since} ${namespace}/${name}`;
}

/** A route is at its Gateway since it was made. */
export function routeRank(route: ObjectMeta): string {
  return `0 ${ageOf(route)}`;
}

/** Grants by virtual cluster and ingress. */
export type HostGrants = ReadonlyMap<string, HostGrant>;

export function indexGrants(grants: readonly HostGrant[] | undefined): HostGrants {
  return new Map(grants?.map((grant) => [keyOf(grant), grant]));
}

const keyOf = ({ virtualCluster, ingress }: Pick<HostGrant, 'virtualCluster' | 'ingress'>) =>
  `${virtualCluster} ${ingress}`;

/** The grant of just these host names to one ingress of a virtual cluster. */
export function grantOf(
  grants: HostGrants,
  virtualCluster: string,
  { ingress, bootstrap, brokers }: Pick<HostGrant, 'ingress' | 'bootstrap' | 'brokers'>,
): HostGrant | undefined {
  const grant = grants.get(keyOf({ virtualCluster, ingress }));
  return grant?.bootstrap === bootstrap && grant.brokers === brokers ? grant : undefined;
}

/** The host names of an ingress of a virtual cluster. */
export type ClaimedHosts = Pick<HostGrant, 'ingress' | 'bootstrap' | 'brokers' | 'count'>;

/** Undefined if it has none, or they are not known. Without a count its brokers are not known: then the one of before holds. */
export function claimedHosts({ name: ingress, address, hosts }: ClusterIngress): ClaimedHosts | undefined {
  const [bootstrap] = hosts;
  if (address?.by !== 'sni' || bootstrap === undefined) return undefined;
  const count = hosts.length > 1 ? { count: new Set(hosts).size } : {};
  return { ingress, bootstrap, brokers: address.brokerPattern, ...count };
}

/**
 * The grants to be written: to all who have no conflict, since now if they are new. Of an ingress whose host names are not known at
 * the moment the grant stays: it goes with its virtual cluster, or when that no longer names the ingress.
 */
export function grantHosts(
  clusters: readonly EvaluatedCluster[],
  isRefused: (ingress: ClusterIngress) => boolean,
  before: HostGrants,
  now: number,
): HostGrant[] {
  const grants = clusters.flatMap(({ cluster: { metadata }, ingresses }) =>
    ingresses.flatMap((one): HostGrant[] => {
      const virtualCluster = metadata.name;
      const claimed = claimedHosts(one);
      if (!claimed && !one.address)
        return [before.get(keyOf({ virtualCluster, ingress: one.name })) ?? []].flat();
      if (!claimed || isRefused(one)) return [];
      const since = timestamp(new Date(now));
      return [{ virtualCluster, since, ...grantOf(before, virtualCluster, claimed), ...claimed }];
    }),
  );
  return grants.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
