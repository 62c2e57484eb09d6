import { BoundedMap } from '../../ops/bounded-map.ts';
import type { Address } from '../config/model.ts';

/** The brokers of a target cluster, as far as they are known. */
export type Nodes = ReadonlyMap<number, Address>;

export interface TopologyListener {
  learned(changed: [number, Address][]): void;
  forgot(node: number, address: Address): void;
}

/** Where each broker of a target cluster is, learned from the responses that pass. */
export interface Topology {
  addressOf(node: number): Address | undefined;
  /** Takes in what was learned; later knowledge wins. */
  learn(nodes: Iterable<readonly [number, Address]>): void;
  /** An address that did not answer is no knowledge any more. */
  forget(node: number, address: Address): void;
  /** Is told the changes of every `learn` that changed anything, and every `forget`. */
  listen(listener: TopologyListener): void;
  nodes(): Nodes;
}

export const sameAddress = (a: Address | undefined, b: Address | undefined) =>
  a?.host === b?.host && a?.port === b?.port;

export const addressText = ({ host, port }: Address) =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** More brokers than any cluster has; of more, those that were heard of last are known. */
export const MAX_BROKERS = 4096;
/** Of a DNS name. */
const LONGEST_HOST = 253;

const isUsable = ({ host, port }: Address) => host !== '' && host.length <= LONGEST_HOST && port > 0;

export function createTopology(): Topology {
  const known = new BoundedMap<number, Address>(MAX_BROKERS);
  const listeners: TopologyListener[] = [];
  return {
    addressOf: (node) => known.get(node),
    learn(nodes) {
      const changed: [number, Address][] = [];
      for (const [node, { host, port }] of nodes) {
        if (changed.length >= MAX_BROKERS) break;
        if (!isUsable({ host, port }) || sameAddress(known.get(node), { host, port })) continue;
        known.set(node, { host, port });
        changed.push([node, { host, port }]);
      }
      if (changed.length > 0) for (const listener of listeners) listener.learned(changed);
    },
    forget(node, address) {
      if (sameAddress(known.get(node), address)) known.delete(node);
      for (const listener of listeners) listener.forgot(node, address);
    },
    listen: (listener) => void listeners.push(listener),
    nodes: () => known,
  };
}
