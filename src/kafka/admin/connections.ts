import { IsthmusError } from '../../ops/errors.ts';
import type { KafkaClient } from '../client.ts';

/** Where a node is reached, and the name that its certificate has to carry if that is another. */
export interface Address {
  host: string;
  port: number;
  servername?: string | undefined;
}

export interface Connections {
  /** Does some work over a connection to that address: one that is open, or a new one. */
  use<T>(address: Address, work: (client: KafkaClient) => Promise<T>): Promise<T>;
  /** Closes all; whoever waits for an answer gets KAFKA_UNREACHABLE. */
  close(): void;
}

interface Held {
  connecting: Promise<KafkaClient>;
  client?: KafkaClient;
  users: number;
}

/** Two addresses with the same text are the same. */
export const addressText = ({ host, port, servername }: Address) => `${host}:${port}/${servername ?? ''}`;

/**
 * One connection an address, at most `most` in all: for a new one the one is closed that was idle for longest, or the
 * caller waits until one is idle, which the clients' own timeouts bound.
 */
export function openConnections(
  connect: (address: Address) => Promise<KafkaClient>,
  most: number,
): Connections {
  /** In the order of their last use. */
  const held = new Map<string, Held>();
  let released = Promise.withResolvers<void>();
  let closed = false;

  const drop = (key: string, entry: Held): void => {
    if (held.get(key) === entry) held.delete(key);
    if (entry.client) return entry.client.close();
    entry.connecting.then(
      (client) => client.close(),
      () => {},
    );
  };
  const makeRoom = () => {
    const idle = [...held].find(([, { users }]) => users === 0);
    if (idle) drop(...idle);
    return idle !== undefined;
  };
  /** The caller counts as a user of it at once, so that nobody closes it meanwhile. */
  const take = async (key: string, address: Address): Promise<Held> => {
    for (;;) {
      if (closed) throw new IsthmusError('KAFKA_UNREACHABLE', 'the admin client was closed');
      const found = held.get(key);
      if (found && found.client?.isOpen() !== false) {
        held.delete(key);
        held.set(key, found);
        found.users++;
        return found;
      }
      if (found) drop(key, found);
      else if (held.size < most) held.set(key, { connecting: connect(address), users: 0 });
      else if (!makeRoom()) await released.promise;
    }
  };

  return {
    async use(address, work) {
      const key = addressText(address);
      const entry = await take(key, address);
      try {
        entry.client = await entry.connecting;
        return await work(entry.client);
      } finally {
        entry.users--;
        if (entry.client?.isOpen() !== true) drop(key, entry);
        released.resolve();
        released = Promise.withResolvers();
      }
    },
    close() {
      closed = true;
      for (const [key, entry] of held) drop(key, entry);
      released.resolve();
    },
  };
}
