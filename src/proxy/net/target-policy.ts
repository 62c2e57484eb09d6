import { lookup as lookUpAddresses } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { networkMatcher } from '../../ops/client-address.ts';
import type { Outbound } from '../../ops/outbound.ts';
import { namedSpecial, specialKind, withBits } from '../../ops/special-address.ts';
import type { TargetPolicyConfig } from '../config/model.ts';

/**
 * Where brokers may be. A broker says by itself where the others are, and would be dialled from inside our network: so
 * what it names is checked, by the address that is dialled in the end and not by a name that may mean another one then.
 */
export interface TargetPolicy {
  /** The addresses of a host that may be dialled. Rejects if there is none, and says why. */
  resolve(host: string): Promise<LookupAddress[]>;
}

/** `*.example.com` is every name below example.com. */
function hostMatcher(patterns: readonly string[]): (host: string) => boolean {
  const lower = patterns.map((pattern) => pattern.toLowerCase());
  return (host) => {
    const name = host.toLowerCase().replace(/\.$/, '');
    return lower.some((pattern) =>
      pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern,
    );
  };
}

const DEFAULT: TargetPolicyConfig = { allow: [], bootstrap: 'named' };

type Resolve = (host: string) => Promise<LookupAddress[]>;
const lookUp: Resolve = (host) => lookUpAddresses(host, { all: true });

/** The policy for the brokers that a target announces whose bootstrap servers are these. */
export function createTargetPolicy(
  { allow, bootstrap }: TargetPolicyConfig = DEFAULT,
  bootstrapHosts: readonly string[],
  resolveHost: Resolve = lookUp,
): TargetPolicy {
  const isNetwork = (entry: string) => isIP(entry.split('/')[0]!) !== 0;
  const cidrs = allow.filter(isNetwork).map(withBits);
  const inNetworks = networkMatcher(cidrs);
  const isNamed = namedSpecial(cidrs);
  const isHost = hostMatcher(allow.filter((entry) => !isNetwork(entry)));
  const addressesOf = async (host: string): Promise<LookupAddress[]> =>
    isIP(host) ? [{ address: host, family: isIP(host) }] : resolveHost(host);

  /** Who names a bootstrap server on this machine means this machine. */
  async function isNamedByBootstrap(kind: string): Promise<boolean> {
    if (bootstrap !== 'named') return false;
    const found = await Promise.all(bootstrapHosts.map((host) => addressesOf(host).catch(() => [])));
    return found.flat().some(({ address }) => specialKind(address) === kind);
  }

  async function refusal(host: string, address: string): Promise<string | undefined> {
    const kind = specialKind(address);
    if (kind !== undefined)
      return isNamed(address) || (await isNamedByBootstrap(kind)) ? undefined : `${address} is ${kind}`;
    const isAllowed = allow.length === 0 || inNetworks(address) || isHost(host);
    return isAllowed ? undefined : `${address} is not in targetPolicy.allow`;
  }

  return {
    async resolve(host) {
      const permitted: LookupAddress[] = [];
      const refusals: string[] = [];
      for (const found of await addressesOf(host)) {
        const why = await refusal(host, found.address);
        if (why === undefined) permitted.push(found);
        else refusals.push(why);
      }
      if (permitted.length === 0)
        throw new Error(`the target policy does not allow it: ${refusals.join(', ') || 'it has no address'}`);
      return permitted;
    },
  };
}

/** Addresses that say who a machine is in its cloud. A service that a configuration names is never there. */
const isIdentityKind = (kind: string | undefined) => kind === 'link-local' || kind === 'metadata';

/**
 * What filters may connect to. Where bootstrap servers are checked, somebody else writes the configuration than runs the
 * process: then hosts are checked like brokers, and the process identifies itself only to the `identityHosts`, by HTTPS.
 */
export function createOutbound(
  policy: TargetPolicyConfig = DEFAULT,
  resolveHost: Resolve = lookUp,
): Outbound {
  const isTrusted = policy.bootstrap === 'named';
  const { identityHosts } = policy;
  const isIdentityHost = hostMatcher(identityHosts ?? []);
  return {
    async resolve(host, purpose) {
      const found = await createTargetPolicy(policy, [host], resolveHost).resolve(host);
      if (isTrusted || purpose === 'metadata') return found;
      const permitted = found.filter(({ address }) => !isIdentityKind(specialKind(address)));
      if (permitted.length > 0) return permitted;
      throw new Error(`the target policy does not allow it: ${host} is no address for a service`);
    },
    mayIdentifyTo: ({ protocol, hostname }) =>
      isTrusted && identityHosts === undefined
        ? true
        : (isTrusted || protocol === 'https:') && isIdentityHost(hostname),
  };
}
