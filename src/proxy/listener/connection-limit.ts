import type { Limits } from '../config/model.ts';

/** Counts connections, in all and by client address, and says when there are too many. */
export interface ConnectionLimit {
  /** Counts one in; the result counts it out. A string names the limit that is reached. */
  admit(address: string, limits: Limits): (() => void) | 'limit' | 'address_limit';
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
      const here = addresses.get(address) ?? 0;
      if (maxConnections > 0 && total + others.total >= maxConnections) return 'limit';
      const elsewhere = others.addresses.get(address) ?? 0;
      if (maxConnectionsPerAddress > 0 && here + elsewhere >= maxConnectionsPerAddress)
        return 'address_limit';
      addresses.set(address, here + 1);
      total += 1;
      let counted = true;
      return () => {
        if (!counted) return;
        counted = false;
        total -= 1;
        const left = (addresses.get(address) ?? 1) - 1;
        if (left > 0) addresses.set(address, left);
        else addresses.delete(address);
      };
    },
    counts: () => ({ total, addresses }),
    setOthers: (theirTotal, theirAddresses) => {
      others = { total: theirTotal, addresses: theirAddresses };
    },
  };
}
