import type { Socket } from 'node:net';
import { messageOf } from '../../ops/errors.ts';
import { createLogThrottle } from '../../ops/log-throttle.ts';
import type { Log } from '../../ops/log.ts';
import type { CutReason, ProxyStats } from '../cluster/stats.ts';
import type { ProxyConfig } from '../config/model.ts';
import type { Destination, PortBinding } from '../config/ports.ts';
import { adoptPlainSocket, Connection } from '../net/connection.ts';
import { destinationOf } from '../router/destination.ts';
import type { Route } from '../router/router.ts';
import type { ConnectionInfo, SessionRules } from '../session/connection-info.ts';
import { Session } from '../session/session.ts';
import { networkMatcher } from '../../ops/client-address.ts';
import { clientHelloReader } from './client-hello.ts';
import type { ConnectionLimit } from './connection-limit.ts';
import { peekConnection, peekSocket } from './peek.ts';
import type { Look } from './peek.ts';
import { parseProxyHeader } from './proxy-protocol.ts';

/** What new connections are accepted with, under one configuration. */
export interface AcceptContext {
  find(destination: Destination): Route | undefined;
  rules: SessionRules;
  proxyProtocol: ProxyConfig['proxyProtocol']['mode'];
  /** Whether the PROXY headers of this peer are believed; undefined without a list of those that are. */
  isTrusted: ((peer: string) => boolean) | undefined;
  /** Reports a connection that ends before it belongs to a virtual cluster. */
  refuse(reason: CutReason, client: string, why: string): void;
  /** Counts a connection in, in all alone without a client; the result counts it out. Throws if there are too many. */
  admit(client: string | undefined): () => void;
  /** Counts it in for its virtual cluster, likewise. */
  enter(cluster: string, client: string): () => void;
}

/** Makes the context for a configuration; connection counts and the log throttle are the same for all of them. */
export function acceptContexts(
  find: AcceptContext['find'],
  limit: ConnectionLimit,
  stats: ProxyStats,
  log: Log,
): (config: ProxyConfig, own?: ProxyConfig['proxyProtocol']) => AcceptContext {
  const throttle = createLogThrottle();
  const refuse: AcceptContext['refuse'] = (reason, client, why) => {
    stats.refused(reason).value += 1;
    const unreported = throttle(reason);
    if (unreported !== undefined)
      log.warn({ reason, client, why, alsoUnreported: unreported }, 'connection refused');
  };
  return ({ limits, unknownApis, proxyProtocol }, { mode, trustedSources } = proxyProtocol) => ({
    rules: { limits, unknownApis },
    proxyProtocol: mode,
    isTrusted: trustedSources && networkMatcher(trustedSources),
    find,
    refuse,
    admit(client) {
      const admitted = limit.admit(client, limits);
      if (typeof admitted === 'function') return admitted;
      throw new Refused(admitted, WHY_REFUSED[admitted], client);
    },
    enter(cluster, client) {
      const entered = limit.enter(cluster, limits);
      if (typeof entered === 'function') return entered;
      throw new Refused(entered, `connection limit of virtual cluster ${cluster} reached`, client);
    },
  });
}

/** A refusal before a session exists. */
class Refused extends Error {
  readonly reason: CutReason;
  readonly client: string | undefined;

  constructor(reason: CutReason, why: string, client?: string) {
    super(why);
    this.reason = reason;
    this.client = client;
  }
}

const WHY_REFUSED = {
  limit: 'connection limit reached (limits.maxConnections)',
  address_limit: 'connection limit reached (limits.maxConnectionsPerAddress)',
  open_files: 'no room for more connections within the limit of open files (ulimit -n)',
};

const NOTHING: Buffer = Buffer.alloc(0);

/** Takes a connection that was accepted and not read from yet: PROXY header, TLS, route; then a session has it. */
export function accept(socket: Socket, binding: PortBinding, context: AcceptContext): void {
  const peer = socket.remoteAddress;
  if (peer === undefined) return void socket.destroy();
  const accepting = binding.tls
    ? acceptTls(socket, peer, binding, context)
    : acceptPlain(socket, peer, binding, context);
  accepting.catch((error: unknown) => {
    socket.destroy();
    const { reason, client = peer } = error instanceof Refused ? error : { reason: 'tls' as const };
    context.refuse(reason, client, messageOf(error));
  });
}

