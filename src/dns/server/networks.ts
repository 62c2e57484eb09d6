import { parseAddress } from '../wire/address.ts';
import type { ClientAddress } from '../wire/client-address.ts';

/** A network in CIDR notation. */
export interface Network {
  bytes: string;
  prefix: number;
}

/** Reads `10.0.0.0/8`, `fc00::/7` or a single address; undefined if it is none of them. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', prefix, ...rest] = text.split('/');
  const bytes = parseAddress(address);
  if (bytes === undefined || rest.length > 0) return undefined;
  const width = bytes.length * 8;
  if (prefix !== undefined && (!/^\d{1,3}$/.test(prefix) || Number(prefix) > width)) return undefined;
  return { bytes, prefix: prefix === undefined ? width : Number(prefix) };
}

/** Whether the client is in any of the networks. */
export function inNetworks(client: ClientAddress, networks: readonly Network[]): boolean {
  for (const network of networks) if (inNetwork(client, network)) return true;
  return false;
}

function inNetwork(client: ClientAddress, network: Network): boolean {
  if (network.bytes.length !== client.length) return false;
  const whole = network.prefix >> 3;
  for (let i = 0; i < whole; i++) if (client.bytes[i] !== network.bytes.charCodeAt(i)) return false;
  const rest = network.prefix & 7;
  if (rest === 0) return true;
  return (client.bytes[whole]! ^ network.bytes.charCodeAt(whole)) >> (8 - rest) === 0;
}
