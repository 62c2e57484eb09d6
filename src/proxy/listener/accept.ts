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
import { describeBytes } from '../session/request-head.ts';
import { Session } from '../session/session.ts';
import { parseClientHello } from './client-hello.ts';
import type { ConnectionLimit } from './connection-limit.ts';
import { peekConnection, peekSocket } from './peek.ts';
import { parseProxyHeader } from './proxy-protocol.ts';

/** What new connections are accepted with, under one configuration. */
export interface AcceptContext {
  find(destination: Destination): Route | undefined;
  rules: SessionRules;
  proxyProtocol: ProxyConfig['proxyProtocol'];
  /** Reports a connection that ends before it belongs to a virtual cluster. */
  refuse(reason: CutReason, client: string, why: string): void;
  /** Counts a connection in; undefined if there are too many. The result counts it out. */
  admit(client: string): (() => void) | undefined;
}

/** Makes the context for a configuration; connection counts and the log throttle are the same for all of them. */
export function acceptContexts(
  find: AcceptContext['find'],
  limit: ConnectionLimit,
  stats: ProxyStats,
  log: Log,
): (config: ProxyConfig) => AcceptContext {
  const throttle = createLogThrottle();
  const refuse: AcceptContext['refuse'] = (reason, client, why) => {
    stats.refused(reason).value += 1;
    const unreported = throttle(reason);
    if (unreported !== undefined)
      log.warn({ reason, client, why, alsoUnreported: unreported }, 'connection refused');
  };
  return ({ limits, unknownApis, proxyProtocol }) => ({
    rules: { limits, unknownApis },
    proxyProtocol,
    find,
    refuse,
    admit(client) {
      const admitted = limit.admit(client, limits);
      if (typeof admitted === 'function') return admitted;
      refuse(admitted, client, 'connection limit reached');
      return undefined;
    },
  });
}

/** A refusal before a session exists. */
class Refused extends Error {
  readonly reason: CutReason;

  constructor(reason: CutReason, why: string) {
    super(why);
    this.reason = reason;
  }
}

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
    context.refuse(error instanceof Refused ? error.reason : 'tls', peer, messageOf(error));
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
  const { proxyProtocol, rules } = context;
  let client = peer;
  let rest = NOTHING;
  if (proxyProtocol !== 'disabled') {
    try {
      const timeoutMs = rules.limits.handshakeTimeoutMs;
      const header = await peekConnection(connection, timeoutMs, proxyHeader(proxyProtocol));
      client = header.value.source ?? peer;
      rest = header.rest;
    } catch (error) {
      connection.destroy();
      throw asRefusal(error, 'proxy_protocol');
    }
  }
  const release = context.admit(client);
  if (!release) return connection.destroy();
  const route = context.find(destination!);
  if (!route) {
    release();
    return connection.destroy();
  }
  const who = { node: destination!.node, clientAddress: client, principal: undefined };
  openSession(connection, route, who, context, release, rest);
}

async function acceptTls(
  socket: Socket,
  peer: string,
  binding: PortBinding,
  context: AcceptContext,
): Promise<void> {
  const { proxyProtocol, rules } = context;
  const timeoutMs = rules.limits.handshakeTimeoutMs;
  socket.on('error', () => {}); // seen as 'close' by whoever has it then
  let client = peer;
  if (proxyProtocol !== 'disabled') {
    const header = await peekSocket(socket, timeoutMs, proxyHeader(proxyProtocol)).catch((error: unknown) => {
      throw asRefusal(error, 'proxy_protocol');
    });
    client = header.source ?? peer;
  }
  const release = context.admit(client);
  if (!release) return void socket.destroy();
  socket.once('close', release);
  const destination = binding.destination ?? (await destinationByName(socket, binding, timeoutMs));
  const route = context.find(destination);
  if (!route?.gateway.tls) return void socket.destroy();
  const secured = await route.gateway.tls.handshake(socket);
  // The virtual cluster may have been changed or removed meanwhile: nobody would drain a connection that it gets now.
  if (context.find(destination)?.cluster !== route.cluster) return void socket.destroy();
  const connection = new Connection();
  connection.attach(secured.socket);
  const who = { node: destination.node, clientAddress: client, principal: secured.principal };
  openSession(connection, route, who, context, () => {}, NOTHING);
}

/** Looks for a PROXY header, or that there is none where it may be missing. */
const proxyHeader = (mode: ProxyConfig['proxyProtocol']) => (bytes: Buffer) => {
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
  const { serverName } = await peekSocket(socket, timeoutMs, (bytes) => {
    const hello = parseClientHello(bytes);
    if (hello.found === 'bad') throw new Refused('tls', `${hello.why}: ${describeBytes(bytes, 0)}`);
    return hello.found === 'more' ? undefined : { serverName: hello.serverName, length: 0 };
  });
  const destination = destinationOf(binding, serverName);
  if (destination) return destination;
  throw new Refused(
    'server_name',
    serverName === '' ? 'client sent no server name' : `no gateway has the server name ${serverName}`,
  );
}

const asRefusal = (error: unknown, reason: CutReason) =>
  error instanceof Refused ? error : new Refused(reason, messageOf(error));

function openSession(
  connection: Connection,
  { cluster, gateway }: Route,
  who: Pick<ConnectionInfo, 'node' | 'clientAddress' | 'principal'>,
  { rules }: AcceptContext,
  release: () => void,
  first: Buffer,
): void {
  const info = { cluster, gateway: gateway.config.name, addressing: gateway.addressing, ...who };
  try {
    new Session(info, rules, connection, release).start(first);
  } catch (error) {
    connection.destroy();
    release();
    throw new Refused('filter', `filter refused the connection: ${messageOf(error)}`);
  }
}