async function acceptPlain(
  accepted: Socket,
  peer: string,
  { destination }: PortBinding,
  context: AcceptContext,
): Promise<void> {
  const connection = new Connection();
  connection.attach(adoptPlainSocket(connection, accepted));
  try {
    const { value, rest } = await announced(peer, context, (timeoutMs, look) =>
      peekConnection(connection, timeoutMs, look),
    );
    const client = value.source ?? peer;
    const route = context.find(destination!);
    if (!route) return connection.destroy();
    const who = { node: destination!.node, clientAddress: client, principal: undefined };
    connection.socket.once('close', context.admit(client));
    connection.socket.once('close', context.enter(route.cluster.config.name, client));
    openSession(connection, route, who, context, rest);
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

async function acceptTls(
  socket: Socket,
  peer: string,
  binding: PortBinding,
  context: AcceptContext,
): Promise<void> {
  const timeoutMs = context.rules.limits.handshakeTimeoutMs;
  socket.on('error', () => {}); // seen as 'close' by whoever has it then
  const { value } = await announced(peer, context, async (timeoutMs, look) => ({
    value: await peekSocket(socket, timeoutMs, look),
    rest: NOTHING,
  }));
  const client = value.source ?? peer;
  socket.once('close', context.admit(client));
  const destination = binding.destination ?? (await destinationByName(socket, binding, timeoutMs));
  const route = context.find(destination);
  if (!route?.gateway.tls) return void socket.destroy();
  socket.once('close', context.enter(route.cluster.config.name, client));
  const secured = await route.gateway.tls.handshake(socket);
  // The virtual cluster may have been changed or removed meanwhile: nobody would drain a connection that it gets now.
  if (context.find(destination)?.cluster !== route.cluster) return void socket.destroy();
  const connection = new Connection();
  connection.attach(secured.socket);
  const who = { node: destination.node, clientAddress: client, principal: secured.principal };
  openSession(connection, route, who, context, NOTHING);
}

interface Announced {
  length: number;
  source: string | undefined;
}
type Peek = (timeoutMs: number, look: Look<Announced>) => Promise<{ value: Announced; rest: Buffer }>;

const UNANNOUNCED = { value: { length: 0, source: undefined }, rest: NOTHING };

/** Whose connection this is, as its PROXY header says, if that of this peer is to be read. */
async function announced(peer: string, context: AcceptContext, peek: Peek): ReturnType<Peek> {
  const { proxyProtocol, isTrusted, rules } = context;
  const isListed = isTrusted?.(peer) ?? false;
  if (proxyProtocol === 'disabled' || (proxyProtocol === 'allowed' && !isListed)) return UNANNOUNCED;
  if (isTrusted && !isListed)
    throw new Refused('proxy_protocol', 'PROXY header required, and this is none of trustedSources');
  // A header may take its time, so whoever sends it counts already. A load balancer's connections are not its own, though.
  const release = context.admit(isListed ? undefined : peer);
  try {
    return await peek(rules.limits.handshakeTimeoutMs, proxyHeader(proxyProtocol));
  } catch (error) {
    throw error instanceof Refused ? error : new Refused('proxy_protocol', messageOf(error));
  } finally {
    release();
  }
}

/** Looks for a PROXY header, or that there is none where it may be missing. */
const proxyHeader = (mode: AcceptContext['proxyProtocol']) => (bytes: Buffer) => {
  const header = parseProxyHeader(bytes);
  if (header.found === 'more') return undefined;
  if (header.found === 'bad') throw new Refused('proxy_protocol', header.why);
  if (header.found === 'header') return header;
  if (mode === 'required') throw new Refused('proxy_protocol', 'PROXY header required, but there is none');
  return { length: 0, source: undefined };
};

async function destinationByName(
  socket: Socket,
  binding: PortBinding,
  timeoutMs: number,
): Promise<Destination> {
  const read = clientHelloReader();
  const { serverName } = await peekSocket(socket, timeoutMs, (bytes) => {
    const hello = read(bytes);
    if (hello.found === 'bad') throw new Refused('tls', hello.why);
    return hello.found === 'more' ? undefined : { serverName: hello.serverName, length: 0 };
  });
  const destination = destinationOf(binding, serverName);
  if (destination) return destination;
  throw new Refused(
    'server_name',
    serverName === '' ? 'client sent no server name' : `no gateway has the server name ${serverName}`,
  );
}

function openSession(
  connection: Connection,
  { cluster, gateway }: Route,
  who: Pick<ConnectionInfo, 'node' | 'clientAddress' | 'principal'>,
  { rules }: AcceptContext,
  first: Buffer,
): void {
  const info = { cluster, gateway: gateway.config.name, addressing: gateway.addressing, ...who };
  try {
    new Session(info, rules, connection).start(first);
  } catch (error) {
    connection.destroy();
    throw new Refused('filter', `filter refused the connection: ${messageOf(error)}`);
  }
}
