import { matchServerName } from '../cluster/addressing.ts';
import type { Destination, PortBinding } from '../config/ports.ts';

/** Which broker of which virtual cluster a TLS client asks for by its server name; undefined if there is none. */
export function destinationOf({ sni }: PortBinding, serverName: string): Destination | undefined {
  for (const { cluster, gateway } of sni) {
    const match = gateway.routing.by === 'sni' && matchServerName(gateway.routing, serverName);
    if (match) return { cluster, gateway: gateway.name, node: match.node };
  }
  return undefined;
}
