import { addressingOf } from '../cluster/addressing.ts';
import type { Addressing } from '../cluster/addressing.ts';
import type { GatewayConfig, ProxyConfig, VirtualClusterConfig } from '../config/model.ts';
import { createTlsServer } from '../net/tls-server.ts';
import type { TlsServer } from '../net/tls-server.ts';

/** A gateway of a virtual cluster at work. */
export interface Gateway {
  readonly config: GatewayConfig;
  readonly addressing: Addressing;
  /** Undefined where connections are plaintext. */
  readonly tls: TlsServer | undefined;
}

/** The gateways of a virtual cluster by name. Throws if the certificates of one cannot be used. */
export function createGateways(
  { gateways }: VirtualClusterConfig,
  ticketKeys: Buffer,
  { limits }: ProxyConfig,
): Map<string, Gateway> {
  const made = gateways.map((config) => ({
    config,
    addressing: addressingOf(config),
    tls: config.tls && createTlsServer(config.tls, ticketKeys, limits.handshakeTimeoutMs),
  }));
  return new Map(made.map((gateway) => [gateway.config.name, gateway]));
}
