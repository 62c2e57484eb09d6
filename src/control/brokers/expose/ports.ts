/**
 * Which port of the nodes a listener has. The number is written down before anything uses it and stays the cluster's for as long as
 * its anchor is there, also while the listener or the Kafka is away: clients remember it, and nobody else may answer there. Pure.
 */
import { createHash } from 'node:crypto';
import type { AnyObject } from '../../../kube/object.ts';
import type { HostPortWish } from './wish.ts';
import { hostPortServiceName, portKey } from './names.ts';

export interface PortRange {
  first: number;
  last: number;
}

/** Below the node ports of Kubernetes, and below those that the kernel gives to clients. */
export const HOST_PORTS: PortRange = { first: 20_000, last: 29_999 };
/** The same for Redpanda clusters, which do not see what Kafkas have written down. */
export const REDPANDA_HOST_PORTS: PortRange = { first: 16_000, last: 19_999 };

export interface SeenPorts {
  cluster: { namespace: string; name: string };
  /** What was written down, and has been seen to be. */
  recorded: Readonly<Record<string, number>>;
  /** By listener: the number that the API server gave to the Service that is there for nothing else. */
  given: (listener: string) => number | undefined;
  /** Whether the other Kubernetes clusters that have brokers keep this number, too; they all do where there are none. */
  isKeptElsewhere?: (listener: string, port: number) => boolean;
  /** Ports that others have: other clusters, as they wrote down, and other pods. */
  others: ReadonlySet<number>;
  /** Ports that pods of this cluster have, or are about to: their clients know them. */
  used: ReadonlySet<number>;
  range: PortRange;
}

export interface HostPorts {
  /** All that are to be written down. */
  hostPorts: ReadonlyMap<string, number>;
  /** Listeners that have none yet that can be used. */
  waiting: string[];
  /** By listener: a number that this cluster has given, and that others have still to keep. */
  proposed: ReadonlyMap<string, number>;
  /** Listeners whose Service was given a number that somebody else still has, and is to get another. */
  returned: string[];
  /** Listeners that use a port which somebody else has, too. */
  shared: { name: string; port: number }[];
}

export interface ListenerWish {
  name: string;
  wish: Pick<HostPortWish, 'strategy'>;
}

export function hostPortsOf(listeners: readonly ListenerWish[], seen: SeenPorts): HostPorts {
  const hostPorts = new Map(Object.entries(seen.recorded));
  const proposed = new Map<string, number>();
  const found: HostPorts = { hostPorts, waiting: [], proposed, returned: [], shared: [] };
  for (const { name, wish } of listeners) {
    const key = portKey(name, wish);
    const recorded = hostPorts.get(key);
    const isShared = recorded !== undefined && seen.others.has(recorded);
    if (isShared && seen.used.has(recorded)) found.shared.push({ name, port: recorded });
    if (wish.strategy === 'range') {
      if (recorded !== undefined && (!isShared || seen.used.has(recorded))) continue;
      found.waiting.push(name);
      const port = chosen(`${key}${isShared ? ` not ${recorded}` : ''}`, new Set(hostPorts.values()), seen);
      if (port !== undefined) hostPorts.set(key, port);
    } else if (recorded === undefined) {
      const given = seen.given(name);
      const isFree = given !== undefined && !seen.others.has(given);
      // Brokers of all clusters have the one number, or clients could not begin at one name.
      if (isFree && (seen.isKeptElsewhere?.(name, given) ?? true)) hostPorts.set(key, given);
      else found.waiting.push(name);
      if (isFree) proposed.set(name, given);
      else if (given !== undefined) found.returned.push(name);
    }
  }
  return found;
}

/** What the Services of a Kafka were given. */
export const givenTo =
  (cluster: string, services: readonly AnyObject[]): SeenPorts['given'] =>
  (listener) => {
    const name = hostPortServiceName(cluster, listener);
    const found = services.find(({ metadata }) => metadata.name === name);
    const { ports } = (found?.['spec'] ?? {}) as { ports?: { nodePort?: number }[] };
    return ports?.[0]?.nodePort || undefined;
  };

/**
 * The first free one from a place of the cluster's own. Two that choose at the same time may choose the same: so a choice is used only
 * once it is seen to be written down. Of two anchors, whoever wrote later then sees the other's, too, and chooses again, from another place;
 * whoever wrote first may have begun to use it, and keeps it.
 */
function chosen(
  key: string,
  own: ReadonlySet<number>,
  { cluster, others, range: { first, last } }: SeenPorts,
): number | undefined {
  const size = last - first + 1;
  const digest = createHash('sha256').update(`${cluster.namespace}/${cluster.name}/${key}`).digest();
  const begin = digest.readUInt32BE() % size;
  for (let step = 0; step < size; step++) {
    const port = first + ((begin + step) % size);
    if (!others.has(port) && !own.has(port)) return port;
  }
  return undefined;
}

/** Why an API server does not let a Service have a number. */
const REFUSED_PORT =
  /nodePort: Invalid value: (\d{1,5}): provided port is (?:already allocated|not in the valid range)/;

/** Numbers that other clusters have refused to keep. */
export const refusedPorts = (faults: Iterable<readonly { message: string }[]>): number[] =>
  [...faults].flat().flatMap(({ message }) => {
    const port = REFUSED_PORT.exec(message)?.[1];
    return port === undefined ? [] : [Number(port)];
  });

/** The ports of its node that a pod has. */
export function portsOfNode({ spec }: Readonly<Record<string, unknown>>): number[] {
  type Spec = { containers?: { ports?: { hostPort?: number }[] }[] };
  const { containers } = (spec ?? {}) as Spec;
  const ports = Array.isArray(containers) ? containers.flatMap((one) => one.ports ?? []) : [];
  return ports.flatMap(({ hostPort }) => hostPort || []);
}

/** Not read as a whole: all anchors are looked at for each Kafka. */
export function portsWritten({ spec }: AnyObject): number[] {
  const { ports } = (spec ?? {}) as { ports?: { port?: number }[] };
  return Array.isArray(ports) ? ports.flatMap(({ port }) => port ?? []) : [];
}
