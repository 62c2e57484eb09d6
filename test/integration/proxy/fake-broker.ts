/**
 * A broker that does what a test says, for what a real one does not do on demand: to move, to answer out of turn, to
 * name a new leader in a response of a given size. It knows just enough of the protocol for that.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { ALL_APIS, apiOf } from '../../../src/kafka/apis.ts';
import type { ApiName } from '../../../src/kafka/apis.ts';
import type { Draft } from '../../../src/kafka/codec.ts';
import { decodeRequestHeader, encodeResponse } from '../../../src/kafka/frame.ts';
import type { RequestHeader } from '../../../src/kafka/frame.ts';
import type { Responses } from '../../../src/kafka/schemas/types.ts';

export interface FakeBroker extends AsyncDisposable {
  port: number;
  /** How many connections it has had. */
  connections: number;
  /** What Metadata says: ids and ports on loopback. */
  nodes: [number, number][];
  /** Answers instead of the usual answers: a body, raw bytes, or nothing. */
  answer: (header: RequestHeader) => Draft<Responses[ApiName]> | Buffer | undefined;
}

const versions = {
  apiKeys: ALL_APIS.map(({ key, min, max }) => ({ apiKey: key, minVersion: min, maxVersion: max })),
};

/** Listens at one address of this machine, or with `0.0.0.0` at all of 127.0.0.0/8. */
export async function startFakeBroker(host = '127.0.0.1'): Promise<FakeBroker> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    broker.connections++;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    let bytes: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let total = lengthOf(bytes); bytes.length >= total; total = lengthOf(bytes)) {
        reply(socket, decodeRequestHeader(bytes.subarray(0, total), 4));
        bytes = bytes.subarray(total);
      }
    });
  });

  function reply(socket: Socket, header: RequestHeader): void {
    const { apiKey, apiVersion, correlationId } = header;
    const own = broker.answer(header);
    if (Buffer.isBuffer(own)) return void socket.write(own);
    const body = own ?? usual(apiKey);
    if (body) socket.write(encodeResponse(apiKey, apiVersion, { correlationId }, body));
  }

  const usual = (apiKey: number) => {
    if (apiKey === apiOf('ApiVersions').key) return versions;
    if (apiKey !== apiOf('Metadata').key) return undefined;
    return {
      brokers: broker.nodes.map(([nodeId, port]) => ({ nodeId, host: '127.0.0.1', port })),
      topics: [],
    };
  };

  server.listen(0, host);
  await once(server, 'listening');
  const broker: FakeBroker = {
    port: (server.address() as AddressInfo).port,
    connections: 0,
    nodes: [],
    answer: () => undefined,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return broker;
}

const lengthOf = (bytes: Buffer) => (bytes.length < 4 ? Infinity : bytes.readInt32BE(0) + 4);
