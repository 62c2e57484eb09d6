import { createServer } from 'node:tls';
import type { TlsOptions, TLSSocket } from 'node:tls';
import type { Socket } from 'node:net';
import type { ServerTls } from '../config/model.ts';
import {
  chooseCertificate,
  contextOptions,
  serverCertificates,
  setTicketKeys,
  sessionContext,
} from '../config/tls-context.ts';
import type { Certificate } from '../config/tls-context.ts';

/** Does the TLS handshakes of one gateway's clients. */
export interface TlsServer {
  /** Does the handshake; rejects with the reason if it fails. `socket` may have been read from, and unshifted into. */
  handshake(socket: Socket): Promise<SecuredClient>;
  /** From now on, sessions are sealed by these: those of before are not resumed any more. */
  setTicketKeys(keys: Buffer): void;
}

export interface SecuredClient {
  socket: TLSSocket;
  /** The subject of the client's certificate, if it showed one that we trust. */
  principal: string | undefined;
}

interface Handshake {
  resolve(client: SecuredClient): void;
  reject(reason: Error): void;
}

/** A connection's ports and addresses: the TLS socket and the socket below it have them in common. */
const identity = ({ remoteAddress, remotePort, localAddress, localPort }: Socket) =>
  `${remoteAddress}|${remotePort}|${localAddress}|${localPort}`;

/** Throws if the certificates cannot be used. */
export function createTlsServer(tls: ServerTls, ticketKeys: Buffer, handshakeTimeoutMs: number): TlsServer {
  const certificates = serverCertificates(tls, ticketKeys);
  const server = createServer(serverOptions(tls, certificates, ticketKeys, handshakeTimeoutMs));
  // Node closes the connection of a certificate that it does not trust, and does not say so.
  const disconnected =
    tls.clientAuth === 'required'
      ? 'client disconnected during the TLS handshake, or its certificate is not trusted'
      : 'client disconnected during the TLS handshake';
  const handshakes = new Map<string, Handshake>();
  const take = (socket: Socket) => {
    const key = identity(socket);
    const found = handshakes.get(key);
    handshakes.delete(key);
    return found;
  };
  server.on('secureConnection', (socket) => {
    const handshake = take(socket);
    // A client that is gone already has no address any more, and nobody waits for what is left of its connection.
    if (!handshake) {
      socket.on('error', () => {}).destroy();
      return;
    }
    const client = verified(socket);
    if (client instanceof Error) handshake.reject(client);
    else handshake.resolve(client);
  });
  server.on('tlsClientError', (error, socket) => take(socket)?.reject(error));
  return {
    setTicketKeys(keys) {
      server.setTicketKeys(keys);
      for (const { context } of certificates) setTicketKeys(context, keys);
    },
    handshake(socket) {
      const { promise, resolve, reject } = Promise.withResolvers<SecuredClient>();
      const key = identity(socket);
      handshakes.set(key, { resolve, reject });
      socket.once('close', () => {
        handshakes.delete(key);
        reject(new Error(disconnected));
      });
      server.emit('connection', socket);
      return promise;
    },
  };
}

function serverOptions(
  tls: ServerTls,
  certificates: readonly Certificate[],
  ticketKeys: Buffer,
  handshakeTimeout: number,
): TlsOptions {
  return {
    ...contextOptions(tls.keys[0], tls.trust, tls.rules),
    ticketKeys,
    sessionIdContext: sessionContext(tls),
    requestCert: tls.clientAuth !== 'none',
    rejectUnauthorized: tls.clientAuth === 'required',
    handshakeTimeout,
    allowHalfOpen: true,
    SNICallback: (name, done) => done(null, chooseCertificate(certificates, name)?.context),
  };
}

/** A client whose handshake is complete; "requested" lets it show no certificate, but not one that we do not trust. */
function verified(socket: TLSSocket): SecuredClient | Error {
  const shown = socket.getPeerX509Certificate();
  if (!shown || socket.authorized) return { socket, principal: shown?.subject.replaceAll('\n', ',') };
  const why = String(socket.authorizationError);
  socket.destroy();
  return new Error(`client certificate is not trusted: ${why}`);
}
