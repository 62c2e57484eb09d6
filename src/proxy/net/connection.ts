import { Socket } from 'node:net';
import type { NetConnectOpts } from 'node:net';
import { createBufferPool, ReadBuffer } from './read-buffer.ts';

/**
 * One socket of a session, the client's or the broker's. Plain sockets read into a buffer that is used again and again (`onread`). TLS sockets give
 * a new buffer each time: of what they have decrypted they hand over all, also after reading has been stopped.
 */

export interface ConnectionEvents {
  /**
   * Bytes came in. False stops reading until `resume`. The bytes belong to the taker until it returns true or calls
   * `resume`; `expected` of the connection tells how many more it knows to follow.
   */
  onChunk(chunk: Buffer, length: number): boolean;
  /** Everything written has left this process. */
  onWritten(): void;
  /** The other side will send no more. */
  onEnd(): void;
  onClose(error: Error | undefined): void;
}

/** Before anyone listens, and after. */
const NOBODY: ConnectionEvents = {
  onChunk: () => true,
  onWritten: () => {},
  onEnd: () => {},
  onClose: () => {},
};

const pool = createBufferPool();

/** Sockets with writes held back until the end of this turn of the event loop, to leave in one system call. */
const corked: Connection[] = [];
function uncorkAll(): void {
  for (const connection of corked) connection.uncork();
  corked.length = 0;
}

export class Connection {
  socket!: Socket;
  events: ConnectionEvents = NOBODY;
  /** How many bytes of the current frame are yet to come: the next buffer can be as large. */
  expected = 0;
  /** Whether chunks are in a buffer that will be used again. */
  reusesBuffer = false;
  #buffer: ReadBuffer | undefined;
  #lastRead = 0;
  #held = false;
  #corked = false;
  #closed = false;
  #error: Error | undefined;
  readonly #written = () => {
    if (this.socket.writableLength === 0) this.events.onWritten();
  };

  /** What has been written and not left yet. */
  get backlog(): number {
    return this.socket.writableLength;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** `sent` is called when the bytes have left this process; never if they do not. */
  write(bytes: Uint8Array, sent?: () => void): void {
    if (this.#closed) return;
    if (sent)
      this.socket.write(bytes, (error) => {
        if (!error) sent();
        this.#written();
      });
    else this.socket.write(bytes, this.#written);
  }

  /** As `write`, but together with whatever else is written in this turn of the event loop. */
  writeSoon(bytes: Uint8Array, sent?: () => void): void {
    if (!this.#corked && !this.#closed) {
      this.#corked = true;
      this.socket.cork();
      if (corked.push(this) === 1) setImmediate(uncorkAll);
    }
    this.write(bytes, sent);
  }

  uncork(): void {
    this.#corked = false;
    this.socket.uncork();
  }

  resume(): void {
    this.#held = false;
    this.#buffer?.settle();
    if (!this.#closed) this.socket.resume();
  }

  end(): void {
    if (!this.#closed) this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Options with which a socket reads into this connection's buffer. */
  onread(): NonNullable<NetConnectOpts['onread']> {
    const buffer = new ReadBuffer(pool);
    this.#buffer = buffer;
    this.reusesBuffer = true;
    return {
      // Asked for after each read, also while the last one is held: a sink that never takes bytes at once (TLS) holds each.
      buffer: () => buffer.adapt(this.#lastRead, this.expected, this.#held),
      callback: (length, chunk) => {
        this.#lastRead = length;
        const free = this.events.onChunk(chunk as Buffer, length);
        this.#held = !free;
        return free;
      },
    };
  }

  /** Takes over a socket, read with `onread` or by its 'data' events. Set `events`, then `resume`. */
  attach(socket: Socket): void {
    this.socket = socket;
    socket.setKeepAlive(true, 60_000);
    if (!this.reusesBuffer) {
      socket.on('data', (chunk: Buffer) => {
        if (!this.events.onChunk(chunk, chunk.length)) socket.pause();
      });
      socket.pause();
    }
    socket.on('end', () => this.events.onEnd());
    socket.on('error', (error: Error) => (this.#error = error));
    socket.on('close', () => {
      this.#closed = true;
      this.#buffer?.release(this.#held);
      this.events.onClose(this.#error);
    });
  }
}

/** A socket that was accepted but not read from yet: its handle can be given a reused buffer, where Node lets us. */
export function adoptPlainSocket(connection: Connection, accepted: Socket): Socket {
  const taken = accepted as unknown as { _handle: object | null };
  const handle = taken._handle;
  if (handle === null || typeof (handle as { useUserBuffer?: unknown }).useUserBuffer !== 'function') {
    return accepted;
  }
  // `handle` is not a documented option; without it the accepted socket itself is used, at a higher cost.
  const options = { handle, allowHalfOpen: true, onread: connection.onread() };
  const socket = new Socket(options as unknown as ConstructorParameters<typeof Socket>[0]);
  taken._handle = null;
  accepted.destroy();
  return socket;
}
