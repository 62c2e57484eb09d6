import type { Peers } from '../filter.ts';

/** What filters tell the same filter in the other processes, by the name of a channel. */
export interface PeerBus {
  /** The channel of one filter of one virtual cluster. */
  open(virtualCluster: string, filter: string): Peers & { close(): void };
  /** Takes in what was told in another process. */
  hear(channel: string, message: unknown): void;
}

type Handler = (message: unknown) => void;

/** `tell` reaches the other processes; in a process by itself nobody is told. */
export function createPeerBus(tell: (channel: string, message: unknown) => void): PeerBus {
  // A set each: while connections of before a change drain, a filter is there twice.
  const handlers = new Map<string, Set<Handler>>();
  return {
    open(virtualCluster, filter) {
      const channel = `${virtualCluster}/${filter}`;
      const own = new Set<Handler>();
      return {
        tell: (message) => tell(channel, message),
        hear(handler) {
          own.add(handler);
          handlers.set(channel, (handlers.get(channel) ?? new Set()).add(handler));
        },
        close() {
          const all = handlers.get(channel);
          for (const handler of own) all?.delete(handler);
          if (all?.size === 0) handlers.delete(channel);
        },
      };
    },
    hear(channel, message) {
      for (const handler of handlers.get(channel) ?? []) handler(message);
    },
  };
}
