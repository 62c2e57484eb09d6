import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * What may be connected to because a configuration says so, and what of this process may be shown there. Whoever writes
 * the configuration need not be whoever runs the process: its files and its identity in a cloud are not theirs to send.
 */
export interface Outbound {
  /** The addresses of a host that may be dialled. Rejects if there is none, and says why. */
  resolve(host: string, purpose: OutboundPurpose): Promise<LookupAddress[]>;
  /** Whether files and identities of this process may be used towards an address. */
  mayIdentifyTo(url: URL): boolean;
}

/** A service that a configuration names, or the one on the local link that says who this machine is in its cloud. */
export type OutboundPurpose = 'service' | 'metadata';

/** A look-up that says only what was checked, whatever the name means by now. */
export function lookupOf(checked: readonly LookupAddress[]): LookupFunction {
  const [first] = checked;
  return (_host, options, callback) => {
    if (options.all) callback(null, [...checked]);
    else callback(null, first!.address, first!.family);
  };
}
