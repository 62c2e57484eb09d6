/** Answers, all with the headers that keep browsers from doing more with them than they should. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Asset } from './assets.ts';
import { SECURITY_HEADERS } from './guard.ts';

const NOT_BUILT =
  'The pages of the console are not built: start with `npm run up`, or install the package. Its documents are below /api/.\n';

export function sendPage(
  assets: ReadonlyMap<string, Asset>,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  // Every view is a path of one page.
  const asset = assets.get(path) ?? (/^\/[a-z]*$/.test(path) ? assets.get('/index.html') : undefined);
  if (!asset) return sendText(response, 404, assets.size === 0 ? NOT_BUILT : 'there is no such page');
  const isGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  const headers = {
    'content-type': asset.type,
    'cache-control': asset.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    ...(isGzip && { 'content-encoding': 'gzip' }),
    vary: 'accept-encoding',
  };
  send(response, 200, headers, isGzip ? asset.gzipped : asset.body);
}

export const sendText = (response: ServerResponse, status: number, text: string) =>
  send(
    response,
    status,
    { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
    `${text}\n`,
  );

export const sendJson = (response: ServerResponse, status: number, document: object | string) =>
  send(
    response,
    status,
    { 'content-type': 'application/json', 'cache-control': 'no-store' },
    typeof document === 'string' ? document : JSON.stringify(document),
  );

function send(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: string | Buffer,
): void {
  response.writeHead(status, { ...SECURITY_HEADERS, ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
