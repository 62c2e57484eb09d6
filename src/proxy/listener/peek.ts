import type { Socket } from 'node:net';
import type { Connection } from '../net/connection.ts';

/** Reading the first bytes of a connection, before it is known what it is. */

/** Looks at the bytes so far: undefined to see more, else what was found and how many of them are used up. */
export type Look<T extends { length: number }> = (bytes: Buffer) => T | undefined;

const TIMED_OUT = 'timed out before the header was complete';
const DISCONNECTED = 'client disconnected';

/** Reads from a connection until `look` has found something; `rest` is what came behind it. Reading has stopped then. */
export function peekConnection<T extends { length: number }>(
  connection: Connection,
  timeoutMs: number,
  look: Look<T>,
): Promise<{ value: T; rest: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ value: T; rest: Buffer }>();
  const timer = setTimeout(() => reject(new Error(TIMED_OUT)), timeoutMs);
  const gather = gatherer();
  connection.events = {
    onChunk(chunk, length) {
      const bytes = gather(chunk.subarray(0, length));
      try {
        const value = look(bytes);
        if (value) resolve({ value, rest: bytes.subarray(value.length) });
        return value === undefined;
      } catch (error) {
        reject(error);
        return false;
      }
    },
    onWritten: () => {},
    onEnd: () => connection.destroy(),
    onClose: () => reject(new Error(DISCONNECTED)),
  };
  connection.resume();
  return promise.finally(() => clearTimeout(timer));
}

/** Reads from a socket until `look` has found something, and puts back what came behind it. */
export function peekSocket<T extends { length: number }>(
  socket: Socket,
  timeoutMs: number,
  look: Look<T>,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(new Error(TIMED_OUT)), timeoutMs);
  const gather = gatherer();
  const onReadable = () => {
    try {
      for (let chunk: Buffer | null; (chunk = socket.read() as Buffer | null);) {
        const bytes = gather(chunk);
        const value = look(bytes);
        if (!value) continue;
        socket.off('readable', onReadable);
        if (bytes.length > value.length) socket.unshift(bytes.subarray(value.length));
        return resolve(value);
      }
    } catch (error) {
      reject(error);
    }
  };
  const onDisconnect = () => reject(new Error(DISCONNECTED));
  socket.on('readable', onReadable);
  socket.once('end', onDisconnect);
  socket.once('close', onDisconnect);
  return promise.finally(() => {
    clearTimeout(timer);
    socket.off('readable', onReadable);
    socket.off('end', onDisconnect);
    socket.off('close', onDisconnect);
  });
}

const FIRST_BYTES = 512;

/** Puts chunks together; room doubles, so that each byte is copied a few times at most, however small the chunks are. */
function gatherer(): (chunk: Buffer) => Buffer {
  let room: Buffer = Buffer.alloc(0);
  let length = 0;
  return (chunk) => {
    const needed = length + chunk.length;
    if (needed > room.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, needed, 2 * length));
      room.copy(larger, 0, 0, length);
      room = larger;
    }
    chunk.copy(room, length);
    length = needed;
    return room.subarray(0, length);
  };
}
