import { inNetworks } from './networks.ts';
import type { Network } from './networks.ts';
import type { ClientAddress } from '../wire/client-address.ts';

export interface RateLimitOptions {
  /** Answers a second that one client network (/24 or /56) gets over UDP. */
  perSecond: number;
  /** Every n-th answer above the limit is sent truncated, so that a real client behind it can come back over TCP; 0: none. */
  slip: number;
  /** Networks without a limit. */
  exempt: readonly Network[];
}

export type RateVerdict = 'send' | 'slip' | 'drop';

/** Limits what a forger of addresses can make this server send to one network. */
export interface RateLimit {
  /** Judges one answer. `now` is in milliseconds and never runs backwards by much. */
  judge(client: ClientAddress, now: number): RateVerdict;
}

const SETS = 1 << 14;
const WAYS = 4;
const V6_PREFIX_BYTES = 7;

/**
 * A token bucket for each network, in a table of fixed size: an attacker with many networks costs no memory. A network
 * has four places it can be in; if all are taken, the one unseen for longest goes (its bucket would be fullest).
 */
export function createRateLimit(options: RateLimitOptions, seed: number): RateLimit {
  const { perSecond, slip, exempt } = options;
  const high = new Uint32Array(SETS * WAYS);
  const low = new Uint32Array(SETS * WAYS);
  const seen = new Float64Array(SETS * WAYS);
  const tokens = new Float64Array(SETS * WAYS);
  const over = new Uint32Array(SETS * WAYS);

  /** The bucket of a network, emptied of its former owner if it had another one. */
  function bucketOf(keyHigh: number, keyLow: number, now: number): number {
    let hash = Math.imul(keyHigh ^ seed, 0x9e3779b1) ^ Math.imul(keyLow + seed, 0x85ebca77);
    hash ^= hash >>> 15;
    const first = (hash & (SETS - 1)) * WAYS;
    let oldest = first;
    for (let at = first; at < first + WAYS; at++) {
      if (high[at] === keyHigh && low[at] === keyLow && seen[at] !== 0) return at;
      if (seen[at]! < seen[oldest]!) oldest = at;
    }
    high[oldest] = keyHigh;
    low[oldest] = keyLow;
    seen[oldest] = now;
    tokens[oldest] = perSecond;
    over[oldest] = 0;
    return oldest;
  }

  return {
    judge(client, now) {
      if (exempt.length > 0 && inNetworks(client, exempt)) return 'send';
      const at = bucketOf(networkHigh(client), networkLow(client), now);
      const elapsed = Math.max(0, now - seen[at]!);
      seen[at] = now;
      tokens[at] = Math.min(perSecond, tokens[at]! + (elapsed * perSecond) / 1000);
      if (tokens[at] >= 1) {
        tokens[at] -= 1;
        return 'send';
      }
      over[at]! += 1;
      return slip > 0 && over[at]! % slip === 0 ? 'slip' : 'drop';
    },
  };
}

function networkHigh({ bytes, length }: ClientAddress): number {
  return ((bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | (length === 4 ? 4 : bytes[3]!)) >>> 0;
}

/** The rest of an IPv6 /56, and a mark by which the two families never meet. */
function networkLow({ bytes, length }: ClientAddress): number {
  if (length === 4) return 0;
  return ((bytes[4]! << 24) | (bytes[5]! << 16) | (bytes[V6_PREFIX_BYTES - 1]! << 8) | 6) >>> 0;
}
