import type { Address } from './config/model.ts';

/** The brokers of a target cluster, as far as they are known. */
export type Nodes = ReadonlyMap<number, Address>;

/** Where each broker of a target cluster is, learned from the responses that pass. */
export interface Topology {
  addressOf(node: number): Address | undefined;
  /** Takes in what was learned; later knowledge wins. */
  learn(nodes: Iterable<readonly [number, Address]>): void;
  /** An address that did not answer is no knowledge any more. */
  forget(node: number, address: Address): void;
  /** Calls back with the changes of every `learn` that changed anything. */
  onChange(listener: (changed: [number, Address][]) => void): void;
  nodes(): Nodes;
}

export const sameAddress = (a: Address | undefined, b: Address | undefined) =>
  a?.host === b?.host && a?.port === b?.port;

export const addressText = ({ host, port }: Address) =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

export function createTopology(): Topology {
  const known = new Map<number, Address>();
  const listeners: ((changed: [number, Address][]) => void)[] = [];
  return {
    addressOf: (node) => known.get(node),
    learn(nodes) {
      const changed: [number, Address][] = [];
      for (const [node, { host, port }] of nodes) {
        if (sameAddress(known.get(node), { host, port }) || host === '' || port <= 0) continue;
        known.set(node, { host, port });
        changed.push([node, { host, port }]);
      }
      if (changed.length > 0) for (const listener of listeners) listener(changed);
    },
    forget(node, address) {
      if (sameAddress(known.get(node), address)) known.delete(node);
    },
    onChange: (listener) => void listeners.push(listener),
    nodes: () => known,
  };
}
