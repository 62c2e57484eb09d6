import { apiOf } from '../../kafka/apis.ts';
import type { ApiName } from '../../kafka/apis.ts';
import { responseCodec } from '../../kafka/codec.ts';
import type { Draft } from '../../kafka/codec.ts';
import { decodeResponseHeader, encodeRequest } from '../../kafka/frame.ts';
import type { Requests, Responses } from '../../kafka/schemas/types.ts';
import { messageOf } from '../../ops/errors.ts';
import type { Link } from './link.ts';
import type { PendingQueue } from './pending.ts';
import type { Address } from '../config/model.ts';

/** Requests of the proxy's own, put between those of the client on its (authenticated) connection to the broker. */

/** A client's correlation id may be the same: order alone tells responses apart. */
const CORRELATION_ID = -0x1571;
/** A version of Metadata that every broker has. */
const LEARNING_VERSION = 1;

/** Asks the broker; the answer comes after those to everything that was asked before. */
export function askBroker<Name extends ApiName>(
  upstream: Link,
  queue: PendingQueue,
  api: Name,
  apiVersion: number,
  body: Draft<Requests[Name]>,
): Promise<Responses[Name]> {
  const { key: apiKey } = apiOf(api);
  const header = { apiKey, apiVersion, correlationId: CORRELATION_ID, clientId: 'isthmus' };
  const frame = encodeRequest(header, body);
  const { promise, resolve, reject } = Promise.withResolvers<Responses[Name]>();
  promise.catch(() => {}); // whoever asked may not listen any more
  const asker = (answer: Buffer | undefined) => {
    if (!answer) return reject(new Error(`the broker went away before it answered ${api}`));
    try {
      // A copy, because what is decoded has views into the connection's buffer.
      const bytes = Buffer.from(answer);
      const { end } = decodeResponseHeader(apiKey, apiVersion, bytes, 4);
      resolve(responseCodec(api, apiVersion).decode(bytes, end));
    } catch (cause) {
      reject(new Error(`the broker's answer to ${api} cannot be read: ${messageOf(cause)}`, { cause }));
    }
  };
  const since = performance.now();
  queue.push({ correlationId: CORRELATION_ID, apiKey, apiVersion, since, answer: undefined, asker });
  upstream.write(frame);
  return promise;
}

/** Asks the broker where all brokers are. */
export async function askForNodes(upstream: Link, queue: PendingQueue): Promise<[number, Address][]> {
  const { brokers } = await askBroker(upstream, queue, 'Metadata', LEARNING_VERSION, { topics: [] });
  return brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]);
}
