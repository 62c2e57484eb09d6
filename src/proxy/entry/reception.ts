import type { Socket } from 'node:net';
import { messageOf } from '../../ops/errors.ts';
import { matchServerName } from '../cluster/addressing.ts';
import { parseClientHello } from './client-hello.ts';
import type { Arrival, Cluster, SessionRules } from '../cluster/cluster.ts';
import type { ProxyConfig } from '../config/model.ts';
import type { Claim, Endpoint } from '../config/ports.ts';
import type { Gateway } from './gateway.ts';
import { adoptPlainSocket, Link } from '../session/link.ts';
import { readLinkUntil, readSocketUntil } from './preface.ts';
import { parseProxyHeader } from './proxy-protocol.ts';
import { describeBytes } from '../session/requests.ts';
import { Session } from '../session/session.ts';
import type { CutReason } from '../stats.ts';

/** Who is behind an endpoint. */
export interface Residence {
  cluster: Cluster;
  gateway: Gateway;
}

/** Where a new connection goes. */
export interface Directory {
  find(endpoint: Endpoint): Residence | undefined;
  rules: SessionRules;
  proxyProtocol: ProxyConfig['proxyProtocol'];
  /** Reports a connection that ends before it is anyone's. */
  refuse(reason: CutReason, client: string, why: string): void;
  /** Counts a connection in; undefined if there are too many. The result counts it out. */
  admit(client: string): (() => void) | undefined;
}

/** A refusal on the way in. */
class Refused extends Error {
  readonly reason: CutReason;

  constructor(reason: CutReason, why: string) {
    super(why);
    this.reason = reason;
  }
}

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Takes a connection that was accepted and not read from yet: PROXY header, TLS, and whom it is for; then it is a
 * session's.
 */
export function receive(socket: Socket, claim: Claim, directory: Directory): void {
  const peer = socket.remoteAddress;
  if (peer === undefined) return void socket.destroy();
  const entry = claim.tls
    ? receiveTls(socket, peer, claim, directory)
    : receivePlain(socket, peer, claim, directory);
  entry.catch((error: unknown) => {
    socket.destroy();
    directory.refuse(error instanceof Refused ? error.reason : 'tls', peer, messageOf(error));
  });
}

async function receivePlain(
  accepted: Socket,
  peer: string,
  claim: Claim,
  directory: Directory,
): Promise<void> {
  const link = new Link();
  link.attach(adoptPlainSocket(link, accepted));
  const { proxyProtocol, rules } = directory;
  let client = peer;
  let rest = NOTHING;
  if (proxyProtocol !== 'disabled') {
    try {
      const header = await readLinkUntil(
        link,
        rules.limits.handshakeTimeoutMs,
        lookForProxyHeader(proxyProtocol),
      );
      client = header.value.source ?? peer;
      rest = header.rest;
    } catch (error) {
      link.destroy();
      throw asRefusal(error, 'proxy_protocol');
    }
  }
  const release = directory.admit(client);
  if (!release) return link.destroy();
  const found = directory.find(claim.endpoint!);
  if (!found) {
    release();
    return link.destroy();
  }
  openSession(
    link,
    found,
    { node: claim.endpoint!.node, clientAddress: client, principal: undefined },
    directory,
    release,
    rest,
  );
}

async function receiveTls(socket: Socket, peer: string, claim: Claim, directory: Directory): Promise<void> {
  const { proxyProtocol, rules } = directory;
  const timeoutMs = rules.limits.handshakeTimeoutMs;
  socket.on('error', () => {}); // seen as 'close' by whoever has it then
  let client = peer;
  if (proxyProtocol !== 'disabled') {
    const header = await readSocketUntil(socket, timeoutMs, lookForProxyHeader(proxyProtocol)).catch(
      (error: unknown) => {
        throw asRefusal(error, 'proxy_protocol');
      },
    );
    client = header.source ?? peer;
  }
  const release = directory.admit(client);
  if (!release) return void socket.destroy();
  socket.once('close', release);
  const endpoint = claim.endpoint ?? (await endpointByName(socket, claim, timeoutMs));
  const found = directory.find(endpoint);
  if (!found?.gateway.tls) return void socket.destroy();
  const secured = await found.gateway.tls.secure(socket);
  // The virtual cluster may have been changed or removed meanwhile: nobody would drain a connection that it gets now.
  if (directory.find(endpoint)?.cluster !== found.cluster) return void socket.destroy();
  const link = new Link();
  link.attach(secured.socket);
  const who = { node: endpoint.node, clientAddress: client, principal: secured.principal };
  openSession(link, found, who, directory, () => {}, NOTHING);
}

/** What a PROXY header says, or that there is none where it may be missing. */
const lookForProxyHeader = (mode: ProxyConfig['proxyProtocol']) => (bytes: Buffer) => {
  const header = parseProxyHeader(bytes);
  if (header.found === 'more') return undefined;
  if (header.found === 'bad') throw new Refused('proxy_protocol', header.why);
  if (header.found === 'header') return header;
  if (mode === 'required')
    throw new Refused('proxy_protocol', 'a PROXY header is required and there is none');
  return { length: 0, source: undefined };
};

/** Whom the server name that the client asks for belongs to. */
async function endpointByName(socket: Socket, claim: Claim, timeoutMs: number): Promise<Endpoint> {
  const { serverName } = await readSocketUntil(socket, timeoutMs, (bytes) => {
    const hello = parseClientHello(bytes);
    if (hello.found === 'bad') throw new Refused('tls', `${hello.why}: ${describeBytes(bytes, 0)}`);
    return hello.found === 'more' ? undefined : { serverName: hello.serverName, length: 0 };
  });
  for (const { cluster, gateway } of claim.sni) {
    const match = gateway.routing.by === 'sni' && matchServerName(gateway.routing, serverName);
    if (match) return { cluster, gateway: gateway.name, node: match.node };
  }
  throw new Refused(
    'server_name',
    serverName === '' ? 'no server name was sent' : `no gateway has the name ${serverName}`,
  );
}

const asRefusal = (error: unknown, reason: CutReason) =>
  error instanceof Refused ? error : new Refused(reason, messageOf(error));

function openSession(
  link: Link,
  { cluster, gateway }: Residence,
  who: Pick<Arrival, 'node' | 'clientAddress' | 'principal'>,
  directory: Directory,
  release: () => void,
  first: Buffer,
): void {
  const arrival: Arrival = { cluster, gateway: gateway.config.name, addressing: gateway.addressing, ...who };
  try {
    new Session(arrival, directory.rules, link, release).start(first);
  } catch (error) {
    link.destroy();
    release();
    throw new Refused('filter', `a filter takes no connection: ${messageOf(error)}`);
  }
}
