/** Who has a name that two want: a host name, or the name of an object. The older one, so that nothing that works is taken away. */
import { ageOf } from '../../../kube/object.ts';
import { createHostIndex } from './host-index.ts';
import type { HostIndex, TakenHost } from './host-index.ts';
import { byAge } from './cluster.ts';
import type { ClusterIngress, EvaluatedCluster } from './cluster.ts';
import { clusterServiceName, sharedServiceName } from '../names.ts';
import type { Live } from '../observed.ts';
import type { EvaluatedIngress, PlacelessFault } from './platform.ts';

/**
 * Of two virtual clusters that would have the same host name, or objects of the same name (`a-b` at `c`, and `a` at `b-c`), the
 * older one has it; the other gets a fault.
 */
export function withoutHostConflicts(
  clusters: readonly EvaluatedCluster[],
  ingresses: readonly EvaluatedIngress[],
  live: Names,
): EvaluatedCluster[] {
  const objects = new Map<string, string>();
  const hosts = createHostIndex();
  for (const { ingress, model } of ingresses) {
    const { name } = ingress.metadata;
    if (model && model.by !== 'clusterIP')
      objects.set(`Service "${sharedServiceName(name)}"`, `KafkaProxyIngress "${name}"`);
  }
  const conflicts = new Map<ClusterIngress, NameFault>();
  for (const { cluster, ingresses: own } of clusters.toSorted(byAge)) {
    const { name } = cluster.metadata;
    const age = ageOf(cluster.metadata);
    const holder = `VirtualKafkaCluster "${name}"`;
    for (const one of own) {
      const object = objectName(name, one);
      const fault = objectFault(object, objects) ?? ownFault(one) ?? hostFault(one, age, hosts, live);
      if (fault) conflicts.set(one, fault);
      else {
        if (object !== undefined) objects.set(object, holder);
        for (const host of hostNames(one)) hosts.add(host, { holder, age });
      }
    }
  }
  return clusters.map((cluster) => withFaults(cluster, conflicts));
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
type Names = Pick<Live, 'hostsElsewhere' | 'tlsRoutes'>;

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

function hostFault(entry: ClusterIngress, age: string, hosts: HostIndex, live: Names): NameFault | undefined {
  for (const name of hostNames(entry)) {
    const taken = hosts.find(name) ?? elderOf(name, age, entry, live);
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
function elderOf(
  name: string,
  age: string,
  { model, hosts }: ClusterIngress,
  { hostsElsewhere, tlsRoutes }: Names,
): TakenHost | undefined {
  const other = hostsElsewhere.find(name);
  // A router decides itself who gets a Route's.
  if (!other || model?.by === 'route') return undefined;
  if (model?.by !== 'gateway') return other.age < age ? other : undefined;
  if (!hosts.includes(name)) return undefined;
  const route = tlsRoutes.find(({ spec }) => spec.hostnames?.includes(name));
  return !route || other.age < ageOf(route.metadata) ? other : undefined;
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
