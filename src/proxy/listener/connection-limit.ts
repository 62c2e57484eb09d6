import type { Limits } from '../config/model.ts';
import { clientKey } from '../../ops/client-address.ts';

/**
 * Counts connections, in all, by client (an IPv4 address, or the /64 of an IPv6 one) and by virtual cluster, and says when
 * there are too many.
 */
export interface ConnectionLimit {
  /** Counts one in, in all alone without an address; the result counts it out. A string names the limit that is reached. */
  admit(address: string | undefined, limits: Limits): (() => void) | 'limit' | 'address_limit' | 'open_files';
  /** Counts one in that is counted already, for its virtual cluster. */
  enter(cluster: string, limits: Limits): (() => void) | 'cluster_limit';
  /** By client, and by `clusterKey`. */
  counts(): { total: number; addresses: ReadonlyMap<string, number> };
  /** What the other workers have. */
  setOthers(total: number, addresses: ReadonlyMap<string, number>): void;
}

/** No client is called like that. */
const clusterKey = (name: string) => `virtual cluster ${name}`;

/** `mostHere` is how many connections this process has room for, whatever the configuration allows. */
export function createConnectionLimit(mostHere: () => number = () => Infinity): ConnectionLimit {
  const here = new Map<string, number>();
  let total = 0;
  let others: { total: number; addresses: ReadonlyMap<string, number> } = { total: 0, addresses: new Map() };

  const isFull = (key: string, limit: number) =>
    limit > 0 && (here.get(key) ?? 0) + (others.addresses.get(key) ?? 0) >= limit;
  function count(key: string): () => void {
    here.set(key, (here.get(key) ?? 0) + 1);
    return once(() => {
      const left = (here.get(key) ?? 1) - 1;
      if (left > 0) here.set(key, left);
      else here.delete(key);
    });
  }

  return {
    admit(address, { maxConnections, maxConnectionsPerAddress }) {
      if (maxConnections > 0 && total + others.total >= maxConnections) return 'limit';
      if (total >= mostHere()) return 'open_files';
      const client = address === undefined ? undefined : clientKey(address);
      if (client !== undefined && isFull(client, maxConnectionsPerAddress)) return 'address_limit';
      const release = client === undefined ? undefined : count(client);
      total += 1;
      return once(() => {
        total -= 1;
        release?.();
      });
    },
    enter(cluster, { maxConnectionsPerVirtualCluster }) {
      const key = clusterKey(cluster);
      return isFull(key, maxConnectionsPerVirtualCluster) ? 'cluster_limit' : count(key);
    },
    counts: () => ({ total, addresses: here }),
    setOthers: (theirTotal, theirAddresses) => {
      others = { total: theirTotal, addresses: theirAddresses };
    },
  };
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    work();
  };
}
