/** The API server as the testbed's own controllers use it: no product code, so that one does not vouch for the other. */
import { request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../../src/ops/errors.ts';
import { parse } from 'yaml';
import type { Identity } from '../control-plane/files.ts';
import type { KeyPairPem } from '../pki.ts';
import { followList } from './followed-list.ts';
import type { Followed } from './followed-list.ts';

export interface Answer {
  status: number;
  text: string;
}

export interface Api {
  /** A request as administrator. Undefined if nobody answers. */
  ask(method: string, path: string, body?: object): Promise<Answer | undefined>;
  /** The items of a list. Undefined if nobody answers, which must not be taken for an empty list. */
  list<T>(path: string): Promise<T[] | undefined>;
  /** The same list from now on, read once and then told of by a watch; see `followList`. */
  follow<T>(path: string): Followed<T>;
}

/** A controller that looks again and again. */
export interface Loop extends AsyncDisposable {
  stop(): Promise<void>;
}

/** The length is said by us: Node leaves it out for DELETE, and the body would then be taken for the next request. */
function headersFor(method: string, body: string): Record<string, string | number> {
  return {
    'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
    'content-length': Buffer.byteLength(body),
  };
}

/** Who asks, and whom the server's certificate is signed by. */
interface Caller {
  authority: Pick<Identity['authority'], 'certPem'>;
  admin: KeyPairPem;
}

interface Kubeconfig {
  clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  users: [{ user: { 'client-certificate-data': string; 'client-key-data': string } }];
}

/** The API of the server in a kubeconfig of the testbed, which has everything embedded. */
export function apiOfKubeconfig(text: string): Api {
  const { clusters, users } = parse(text) as Kubeconfig;
  const decoded = (base64: string) => Buffer.from(base64, 'base64').toString();
  const [{ cluster }] = clusters;
  const [{ user }] = users;
  const admin = {
    certPem: decoded(user['client-certificate-data']),
    keyPem: decoded(user['client-key-data']),
  };
  return createApi(cluster.server, {
    authority: { certPem: decoded(cluster['certificate-authority-data']) },
    admin,
  });
}

/** The API of the server at this address. */
export function createApi(url: string, { authority, admin }: Caller): Api {
  const options = { ca: authority.certPem, cert: admin.certPem, key: admin.keyPem, timeout: 10_000 };
  const ask: Api['ask'] = (method, path, body) => {
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = headersFor(method, text);
    const req = request(`${url}${path}`, { ...options, headers, method }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
      response.on('error', () => resolve(undefined));
    });
    req.on('timeout', () => req.destroy());
    req.on('error', () => resolve(undefined));
    req.end(text);
    return promise;
  };
  return {
    ask,
    follow: (path) => followList(ask, (watched) => request(`${url}${watched}`, { ...options, timeout: 0 }), path), // prettier-ignore
    async list<T>(path: string) {
      const answer = await ask('GET', path);
      return answer?.status === 200 ? (JSON.parse(answer.text) as { items: T[] }).items : undefined;
    },
  };
}

/** Does the work again and again until it is stopped. A round that fails is told, and the next one tries again. */
export function startLoop(work: () => Promise<void>, everyMs = 500): Loop {
  const stopped = new AbortController();
  let told = '';
  const tell = (error: unknown) => {
    const text = messageOf(error);
    if (text !== told) process.stderr.write(`isthmus: a controller of the testbed will try again: ${text}\n`);
    told = text;
  };
  const loop = (async () => {
    while (!stopped.signal.aborted) {
      await work().catch(tell);
      await delay(everyMs, undefined, { signal: stopped.signal }).catch(() => {});
    }
  })();
  return disposable(async () => {
    stopped.abort();
    await loop;
  });
}

/** Something to stop, also by `await using`. */
export function disposable(stop: () => Promise<void>): Loop {
  return { stop, [Symbol.asyncDispose]: stop };
}
