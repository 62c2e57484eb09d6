import { Resolver, lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { messageOf } from '../ops/errors.ts';

/** The addresses of a host name, of both families; rejects with a sentence if there is none. */
export type Resolve = (host: string) => Promise<string[]>;

const TRIES = 2;
const NONE = new Set(['ENODATA', 'ENOTFOUND']);
const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? messageOf(error);

/** As programs on this machine resolve names: with its own files, too. */
export const resolveBySystem: Resolve = async (host) => {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (error) {
    throw new Error(`this machine finds no address (${codeOf(error)})`, { cause: error });
  }
};

/** By this DNS server (`address` or `address:port`, in brackets for IPv6) and nothing else. */
export function resolveBy(server: string, timeoutMs: number): Resolve {
  return async (host) => {
    if (isIP(host) !== 0) return [host];
    const resolver = new Resolver({ timeout: Math.max(1, Math.floor(timeoutMs / TRIES)), tries: TRIES });
    resolver.setServers([server]);
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [four, six].flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (found.length > 0) return found;
    const reasons = [four, six].flatMap((one) => (one.status === 'rejected' ? [codeOf(one.reason)] : []));
    const broken = reasons.find((reason) => !NONE.has(reason));
    throw new Error(
      broken === undefined
        ? `${server} answers that there is no address (${reasons.includes('ENOTFOUND') ? 'NXDOMAIN' : 'no data'})`
        : `${server} does not answer (${broken})`,
    );
  };
}

const RESOLVE_MS = 5000;

/** For probes that go on: the resolver that clients outside use, if somebody has said which, else this machine's own. */
export const resolverFor = (server: string | undefined): Resolve =>
  server === undefined ? resolveBySystem : resolveBy(server, RESOLVE_MS);
