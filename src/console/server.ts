/**
 * The console: pages, and one JSON document a view. Whoever asks for a document as an event stream gets it again whenever it has
 * changed, at most once a second. It reads, and writes nothing.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BoundedMap } from '../ops/bounded-map.ts';
import { clientKey } from '../ops/client-address.ts';
import { IsthmusError, messageOf } from '../ops/errors.ts';
import type { Log } from '../ops/log.ts';
import { createDocuments } from './documents.ts';
import type { Documents } from './documents.ts';
import { pagesFolder, readAssets } from './http/assets.ts';
import type { Asset } from './http/assets.ts';
import { openDoor } from './http/door.ts';
import type { Door, Viewer } from './http/door.ts';
import { createRateLimit, SECURITY_HEADERS } from './http/guard.ts';
import { sendJson, sendPage, sendText } from './http/send.ts';
import { createStreams } from './http/streams.ts';
import type { Streams } from './http/streams.ts';
import { createSampler } from './sampler.ts';
import type { Sampler } from './sampler.ts';
import type { ConsoleSource } from './source.ts';
import { VIEW_NAMES } from './views/views.ts';

export interface ConsoleOptions {
  source: ConsoleSource;
  log: Log;
  /** 0 is any that is free. */
  port: number;
  /** Where the pages are, if not where they were built. */
  pages?: string;
  /** For others than who is on this machine: who is let in, and on which address. */
  shared?: { door: Door; host: string };
}

export interface Console {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
/** More than all views of one person need. */
const LIMIT = { perSecond: 50, burst: 200, connections: 128 };
/** Of an address that may be that of everybody's way in. */
const SHARED_LIMIT = { perSecond: 500, burst: 2000, connections: 1024 };
const MOST_ADDRESSES = 4096;
const MOST_VIEWERS = 256;
const HEADERS_TIMEOUT_MS = 10_000;

/** Serves on this machine alone, unless it is shared. */
export async function serveConsole(options: ConsoleOptions): Promise<Console> {
  const { source, log, port, pages = pagesFolder(), shared } = options;
  const { host, door } = shared ?? { host: HOST, door: openDoor(source) };
  const limit = shared ? SHARED_LIMIT : LIMIT;
  const sampler = createSampler(() => source.snapshots());
  const streams = createStreams();
  const site: Site = {
    door,
    sampler,
    streams,
    log,
    assets: readAssets(pages),
    documents: documentsByViewer(sampler),
  };
  const mayAsk = limitByAddress(limit);
  const server = createServer((request, response) => {
    const { port: own } = server.address() as AddressInfo;
    const refused =
      door.refusal(request, own) ??
      (mayAsk(request) ? undefined : { status: 429, why: 'too many requests; wait a moment' });
    if (refused) return sendText(response, refused.status, refused.why);
    respond(site, request, response).catch((error: unknown) => {
      log.error({ why: messageOf(error), path: request.url }, 'console request failed');
      if (!response.headersSent) sendText(response, 500, 'this could not be answered; the log says why');
      else response.destroy();
    });
  });
  server.maxConnections = limit.connections;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = HEADERS_TIMEOUT_MS;
  try {
    await listen(server, port, host);
  } catch (error) {
    sampler.close();
    streams.close();
    throw error;
  }
  const { port: own } = server.address() as AddressInfo;
  return {
    port: own,
    url: `http://${HOST}:${own}/`,
    close() {
      sampler.close();
      streams.close();
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      return promise;
    },
  };
}

function listen(server: ReturnType<typeof createServer>, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new IsthmusError('LISTEN_FAILED', `console: ${cause.message}`, { cause })),
    );
    // Without a host Node takes all addresses of both families, and of IPv4 alone where a machine has no other.
    server.listen(port, host === '::' ? undefined : host, () => resolve());
  });
}

