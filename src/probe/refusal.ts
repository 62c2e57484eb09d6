/** Keeps probes from addresses that are nobody's broker: who writes a name must not have us knock at our own machine, or at its cloud. */
import { namedSpecial, specialKind } from '../ops/special-address.ts';
import type { ProbeOptions } from './endpoint.ts';

/** What refuses all special addresses but those in networks that somebody has named. */
export function refuseSpecial(networks: readonly string[]): NonNullable<ProbeOptions['refusal']> {
  const isNamed = namedSpecial(networks);
  return (address) => {
    const kind = specialKind(address);
    if (kind === undefined || isNamed(address)) return undefined;
    return `${address} is ${kind}, and is not probed unless --probe-networks names its network`;
  };
}
