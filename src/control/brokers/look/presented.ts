/** What a listener shows to whoever connects: the certificate that it presents, and whether it takes one. */
import { once } from 'node:events';
import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { connectKafka } from '../../../kafka/client.ts';

/** Where to connect, and how: with trust, a certificate of one's own, and the name that the other's has to carry. */
export interface Asked {
  host: string;
  port: number;
  tls: ConnectionOptions;
}

const TIMEOUT_MS = 5000;

/** The fingerprint of the certificate that is presented, which is verified. Rejects where there is none. */
export async function presentedAt({ host, port, tls }: Asked): Promise<string> {
  const socket = connect({ ...tls, host, port, timeout: TIMEOUT_MS });
  socket.once('timeout', () => socket.destroy(new Error(`no certificate within ${TIMEOUT_MS} ms`)));
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerX509Certificate()?.fingerprint256 ?? '';
  } finally {
    socket.on('error', () => {}); // nobody waits for what comes after
    socket.destroy();
  }
}

/** Rejects unless the certificate is taken: with TLS 1.3 only an answer tells, and this one takes no rights. */
export async function requireTaken({ host, port, tls }: Asked): Promise<void> {
  const client = await connectKafka({
    host,
    port,
    tls,
    clientId: 'isthmus-operator',
    connectTimeoutMs: TIMEOUT_MS,
    requestTimeoutMs: TIMEOUT_MS,
  });
  client.close();
}