function limitByAddress({ perSecond, burst }: typeof LIMIT): (request: IncomingMessage) => boolean {
  const limits = new BoundedMap<string, () => boolean>(MOST_ADDRESSES);
  return ({ socket }) => {
    const key = clientKey(socket.remoteAddress ?? '');
    const known = limits.get(key) ?? createRateLimit(perSecond, burst);
    limits.set(key, known);
    return known();
  };
}

interface Site {
  door: Door;
  sampler: Sampler;
  streams: Streams;
  log: Log;
  assets: ReadonlyMap<string, Asset>;
  documents: (viewer: Viewer) => Documents;
}

/** What one person is shown is made for that person alone. */
function documentsByViewer(sampler: Sampler): Site['documents'] {
  const all = new BoundedMap<string, Documents>(MOST_VIEWERS);
  return ({ id, source }) => {
    const known = all.get(id) ?? createDocuments(source, sampler);
    all.set(id, known);
    return known;
  };
}

async function respond(site: Site, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'http://console');
  if (!url) return sendText(response, 400, 'this is no address');
  if (url.pathname === '/session') return site.door.session(request, response);
  const view = /^\/api\/([a-z]+)$/.exec(url.pathname)?.[1];
  if (view === undefined) return sendPage(site.assets, url.pathname, request, response);
  const viewer = await site.door.admit(request);
  if (!viewer) return sendText(response, 401, 'log in first');
  const isStream = request.headers.accept?.includes('text/event-stream') ?? false;
  const looking = { ...site, viewer, request, response };
  if (view === 'traffic')
    return isStream
      ? streamTraffic(looking)
      : sendText(response, 406, 'traffic is a stream: accept text/event-stream');
  if (!VIEW_NAMES.includes(view))
    return sendText(response, 404, `there is no ${view}; there are ${VIEW_NAMES.join(', ')}, traffic`);
  if (isStream) return streamView(looking, view, url.searchParams);
  const document = await site.documents(viewer)(view, url.searchParams);
  if (document === undefined) return sendText(response, 404, 'there is no such object');
  sendJson(response, 200, document);
}

interface Looking extends Site {
  viewer: Viewer;
  request: IncomingMessage;
  response: ServerResponse;
}

/** Calls each second for as long as who looks may look, and no call is under way. */
function whileAdmitted(looking: Looking, work: () => Promise<void>): () => void {
  const { door, sampler, request, response, viewer, log } = looking;
  let isBusy = false;
  const turn = async () => {
    if (isBusy) return;
    isBusy = true;
    if ((await door.admit(request))?.id === viewer.id) await work();
    else response.end();
    isBusy = false;
  };
  const turnOrEnd = () => {
    turn().catch((error: unknown) => {
      log.error({ why: messageOf(error), path: request.url }, 'console view failed');
      response.destroy();
    });
  };
  turnOrEnd();
  return sampler.watch(turnOrEnd);
}

function streamView(looking: Looking, view: string, query: URLSearchParams): void {
  let last: string | undefined;
  const stop = Promise.withResolvers<() => void>();
  const stream = beginStream(looking, () => void stop.promise.then((end) => end()));
  if (!stream) return;
  const documents = looking.documents(looking.viewer);
  const look = async () => {
    const document = (await documents(view, query)) ?? 'null';
    if (document !== last) stream.send(document);
    last = document;
  };
  stop.resolve(whileAdmitted(looking, look));
}

function streamTraffic(looking: Looking): void {
  const ends: (() => void)[] = [];
  const stream = beginStream(looking, () => ends.forEach((end) => end()));
  if (!stream) return;
  ends.push(looking.viewer.source.tap((batch) => stream.send(JSON.stringify(batch))));
  ends.push(whileAdmitted(looking, async () => {}));
}

function beginStream({ streams, response, viewer }: Looking, onClose: () => void) {
  response.writeHead(200, {
    ...SECURITY_HEADERS,
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
  });
  const stream = streams.open(response, viewer.id, onClose);
  // A browser does not come again after an answer of 204 or an error, but does after a stream that has ended.
  if (!stream) response.end('event: full\ndata: too many streams are open\n\n');
  return stream;
}
