import { addressingOf } from '../cluster/addressing.ts';
import type { Addressing } from '../cluster/addressing.ts';
import type { GatewayConfig } from '../config/model.ts';
import { createTlsServer } from '../net/tls-server.ts';
import type { TlsServer } from '../net/tls-server.ts';

/** A gateway of a virtual cluster at work. */
export interface Gateway {
  readonly config: GatewayConfig;
  readonly addressing: Addressing;
  /** Undefined where connections are plaintext. */
  readonly tls: TlsServer | undefined;
}

/** Throws if the certificates cannot be used. */
export function createGateway(
  config: GatewayConfig,
  ticketKeys: Buffer,
  handshakeTimeoutMs: number,
): Gateway {
  return {
    config,
    addressing: addressingOf(config),
    tls: config.tls && createTlsServer(config.tls, ticketKeys, handshakeTimeoutMs),
  };
}
