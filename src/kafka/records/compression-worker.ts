/** The thread of compression-thread.ts. */
import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../ops/errors.ts';
import { giveWay } from '../../ops/time-slice.ts';
import { MalformedMessage } from '../malformed.ts';
import { compress, decompress } from './compression.ts';
import type { ThreadAnswer, ThreadJob } from './compression-thread.ts';

// Connections come first: a small request must not wait for a core until a large batch is packed.
giveWay();
parentPort!.on('message', ({ kind, work, data, limit }: ThreadJob) => {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  try {
    // A copy of its own, because what comes back may be a view into more.
    const done = new Uint8Array(work === 'compress' ? compress(kind, bytes) : decompress(kind, bytes, limit));
    parentPort!.postMessage({ bytes: done } satisfies ThreadAnswer, [done.buffer]);
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    parentPort!.postMessage({ malformed: messageOf(error) } satisfies ThreadAnswer, []);
  }
});
