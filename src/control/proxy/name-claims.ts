/** Who has a name that two want: a host name, or the name of an object. The older one, so that nothing that works is taken away. */
import { ageOf } from './age.ts';
import type { Fault } from './faults.ts';
import { createHostIndex } from './host-index.ts';
import type { HostIndex, TakenHost } from './host-index.ts';
import type { JudgedCluster, JudgedEntry } from './judge.ts';
import { clusterServiceName, sharedServiceName } from './names.ts';
import type { Live } from './observed.ts';
import type { JudgedIngress } from './ways.ts';

/**
 * Of two virtual clusters that would have the same host name, or objects of the same name (`a-b` at `c`, and `a` at `b-c`), the
 * older one has it.
 */
export function settleNames(
  clusters: readonly JudgedCluster[],
  ingresses: readonly JudgedIngress[],
  live: Live,
): void {
  const objects = new Map<string, string>();
  const hosts = createHostIndex();
  for (const { ingress, way } of ingresses) {
    const { name } = ingress.metadata;
    if (way && way.by !== 'clusterIP')
      objects.set(`Service "${sharedServiceName(name)}"`, `KafkaProxyIngress "${name}"`);
  }
  const byAge = clusters.toSorted((a, b) => (ageOf(a.cluster.metadata) < ageOf(b.cluster.metadata) ? -1 : 1));
  for (const { cluster, entries } of byAge) {
    const { name } = cluster.metadata;
    const age = ageOf(cluster.metadata);
    const holder = `VirtualKafkaCluster "${name}"`;
    for (const [index, entry] of entries.entries()) {
      const object = objectClaim(name, entry);
      const fault = objectFault(object, objects) ?? ownFault(entry) ?? hostFault(entry, age, hosts, live);
      if (fault) {
        entry.faults.push({ ...fault, path: ['spec', 'ingresses', index] });
        continue;
      }
      if (object !== undefined) objects.set(object, holder);
      for (const host of hostClaims(entry)) hosts.add(host, { holder, age });
    }
  }
}

type NameFault = Omit<Fault, 'path'>;

const ADVICE = 'choose other names or address patterns';

function objectFault(claim: string | undefined, holders: ReadonlyMap<string, string>): NameFault | undefined {
  const holder = claim === undefined ? undefined : holders.get(claim);
  if (holder === undefined) return undefined;
  return { reason: 'NameTaken', message: `${claim} belongs to ${holder}, which came first; ${ADVICE}` };
}

/** Whoever asks for a broker by a name that is for bootstrapping, too, would get any of them. One that is alone is the right one. */
function ownFault({ address, hosts: [bootstrap, ...brokers] }: JudgedEntry): NameFault | undefined {
  if (address?.by !== 'sni' || bootstrap === undefined || brokers.length < 2) return undefined;
  if (!brokers.includes(bootstrap)) return undefined;
  const message = `the host name ${bootstrap} is to bootstrap from, and is also that of a broker; ${ADVICE}`;
  return { reason: 'HostNameTaken', message };
}

function hostFault(entry: JudgedEntry, age: string, hosts: HostIndex, live: Live): NameFault | undefined {
  for (const claim of hostClaims(entry)) {
    const taken = hosts.find(claim) ?? elderOf(claim, age, entry, live);
    if (!taken) continue;
    const { host, holder } = taken;
    const which = host === claim ? host : `${host}, which ${claim} stands for, too,`;
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
  claim: string,
  age: string,
  { way, hosts }: JudgedEntry,
  { hostsElsewhere, tlsRoutes }: Live,
): TakenHost | undefined {
  const other = hostsElsewhere.find(claim);
  // A router decides itself who gets a Route's.
  if (!other || way?.by === 'route') return undefined;
  if (way?.by !== 'gateway') return other.age < age ? other : undefined;
  if (!hosts.includes(claim)) return undefined;
  const route = tlsRoutes.find(({ spec }) => spec.hostnames?.includes(claim));
  return !route || other.age < ageOf(route.metadata) ? other : undefined;
}

/** The host names, and the pattern of the brokers' for nodes yet to come. */
function hostClaims({ address, hosts }: JudgedEntry): string[] {
  return address?.by === 'sni' ? [...new Set([...hosts, address.brokerPattern])] : [];
}

function objectClaim(cluster: string, { name, address }: JudgedEntry): string | undefined {
  if (!address) return undefined;
  const own = clusterServiceName(cluster, name);
  return address.by === 'port' ? `Service "${own}"` : `the prefix "${own}" of routes and records`;
}
