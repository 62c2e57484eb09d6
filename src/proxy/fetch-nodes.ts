import { apiOf } from '../kafka/apis.ts';
import { responseCodec } from '../kafka/codec.ts';
import { decodeResponseHeader, encodeRequest } from '../kafka/frame.ts';
import { messageOf } from '../ops/errors.ts';
import type { Address } from './config/model.ts';
import type { Upstream } from './upstream.ts';

/** What a target cluster said when it was asked where its brokers are. */
export type Fetched =
  | { nodes: [number, Address][] }
  /** It is there, but wants a login first. */
  | { silent: true }
  | { unreachable: string };

const VERSION = 1;
const LONGEST = 16_777_216;

/** Connects to any broker and, where `ask` says so, asks it where all are. */
export async function fetchNodes(upstream: Upstream, ask: boolean, timeoutMs: number): Promise<Fetched> {
  try {
    const { link } = await upstream.open(undefined, timeoutMs);
    if (!ask) {
      link.destroy();
      return { silent: true };
    }
    const { promise, resolve } = Promise.withResolvers<Fetched>();
    const timer = setTimeout(resolve, timeoutMs, { silent: true });
    let bytes: Buffer = Buffer.alloc(0);
    link.events = {
      onChunk(chunk, length) {
        bytes = Buffer.concat([bytes, chunk.subarray(0, length)]);
        if (bytes.length < 4) return true;
        const total = bytes.readInt32BE(0) + 4;
        if (total > LONGEST || bytes.length >= total) resolve(read(bytes.subarray(0, total)));
        return true;
      },
      onWritten: () => {},
      onEnd: () => resolve({ silent: true }),
      onClose: () => resolve({ silent: true }),
    };
    link.resume();
    const header = {
      apiKey: apiOf('Metadata').key,
      apiVersion: VERSION,
      correlationId: 1,
      clientId: 'isthmus',
    };
    link.write(encodeRequest(header, { topics: [] }));
    return await promise.finally(() => {
      clearTimeout(timer);
      link.destroy();
    });
  } catch (error) {
    return { unreachable: messageOf(error) };
  }
}

function read(frame: Buffer): Fetched {
  try {
    const { end } = decodeResponseHeader(apiOf('Metadata').key, VERSION, frame, 4);
    const { brokers } = responseCodec('Metadata', VERSION).decode(frame, end);
    return { nodes: brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]) };
  } catch {
    return { silent: true };
  }
}
