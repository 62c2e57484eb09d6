import { inNetworks } from './networks.ts';
import type { Network } from './networks.ts';
import type { ClientAddress } from '../wire/client-address.ts';

export interface RateLimitOptions {
  /** Responses a second to one client network (/24 or /56) over UDP. */
  perSecond: number;
  /** Every n-th response above the limit is sent truncated, so that a real client there can retry over TCP; 0: none. */
  slip: number;
  /** Networks without a limit. */
  exempt: readonly Network[];
}

/** What to do with a response. */
export type RateLimitAction = 'send' | 'slip' | 'drop';

/** Response rate limiting: bounds what forged source addresses can make this server send to one network. */
export interface RateLimit {
  /** Decides about one response. `now` is in milliseconds and never runs backwards by much. */
  check(client: ClientAddress, now: number): RateLimitAction;
  /** Exempts these too, instead of those that were given here before. */
  trust(networks: readonly Network[]): void;
}

const SETS = 1 << 14;
const WAYS = 4;
const V6_PREFIX_BYTES = 7;

/**
 * A token bucket for each network, in a four-way set-associative table of fixed size: if all four places of a network are
 * taken, the least recently seen bucket is replaced (it would be the fullest). Typed arrays, not a BoundedMap, because
 * this runs for every response: nothing is allocated.
 */
export function createRateLimit(options: RateLimitOptions, seed: number): RateLimit {
  const { perSecond, slip, exempt } = options;
  let trusted: readonly Network[] = [];
  const high = new Uint32Array(SETS * WAYS);
  const low = new Uint32Array(SETS * WAYS);
  const seen = new Float64Array(SETS * WAYS);
  const tokens = new Float64Array(SETS * WAYS);
  const over = new Uint32Array(SETS * WAYS);

  /** The bucket of a network; a new one starts full. */
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
    check(client, now) {
      if (inNetworks(client, exempt) || inNetworks(client, trusted)) return 'send';
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
    trust(networks) {
      trusted = networks;
    },
  };
}

function networkHigh({ bytes, length }: ClientAddress): number {
  return ((bytes[0]! << 24) | (bytes[1]! << 16) | (bytes[2]! << 8) | (length === 4 ? 4 : bytes[3]!)) >>> 0;
}

/** The rest of an IPv6 /56, and a mark that keeps the two families apart. */
function networkLow({ bytes, length }: ClientAddress): number {
  if (length === 4) return 0;
  return ((bytes[4]! << 24) | (bytes[5]! << 16) | (bytes[V6_PREFIX_BYTES - 1]! << 8) | 6) >>> 0;
}
