/** Open event streams: so many at once, and none that fills memory because nobody reads it. */
import type { ServerResponse } from 'node:http';

/** Of one who looks. */
export const MOST_STREAMS = 32;
/** Of all together. */
const MOST_OF_ALL = 256;
/** A browser that is behind by more is not waited for: it connects again by itself. */
const MOST_BACKLOG = 4_194_304;
const BEAT_MS = 15_000;

export interface Streams {
  /** Begins a stream; undefined if there are too many, or too many of this viewer. `onClose` is called once it has ended. */
  open(response: ServerResponse, viewer: string, onClose: () => void): Stream | undefined;
  count(): number;
  close(): void;
}

export interface Stream {
  send(data: string): void;
}

export function createStreams(): Streams {
  const all = new Map<ServerResponse, string>();
  const ofViewer = (viewer: string) => [...all.values()].filter((one) => one === viewer).length;
  // Whatever is between us and the browser shall not take a quiet stream for a dead one.
  const beat = setInterval(() => all.forEach((_, response) => response.write(': \n\n')), BEAT_MS).unref();
  return {
    count: () => all.size,
    open(response, viewer, onClose) {
      if (all.size >= MOST_OF_ALL || ofViewer(viewer) >= MOST_STREAMS) return undefined;
      all.set(response, viewer);
      response.once('close', () => {
        all.delete(response);
        onClose();
      });
      response.write('retry: 2000\n\n');
      return {
        send(data) {
          if (response.writableLength > MOST_BACKLOG) response.destroy();
          else response.write(`data: ${data}\n\n`);
        },
      };
    },
    close() {
      clearInterval(beat);
      for (const response of all.keys()) response.destroy();
    },
  };
}
