/** A connection that speaks Kafka frames and does as little as possible with them: the load must not be the bottleneck. */
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { once } from 'node:events';
import { apiOf } from '../../src/kafka/apis.ts';
import type { ApiName } from '../../src/kafka/apis.ts';
import { responseCodec } from '../../src/kafka/codec.ts';
import type { Draft } from '../../src/kafka/codec.ts';
import { decodeResponseHeader, encodeRequest } from '../../src/kafka/frame.ts';
import type { Requests, Responses } from '../../src/kafka/schemas/types.ts';

export interface Target {
  host: string;
  port: number;
  /** The authority to trust, if the connection is to be encrypted. */
  ca?: string | undefined;
  /** The server name to ask for, which the certificate then need not have; `localhost` if left out. */
  servername?: string | undefined;
}

export interface Wire {
  /** Sends a frame, which must not be in use elsewhere, and resolves with the size of the response, which is thrown away. */
  exchange(frame: Buffer): Promise<number>;
  /** Sends a request and decodes the response. */
  ask<Name extends ApiName>(
    api: Name,
    version: number,
    body: Draft<Requests[Name]>,
  ): Promise<Responses[Name]>;
  close(): void;
}

const CORRELATION_ID_AT = 8;

interface Waiting {
  keep: boolean;
  resolve(frame: Buffer, size: number): void;
  reject(error: Error): void;
}

/** The frame of a request. Its correlation id is set anew each time that it is sent. */
export function frameOf<Name extends ApiName>(
  api: Name,
  version: number,
  body: Draft<Requests[Name]>,
): Buffer {
  const header = { apiKey: apiOf(api).key, apiVersion: version, correlationId: 0, clientId: 'bench' };
  return encodeRequest(header, body);
}

async function open({ host, port, ca, servername }: Target): Promise<Socket> {
  if (ca === undefined) {
    const socket = connectTcp({ host, port, noDelay: true });
    await once(socket, 'connect');
    return socket;
  }
  // One cipher, so that nobody is measured with an easier one.
  const ciphers = 'TLS_AES_256_GCM_SHA384';
  const socket = connectTls({
    host,
    port,
    ca,
    ciphers,
    servername: servername ?? 'localhost',
    minVersion: 'TLSv1.3',
    ...(servername !== undefined && { checkServerIdentity: () => undefined }),
  });
  socket.setNoDelay(true);
  await once(socket, 'secureConnect');
  return socket;
}

/** Opens a connection. */
export async function connect(target: Target): Promise<Wire> {
  const socket = await open(target);
  const waiting: Waiting[] = [];
  const fail = (error: Error) => {
    for (const each of waiting.splice(0)) each.reject(error);
  };
  socket.on('error', fail);
  socket.on('close', () => fail(new Error(`${target.host}:${target.port} closed the connection`)));
  socket.on('data', createSplitter(waiting));

  let nextId = 0;
  const send = (frame: Buffer, keep: boolean) =>
    new Promise<{ frame: Buffer; size: number }>((resolve, reject) => {
      frame.writeInt32BE(nextId++, CORRELATION_ID_AT);
      waiting.push({ keep, resolve: (frame, size) => resolve({ frame, size }), reject });
      socket.write(frame);
    });
  return {
    exchange: async (frame) => (await send(frame, false)).size,
    async ask(api, version, body) {
      const { frame } = await send(frameOf(api, version, body), true);
      const { end } = decodeResponseHeader(apiOf(api).key, version, frame, 4);
      return responseCodec(api, version).decode(frame, end);
    },
    close: () => void socket.destroy(),
  };
}

/** Finds the ends of frames in what arrives. Only frames that someone wants to read are put together. */
function createSplitter(waiting: Waiting[]): (chunk: Buffer) => void {
  const prefix = Buffer.alloc(4);
  let prefixLength = 0;
  let missing = 0;
  let size = 0;
  let parts: Buffer[] = [];
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (prefixLength < 4) {
        prefix[prefixLength++] = chunk[at++]!;
        if (prefixLength < 4) continue;
        missing = prefix.readInt32BE();
        size = missing + 4;
        parts = waiting[0]?.keep ? [Buffer.from(prefix)] : [];
      }
      const take = Math.min(missing, chunk.length - at);
      if (parts.length > 0) parts.push(chunk.subarray(at, at + take));
      missing -= take;
      at += take;
      if (missing > 0) continue;
      prefixLength = 0;
      waiting.shift()?.resolve(Buffer.concat(parts), size);
    }
  };
}
