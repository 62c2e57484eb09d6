/** Who has a name that two want: a host name, or the name of an object. Who had it first, so that nothing that works is taken away. */
import { createHostIndex } from '../../shared/host-index.ts';
import type { HostIndex, TakenHost } from '../../shared/host-index.ts';
import { claimedHosts, grantHosts, grantOf, hostRank, routeRank } from './host-grants.ts';
import type { HostGrant, HostGrants } from './host-grants.ts';
import type { ClusterIngress, EvaluatedCluster } from './cluster.ts';
import { createHostPolicy } from '../../shared/host-policy.ts';
import { clusterServiceName, sharedServiceName } from '../names.ts';
import type { Live } from '../observed.ts';
import type { EvaluatedIngress, PlacelessFault } from './platform.ts';

/**
 * Of two virtual clusters that would have the same host name, or objects of the same name (`a-b` at `c`, and `a` at `b-c`), the
 * one has it that was granted it first, or else the older one; the other gets a fault.
 */
export function withoutHostConflicts(
  clusters: readonly EvaluatedCluster[],
  ingresses: readonly EvaluatedIngress[],
  live: Names,
  { granted, now }: { granted: HostGrants; now: number },
): { clusters: EvaluatedCluster[]; hostNames: HostGrant[] } {
  const objects = new Map<string, string>();
  const hosts = createHostIndex();
  for (const { ingress, model } of ingresses) {
    const { name } = ingress.metadata;
    if (model && model.by !== 'clusterIP')
      objects.set(`Service "${sharedServiceName(name)}"`, `KafkaProxyIngress "${name}"`);
  }
  const policy = createHostPolicy(clusters[0]?.cluster.metadata.namespace ?? '', live);
  const conflicts = new Map<ClusterIngress, NameFault>();
  for (const { name, one, rank, claimed, isGranted } of byRank(clusters, granted)) {
    const holder = `VirtualKafkaCluster "${name}"`;
    const object = objectName(name, one);
    const fault =
      objectFault(object, objects) ??
      ownFault(one) ??
      (claimed && policy.faultOf(claimed, isGranted)) ??
      hostFault(one, rank, hosts, live);
    if (fault) conflicts.set(one, fault);
    else {
      if (object !== undefined) objects.set(object, holder);
      for (const host of hostNames(one)) hosts.add(host, { holder, rank });
      if (claimed) policy.take(claimed);
    }
  }
  const hostGrants = grantHosts(clusters, (one) => conflicts.has(one), granted, now);
  return { clusters: clusters.map((cluster) => withFaults(cluster, conflicts)), hostNames: hostGrants };
}

/** The ingresses of all virtual clusters, in the order in which they get their names. */
function byRank(clusters: readonly EvaluatedCluster[], granted: HostGrants) {
  const entries = clusters.flatMap(({ cluster: { metadata }, ingresses }) =>
    ingresses.map((one) => {
      const claimed = claimedHosts(one);
      const grant = claimed && grantOf(granted, metadata.name, claimed);
      const rank = hostRank(metadata, grant?.since);
      const all = claimed && { ...grant, ...claimed };
      return { name: metadata.name, one, rank, claimed: all, isGranted: grant !== undefined };
    }),
  );
  return entries.toSorted((a, b) => (a.rank === b.rank ? 0 : a.rank < b.rank ? -1 : 1));
}

function withFaults(
  evaluated: EvaluatedCluster,
  conflicts: ReadonlyMap<ClusterIngress, NameFault>,
): EvaluatedCluster {
  const ingresses = evaluated.ingresses.map((one, index) => {
    const conflict = conflicts.get(one);
    if (!conflict) return one;
    return { ...one, faults: [...one.faults, { ...conflict, path: ['spec', 'ingresses', index] }] };
  });
  return { ...evaluated, ingresses };
}

type NameFault = PlacelessFault;
type Names = Pick<
  Live,
  'hostsElsewhere' | 'tlsRoutes' | 'namePolicies' | 'unreadablePolicies' | 'namespaceLabels' | 'grantsBeside'
>;

const ADVICE = 'choose other names or address patterns';

function objectFault(name: string | undefined, holders: ReadonlyMap<string, string>): NameFault | undefined {
  const holder = name === undefined ? undefined : holders.get(name);
  if (holder === undefined) return undefined;
  return { reason: 'NameTaken', message: `${name} belongs to ${holder}, which came first; ${ADVICE}` };
}

/** Whoever asks for a broker by a name that is for bootstrapping, too, would get any of them. One that is alone is the right one. */
function ownFault({ address, hosts: [bootstrap, ...brokers] }: ClusterIngress): NameFault | undefined {
  if (address?.by !== 'sni' || bootstrap === undefined || brokers.length < 2) return undefined;
  if (!brokers.includes(bootstrap)) return undefined;
  const message = `the host name ${bootstrap} is to bootstrap from, and is also that of a broker; ${ADVICE}`;
  return { reason: 'HostNameTaken', message };
}

function hostFault(
  entry: ClusterIngress,
  rank: string,
  hosts: HostIndex,
  live: Names,
): NameFault | undefined {
  for (const name of hostNames(entry)) {
    const taken = hosts.find(name) ?? earlierOf(name, rank, entry, live);
    if (!taken) continue;
    const { host, holder } = taken;
    const which = host === name ? host : `${host}, which ${name} stands for, too,`;
    const message = `the host name ${which} belongs to ${holder}, which came first; ${ADVICE}`;
    return { reason: 'HostNameTaken', message };
  }
  return undefined;
}

/**
 * Who has a host name of this entry at another proxy, and had it first. At a Gateway the older route counts, and where there is
 * none of ours yet, any other is older; names of brokers to come are nobody's there before they have one.
 */
function earlierOf(
  name: string,
  rank: string,
  { model, hosts }: ClusterIngress,
  { hostsElsewhere, tlsRoutes }: Names,
): TakenHost | undefined {
  const other = hostsElsewhere.find(name);
  // A router decides itself who gets a Route's.
  if (!other || model?.by === 'route') return undefined;
  if (model?.by !== 'gateway') return other.rank < rank ? other : undefined;
  if (!hosts.includes(name)) return undefined;
  const route = tlsRoutes.find(({ spec }) => spec.hostnames?.includes(name));
  return !route || other.rank < routeRank(route.metadata) ? other : undefined;
}

/** The host names, and the pattern of the brokers' for nodes yet to come. */
function hostNames({ address, hosts }: ClusterIngress): string[] {
  return address?.by === 'sni' ? [...new Set([...hosts, address.brokerPattern])] : [];
}

function objectName(cluster: string, { name, address }: ClusterIngress): string | undefined {
  if (!address) return undefined;
  const own = clusterServiceName(cluster, name);
  return address.by === 'port' ? `Service "${own}"` : `the prefix "${own}" of routes and records`;
}
