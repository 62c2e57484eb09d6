/** HTTP and HTTPS at one port, told apart by the first byte: probes of kubelets speak the one, who sends a token the other. */
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { createServer as createNetServer } from 'node:net';
import type { Server, Socket } from 'node:net';

/** A certificate and its key, in PEM. They are read anew for each connection, so that they can be replaced while we run. */
export interface KeyFiles {
  certificateFile: string;
  keyFile: string;
}

/** For a request, a handshake, or the first byte of either. */
const TIMEOUT_MS = 10_000;
/** The first byte of a TLS connection. */
const HANDSHAKE = 0x16;

export interface EitherServer {
  server: Server;
  closeConnections: () => void;
}

/** Serves plain HTTP, and where there is a certificate also HTTPS. */
export function eitherServer(onRequest: RequestListener, files: KeyFiles | undefined): EitherServer {
  // Not imported: that loads all that node:http offers, a whole HTTP client among it, into every process.
  const { createServer } = process.getBuiltinModule('node:http');
  const plain = createServer({ requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS }, onRequest);
  if (!files) return { server: plain, closeConnections: () => plain.closeAllConnections() };
  const https = process.getBuiltinModule('node:https');
  const limits = { requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS, handshakeTimeout: TIMEOUT_MS };
  const secure = https.createServer({ ...limits, minVersion: 'TLSv1.2' }, onRequest);
  const refresh = keyReader(secure, files);
  const sockets = new Set<Socket>();
  const server = createNetServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // whoever waits for it is told by the server that has it
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
    socket.once('readable', () => {
      const first = socket.read() as Buffer | null;
      if (!first) return;
      socket.setTimeout(0).removeAllListeners('timeout');
      socket.unshift(first);
      const isTls = first[0] === HANDSHAKE;
      if (isTls && !refresh()) socket.destroy();
      else (isTls ? secure : plain).emit('connection', socket);
      if (!isTls) socket.resume();
    });
  });
  return {
    server,
    closeConnections: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Has a server use what is in the files now; false if that is not a certificate and its key, for instance in the midst of a change. */
function keyReader(server: HttpsServer, { certificateFile, keyFile }: KeyFiles): () => boolean {
  let used = '';
  return () => {
    try {
      const [cert, key] = [readFileSync(certificateFile, 'utf8'), readFileSync(keyFile, 'utf8')];
      if (cert + key !== used) server.setSecureContext({ cert, key });
      used = cert + key;
      return true;
    } catch {
      return false;
    }
  };
}
