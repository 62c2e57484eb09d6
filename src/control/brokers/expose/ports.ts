/**
 * Which port of the nodes a listener has. The number is written down before anything uses it and stays the cluster's for as long as
 * that is there, also while the listener is away: clients remember it, and nobody else may answer there. Pure.
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

export interface SeenPorts {
  cluster: { namespace: string; name: string };
  /** What was written down. */
  recorded: Readonly<Record<string, number>>;
  /** Services of this cluster. */
  services: readonly AnyObject[];
  /** Ports of other clusters. */
  others: ReadonlySet<number>;
  range: PortRange;
}

export interface HostPorts {
  /** All that are to be written down. */
  hostPorts: ReadonlyMap<string, number>;
  /** Listeners that have none yet. */
  waiting: string[];
}

export interface ListenerWish {
  name: string;
  wish: HostPortWish;
}

export function hostPortsOf(listeners: readonly ListenerWish[], seen: SeenPorts): HostPorts {
  const hostPorts = new Map(Object.entries(seen.recorded));
  const waiting: string[] = [];
  for (const { name, wish } of listeners) {
    const key = portKey(name, wish);
    const port =
      hostPorts.get(key) ??
      (wish.strategy === 'reserve' ? reserved(name, seen) : chosen(key, new Set(hostPorts.values()), seen));
    if (port === undefined) waiting.push(name);
    else hostPorts.set(key, port);
  }
  return { hostPorts, waiting };
}

/** The number that the API server gave to the Service that is there for nothing else. */
function reserved(listener: string, { cluster, services }: SeenPorts): number | undefined {
  const name = hostPortServiceName(cluster.name, listener);
  const found = services.find(({ metadata }) => metadata.name === name);
  const { ports } = (found?.['spec'] ?? {}) as { ports?: { nodePort?: number }[] };
  return ports?.[0]?.nodePort || undefined;
}

/** The first free one from a place of the cluster's own, so that two that choose at the same time hardly ever choose the same. */
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
