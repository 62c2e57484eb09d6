import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { messageOf } from '../../ops/errors.ts';

export interface ListenAt {
  key: string;
  host: string | undefined;
  port: number;
}

/** The ports that this process listens on. */
export interface Listeners {
  /** Listens on exactly these: binds the new, closes the gone, leaves the rest alone. */
  set(wanted: ListenAt[]): Promise<void>;
  /** Why a port could not be bound, by key. */
  failures(): ReadonlyMap<string, string>;
  /** Tries those that failed again. */
  retry(): Promise<void>;
  close(): void;
}

const BACKLOG = 1024;

/** `reusePort` lets several processes listen on one port; the kernel spreads connections over them. */
export function createListeners(
  reusePort: boolean,
  onConnection: (key: string, socket: Socket) => void,
  /** A connection could not be accepted; the next one may be. */
  onAcceptError: (key: string, error: NodeJS.ErrnoException) => void,
): Listeners {
  const bound = new Map<string, Server>();
  const failed = new Map<string, { at: ListenAt; why: string }>();

  async function bind(at: ListenAt): Promise<void> {
    const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, (socket) =>
      onConnection(at.key, socket),
    );
    bound.set(at.key, server);
    try {
      await listen(server, at, reusePort);
      failed.delete(at.key);
      server.on('error', (error) => onAcceptError(at.key, error));
    } catch (error) {
      failed.set(at.key, { at, why: messageOf(error) });
      if (bound.get(at.key) === server) bound.delete(at.key);
    }
  }

  return {
    async set(wanted) {
      const keys = new Set(wanted.map(({ key }) => key));
      for (const [key, server] of bound) {
        if (keys.has(key)) continue;
        server.close();
        bound.delete(key);
      }
      failed.clear();
      await Promise.all(wanted.filter(({ key }) => !bound.has(key)).map(bind));
    },
    failures: () => new Map([...failed].map(([key, { why }]) => [key, why])),
    async retry() {
      await Promise.all([...failed.values()].map(({ at }) => bind(at)));
    },
    close() {
      for (const server of bound.values()) server.close();
      bound.clear();
      failed.clear();
    },
  };
}

function listen(server: Server, { host, port }: ListenAt, reusePort: boolean): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen({ port, ...(host === undefined ? {} : { host }), reusePort, backlog: BACKLOG }, () => {
    server.off('error', reject);
    resolve();
  });
  return promise;
}
