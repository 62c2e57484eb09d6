import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { queryBytes, readResponse } from './response.ts';
import type { OutsideQuestion, ResolverResponse } from './response.ts';

/** Where a resolver listens. */
export interface ResolverAddress {
  address: string;
  port: number;
}

/** Asks one resolver: over UDP from a port of its own, then over TCP if the response was cut. Rejects if none comes in time. */
export async function exchange(
  server: ResolverAddress,
  question: OutsideQuestion,
  timeoutMs: number,
): Promise<ResolverResponse> {
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await askUdp(server, question, signal);
  return response.truncated ? askTcp(server, question, signal) : response;
}

/** The socket is connected, so the system drops datagrams of others; one that is no response to the question is ignored. */
function askUdp(
  server: ResolverAddress,
  question: OutsideQuestion,
  signal: AbortSignal,
): Promise<ResolverResponse> {
  const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
  const response = new Promise<ResolverResponse>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    socket.on('error', reject);
    socket.on('message', (bytes) => {
      const read = readResponse(bytes, question);
      if (read) resolve(read);
    });
    socket.connect(server.port, server.address, () => socket.send(queryBytes(question)));
  });
  return response.finally(() => socket.close());
}

function askTcp(
  server: ResolverAddress,
  question: OutsideQuestion,
  signal: AbortSignal,
): Promise<ResolverResponse> {
  const socket = connect({ host: server.address, port: server.port });
  const response = new Promise<ResolverResponse>((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the connection was closed before the response')));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      const read = readResponse(received.subarray(2, 2 + received.readUInt16BE(0)), question);
      if (read && !read.truncated) resolve(read);
      else reject(new Error('the response over TCP is malformed'));
    });
    const query = queryBytes(question);
    socket.write(Buffer.concat([Buffer.from([query.length >> 8, query.length]), query]));
  });
  return response.finally(() => socket.destroy());
}
