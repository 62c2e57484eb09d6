import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { ApiName } from '../apis.ts';
import { connectKafka } from '../client.ts';
import type { Credentials } from '../client.ts';
import { aclCalls } from './acls.ts';
import { clusterCalls } from './cluster.ts';
import { configCalls } from './configs.ts';
import { openConnections } from './connections.ts';
import type { Address } from './connections.ts';
import { replicaCalls } from './replicas.ts';
import { createSend } from './routing.ts';
import type { AddressOf, OnRequest, Send } from './routing.ts';
import { topicCalls } from './topics.ts';
import { userCalls } from './users.ts';

/**
 * Administers a Kafka cluster: what it is, has and is configured to be. Kafka's refusals are values, by the names of its
 * error codes; a call rejects with KAFKA_UNREACHABLE or KAFKA_REFUSED where no node can be reached, logged in to or
 * understood. A change whose answer was lost rejects, too: it may have been made, so look before doing it again.
 */

export interface AdminOptions {
  /**
   * Nodes to begin with. Name resolution is not needed where these are IP addresses with a `servername` for the
   * certificate, and `addressOf` knows those of the others.
   */
  bootstrap: readonly Address[];
  /** What listens at the bootstrap addresses. Controllers can be asked while no broker runs. By default brokers. */
  endpoints?: 'brokers' | 'controllers';
  /** Trust and client certificate. The server name is that of the address, or what the node advertises. */
  tls?: Omit<ConnectionOptions, 'host' | 'port' | 'servername'>;
  sasl?: Credentials;
  /** By default nodes are where they advertise that they are. */
  addressOf?: AddressOf;
  clientId?: string;
  connectTimeoutMs?: number;
  requestTimeoutMs?: number;
  /** For a call with all its attempts: none begins after it. */
  callTimeoutMs?: number;
  maxConnections?: number;
  maxResponseBytes?: number;
  /** The newest version to use of an API, where that is not the newest that both sides know. */
  newestVersions?: { readonly [Name in ApiName]?: number };
  /** Told of each request that is sent. */
  onRequest?: OnRequest | undefined;
}

type Calls = ReturnType<typeof clusterCalls> &
  ReturnType<typeof configCalls> &
  ReturnType<typeof topicCalls> &
  ReturnType<typeof replicaCalls> &
  ReturnType<typeof aclCalls> &
  ReturnType<typeof userCalls>;

export interface Admin extends Calls {
  /** Any other request, to any node, to a given one, or to the coordinator of a group or a transaction. */
  send: Send;
  /** Closes all connections; calls under way reject. */
  close(): void;
}

const DEFAULTS = {
  endpoints: 'brokers',
  connectTimeoutMs: 10_000,
  requestTimeoutMs: 10_000,
  callTimeoutMs: 30_000,
  maxConnections: 16,
  addressOf: (_nodeId: number, host: string, port: number): Address | undefined => ({ host, port }),
} as const satisfies Partial<AdminOptions>;

/** Makes the client; it connects when it is first asked something, and again whenever a connection was lost. */
export function openAdmin(options: AdminOptions): Admin {
  const { bootstrap, endpoints, addressOf, callTimeoutMs, maxConnections, tls, onRequest, ...rest } = {
    ...DEFAULTS,
    ...options,
  };
  const connections = openConnections(({ host, port, servername }) => {
    const named = servername !== undefined && isIP(servername) === 0 ? { servername } : {};
    return connectKafka({ ...rest, host, port, ...(tls && { tls: { ...tls, ...named } }) });
  }, maxConnections);
  const send = createSend(connections, { bootstrap, endpoints, addressOf, callTimeoutMs, onRequest });
  // A broker that waits longer than we do would answer nobody.
  const context = { endpoints, timeoutMs: Math.ceil(rest.requestTimeoutMs * 0.8) };
  return {
    ...clusterCalls(send, context),
    ...configCalls(send, context),
    ...topicCalls(send, context),
    ...replicaCalls(send, context),
    ...aclCalls(send),
    ...userCalls(send),
    send,
    close: () => connections.close(),
  };
}
