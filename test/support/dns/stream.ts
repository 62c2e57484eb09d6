// A client of DNS over TCP.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** A query as it is sent over TCP, with its length before it. */
export function framed(query: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(query.length, 0);
  return Buffer.concat([length, query]);
}

/** Collects whole answers from a connection. */
export function collect(socket: Socket): Buffer[] {
  const answers: Buffer[] = [];
  let unread = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    unread = Buffer.concat([unread, chunk as Buffer]);
    while (unread.length >= 2 && unread.length >= 2 + unread.readUInt16BE(0)) {
      const end = 2 + unread.readUInt16BE(0);
      answers.push(unread.subarray(2, end));
      unread = unread.subarray(end);
    }
  });
  socket.on('error', () => {});
  return answers;
}

export async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** The end of a connection, by whichever way: a server that closes with something unread resets it. */
export function closed(socket: Socket): Promise<void> {
  socket.on('error', () => {});
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
