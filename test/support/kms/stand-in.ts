/**
 * A stand-in for a key service: an HTTP server on loopback that behaves as the service's documentation says. It stands in for
 * what cannot be had (Azure, Google), or not in the time of a test run (Vault is built in minutes; AWS). What it cannot show is
 * that the documentation is right.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Outbound } from '../../../src/ops/outbound.ts';

export interface Received {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string | undefined>;
  body: string;
}

export interface Reply {
  status: number;
  body?: object | string;
  headers?: Record<string, string>;
}

/** What becomes of the requests for keys, as long as it is set. Logging in is not affected. */
export type StandInFault = 'refuse' | 'throttle' | 'hang' | undefined;

export interface StandIn extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly requests: Received[];
  fault: StandInFault;
  /** Closes the port, and opens the same one again. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export interface StandInOptions {
  isKeyRequest(request: Received): boolean;
  handle(request: Received): Reply;
  /** How the service says no, and not so fast. */
  refusal: Reply;
  throttling: Reply;
}

async function receive(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
  return {
    method: request.method!,
    path: pathname,
    query: searchParams,
    headers: request.headers as Record<string, string | undefined>,
    body: Buffer.concat(chunks).toString(),
  };
}

export async function startStandIn(options: StandInOptions): Promise<StandIn> {
  const requests: Received[] = [];
  let port = 0;
  let server: Server;

  function replyTo(received: Received): Reply | undefined {
    if (!standIn.fault || !options.isKeyRequest(received)) return options.handle(received);
    if (standIn.fault === 'hang') return undefined;
    return standIn.fault === 'refuse' ? options.refusal : options.throttling;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const received = await receive(request);
    requests.push(received);
    const reply = replyTo(received);
    if (!reply) return; // never
    const { status, body = '', headers } = reply;
    response.writeHead(status, headers);
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  const standIn: StandIn = {
    fault: undefined,
    requests,
    get port() {
      return port;
    },
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    async start() {
      server = createServer((request, response) => {
        answer(request, response).catch(() => response.destroy());
      });
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      server.on('error', reject).listen(port, '127.0.0.1', resolve);
      await promise;
      port = (server.address() as AddressInfo).port;
    },
    async stop() {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      server.closeAllConnections();
      await promise;
    },
    [Symbol.asyncDispose]: () => standIn.stop(),
  };
  await standIn.start();
  return standIn;
}

/** The keys of a stand-in, with their versions. */
export interface StandInKeys {
  create(name: string): void;
  rotate(name: string): void;
  /** Destroys a key, and gives what a backup of it would have. */
  destroy(name: string): Buffer[];
  restore(name: string, backup: Buffer[]): void;
  has(name: string): boolean;
  /** The number of the newest version, from 1. */
  newest(name: string): number;
  seal(name: string, text: Buffer): Buffer;
  /** Undefined where it is not what that version has sealed. */
  open(name: string, version: number, sealed: Buffer): Buffer | undefined;
}

export function createStandInKeys(...names: string[]): StandInKeys {
  const keys = new Map<string, Buffer[]>(names.map((name) => [name, [randomBytes(32)]]));
  return {
    create: (name) => void keys.set(name, [randomBytes(32)]),
    rotate: (name) => void keys.get(name)!.push(randomBytes(32)),
    destroy(name) {
      const backup = keys.get(name)!;
      keys.delete(name);
      return backup;
    },
    restore: (name, backup) => void keys.set(name, backup),
    has: (name) => keys.has(name),
    newest: (name) => keys.get(name)!.length,
    seal(name, text) {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', keys.get(name)!.at(-1)!, iv);
      return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
    },
    open(name, version, sealed) {
      const key = keys.get(name)?.[version - 1];
      if (!key || sealed.length < 28) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12));
      decipher.setAuthTag(sealed.subarray(sealed.length - 16));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
}

/** Dials this machine and nothing else, whatever the name, and shows itself to everybody. */
export const LOOPBACK: Outbound = {
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  mayIdentifyTo: () => true,
};
