/** Listens in on real clients and a real broker: forwards every byte and hands over every frame. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A whole frame, length included, and the request that it is or answers. */
export interface Heard {
  /** Who was talking, as the listener was told. */
  speaker: string;
  side: 'request' | 'response';
  apiKey: number;
  version: number;
  frame: Buffer;
}

export interface Tap extends AsyncDisposable {
  readonly address: string;
  /** Says where to forward to, and who talks from now on. */
  target(upstream: string): void;
  speaker(name: string): void;
}

/** Cuts a stream into frames, each with its length. */
function frameCutter(onFrame: (frame: Buffer) => void): (chunk: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 4 && held.length >= 4 + held.readInt32BE(0)) {
      const length = 4 + held.readInt32BE(0);
      onFrame(Buffer.from(held.subarray(0, length)));
      held = held.subarray(length);
    }
  };
}

interface Asked {
  apiKey: number;
  version: number;
}

/** Ends one socket with the other. */
function tie(socket: Socket, other: Socket, open: Set<Socket>): void {
  open.add(socket);
  socket.on('error', () => other.destroy());
  socket.on('close', () => {
    open.delete(socket);
    other.destroy();
  });
}

/** Starts to listen; `target` must be called before the first client comes. */
export async function startTap(onFrame: (heard: Heard) => void): Promise<Tap> {
  let upstream = '';
  let speaker = '';
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const [host = '', port = ''] = upstream.split(':');
    const broker = connect({ host, port: Number(port) });
    const asked = new Map<number, Asked>();
    const hearRequest = frameCutter((frame) => {
      const question = { apiKey: frame.readInt16BE(4), version: frame.readInt16BE(6) };
      asked.set(frame.readInt32BE(8), question);
      onFrame({ speaker, side: 'request', ...question, frame });
    });
    const hearResponse = frameCutter((frame) => {
      const question = asked.get(frame.readInt32BE(4));
      asked.delete(frame.readInt32BE(4));
      if (question) onFrame({ speaker, side: 'response', ...question, frame });
    });
    client.on('data', hearRequest).pipe(broker);
    broker.on('data', hearResponse).pipe(client);
    tie(client, broker, sockets);
    tie(broker, client, sockets);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    target: (to) => void (upstream = to),
    speaker: (name) => void (speaker = name),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
