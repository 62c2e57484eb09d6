import { createServer } from 'node:tls';
import type { Server, TLSSocket } from 'node:tls';
import type { Socket } from 'node:net';
import type { Addressing } from '../cluster/addressing.ts';
import { addressingOf } from '../cluster/addressing.ts';
import type { GatewayConfig, ServerTls } from '../config/model.ts';
import { chooseCertificate, contextOptions, serverCertificates, sessionContext } from './tls-context.ts';
import type { Certificate } from './tls-context.ts';

/** A gateway of a virtual cluster at work. */
export interface Gateway {
  readonly config: GatewayConfig;
  readonly addressing: Addressing;
  /** Undefined where connections are plaintext. */
  readonly tls: TlsEntrance | undefined;
}

/** Takes a client's TLS. */
export interface TlsEntrance {
  readonly certificates: readonly Certificate[];
  /** Does the handshake; rejects with the reason if it fails. `socket` may have been read from, and unshifted into. */
  secure(socket: Socket): Promise<SecuredClient>;
}

export interface SecuredClient {
  socket: TLSSocket;
  /** The subject of the client's certificate, if it showed one that we trust. */
  principal: string | undefined;
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
    tls: config.tls && createEntrance(config.tls, ticketKeys, handshakeTimeoutMs),
  };
}

interface Waiting {
  resolve(client: SecuredClient): void;
  reject(reason: Error): void;
}

/** A connection's ports and addresses: the TLS socket and the socket below it have them in common. */
const identity = ({ remoteAddress, remotePort, localAddress, localPort }: Socket) =>
  `${remoteAddress}|${remotePort}|${localAddress}|${localPort}`;

function createEntrance(tls: ServerTls, ticketKeys: Buffer, handshakeTimeoutMs: number): TlsEntrance {
  const certificates = serverCertificates(tls, ticketKeys);
  const server: Server = createServer({
    ...contextOptions(tls.keys[0], tls.trust, tls.rules),
    ticketKeys,
    sessionIdContext: sessionContext(tls),
    requestCert: tls.clientAuth !== 'none',
    rejectUnauthorized: tls.clientAuth === 'required',
    handshakeTimeout: handshakeTimeoutMs,
    allowHalfOpen: true,
    SNICallback: (name, done) => done(null, chooseCertificate(certificates, name)?.context),
  });
  // Node closes the connection of a certificate that it does not trust, and does not say so.
  const gone =
    tls.clientAuth === 'required'
      ? 'the client went away during the handshake, or its certificate is not trusted'
      : 'the client went away during the handshake';
  const waiting = new Map<string, Waiting>();
  const take = (socket: Socket) => {
    const key = identity(socket);
    const found = waiting.get(key);
    waiting.delete(key);
    return found;
  };
  server.on('secureConnection', (socket) => {
    const entry = take(socket);
    // A client that is gone already has no address any more, and nobody waits for what is left of its connection.
    if (!entry) {
      socket.on('error', () => {}).destroy();
      return;
    }
    const shown = socket.getPeerX509Certificate();
    // "requested" lets a client show nothing, but not something that we do not trust.
    if (shown && !socket.authorized) {
      const why = String(socket.authorizationError);
      socket.destroy();
      entry.reject(new Error(`the client's certificate is not trusted: ${why}`));
    } else {
      entry.resolve({ socket, principal: shown?.subject.replaceAll('\n', ',') });
    }
  });
  server.on('tlsClientError', (error, socket) => take(socket)?.reject(error));
  return {
    certificates,
    secure(socket) {
      const { promise, resolve, reject } = Promise.withResolvers<SecuredClient>();
      const key = identity(socket);
      waiting.set(key, { resolve, reject });
      socket.once('close', () => {
        waiting.delete(key);
        reject(new Error(gone));
      });
      server.emit('connection', socket);
      return promise;
    },
  };
}
