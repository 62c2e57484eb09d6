/** Who has a name that two want: a host name, or the name of an object. The older one, so that nothing that works is taken away. */
import { ageOf } from './age.ts';
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
  const holders = new Map<string, string>();
  for (const { ingress, way } of ingresses) {
    const { name } = ingress.metadata;
    if (way && way.by !== 'clusterIP')
      holders.set(`Service "${sharedServiceName(name)}"`, `KafkaProxyIngress "${name}"`);
  }
  const byAge = clusters.toSorted((a, b) => (ageOf(a.cluster.metadata) < ageOf(b.cluster.metadata) ? -1 : 1));
  for (const { cluster, entries } of byAge) {
    const { name } = cluster.metadata;
    for (const [index, entry] of entries.entries()) {
      addElders(holders, ageOf(cluster.metadata), entry, live);
      const claims = claimedNames(name, entry);
      const lost = claims.find((claim) => holders.has(claim));
      if (lost === undefined) {
        for (const claim of claims) holders.set(claim, `VirtualKafkaCluster "${name}"`);
        continue;
      }
      const reason = lost.startsWith(HOST) ? 'HostNameTaken' : 'NameTaken';
      const message = `${lost} belongs to ${holders.get(lost)}, which came first; choose other names or address patterns`;
      entry.faults.push({ reason, path: ['spec', 'ingresses', index], message });
    }
  }
}

/**
 * Adds those of other proxies that have a host name of this entry, and had it first. At a Gateway the older route counts, and
 * where there is none of ours yet, any other is older.
 */
function addElders(holders: Map<string, string>, age: string, entry: JudgedEntry, live: Live): void {
  for (const host of hostClaims(entry)) {
    const other = live.hostsElsewhere.get(host);
    if (!other) continue;
    const route = live.tlsRoutes.find(({ spec }) => spec.hostnames?.includes(host));
    const since = entry.way?.by === 'gateway' ? route && ageOf(route.metadata) : age;
    if (since === undefined || since > other.age) holders.set(`${HOST} ${host}`, other.holder);
  }
}

const HOST = 'the host name';

/** The host names, and the pattern of the brokers' for nodes yet to come. A router decides itself who gets a Route's. */
function hostClaims({ way, address, hosts }: JudgedEntry): string[] {
  if (address?.by !== 'sni' || way?.by === 'route') return [];
  return [...hosts, address.brokerPattern];
}

function claimedNames(cluster: string, entry: JudgedEntry): string[] {
  const { name, address, hosts } = entry;
  if (!address) return [];
  const own = clusterServiceName(cluster, name);
  if (address.by === 'port') return [`Service "${own}"`];
  const names = new Set([...hosts, ...hostClaims(entry)]);
  return [`the prefix "${own}" of routes and records`, ...[...names].map((host) => `${HOST} ${host}`)];
}
