import type { Limits } from '../config/model.ts';
import { clientKey } from './client-address.ts';

/** Counts connections, in all and by client (an IPv4 address, or the /64 of an IPv6 one), and says when there are too many. */
export interface ConnectionLimit {
  /** Counts one in, in all alone without an address; the result counts it out. A string names the limit that is reached. */
  admit(address: string | undefined, limits: Limits): (() => void) | 'limit' | 'address_limit';
  counts(): { total: number; addresses: ReadonlyMap<string, number> };
  /** What the other workers have. */
  setOthers(total: number, addresses: ReadonlyMap<string, number>): void;
}

export function createConnectionLimit(): ConnectionLimit {
  const addresses = new Map<string, number>();
  let total = 0;
  let others: { total: number; addresses: ReadonlyMap<string, number> } = { total: 0, addresses: new Map() };
  return {
    admit(address, { maxConnections, maxConnectionsPerAddress }) {
      if (maxConnections > 0 && total + others.total >= maxConnections) return 'limit';
      const client = address === undefined ? undefined : clientKey(address);
      if (client !== undefined) {
        const here = addresses.get(client) ?? 0;
        const elsewhere = others.addresses.get(client) ?? 0;
        if (maxConnectionsPerAddress > 0 && here + elsewhere >= maxConnectionsPerAddress)
          return 'address_limit';
        addresses.set(client, here + 1);
      }
      total += 1;
      let counted = true;
      return () => {
        if (!counted) return;
        counted = false;
        total -= 1;
        if (client === undefined) return;
        const left = (addresses.get(client) ?? 1) - 1;
        if (left > 0) addresses.set(client, left);
        else addresses.delete(client);
      };
    },
    counts: () => ({ total, addresses }),
    setOthers: (theirTotal, theirAddresses) => {
      others = { total: theirTotal, addresses: theirAddresses };
    },
  };
}
