/** Asks a pod something by HTTP, by the address that it has now. What it answers is bounded, and not trusted. */
import type { IncomingMessage } from 'node:http';
import type { RequestOptions } from 'node:https';

/** On a connection of its own, so that none is kept to a pod that may have gone; by HTTPS where `ca` says whom to trust. */
export function httpGet(where: RequestOptions): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Not imported: that loads all that node:http offers, a whole HTTP client among it.
  const { get } = process.getBuiltinModule(where.ca === undefined ? 'node:http' : 'node:https');
  get({ ...where, agent: false })
    .on('response', resolve)
    .on('error', reject);
  return promise;
}

/** The text of an answer; undefined if it is longer than that. */
export async function boundedText(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
