/**
 * What a pod in another cluster is to look at, and what it says of it. It is told names, addresses and whom to trust, and nothing that is
 * secret: where a listener takes logins or certificates of clients it ends before those, as whoever has none would.
 */
import { z } from 'zod';
import { MAX_MESSAGE, pack, unpack } from '../../../probe/packed.ts';
import { wayMs } from '../../../probe/probed.ts';
import { resolverFor } from '../../../probe/resolve.ts';
import type { ToldListener } from '../expose/told.ts';
import { lookAt } from '../probe/look.ts';
import type { Access } from '../probe/look.ts';
import type { Reported } from '../probe/metrics.ts';

/** More of a cluster are not looked at from elsewhere: the task is one argument. */
const MAX_ENDPOINTS = 256;

const listener = z.object({
  name: z.string(),
  tls: z.boolean(),
  authentication: z.enum(['none', 'tls', 'scram-sha-512']),
  /** Whom to trust, PEM; anybody if left out. */
  ca: z.string().exactOptional(),
  endpoints: z.array(
    z.object({
      node: z.int().exactOptional(),
      host: z.string(),
      port: z.int(),
      expected: z.array(z.string()),
    }),
  ),
});

const task = z.object({
  resolver: z.string().exactOptional(),
  networks: z.array(z.string()),
  listeners: z.array(listener),
});
export type Task = z.output<typeof task>;

const text = z.string().max(1024);
const report = z.object({
  /** How long the way took to each that is reached, in milliseconds. */
  reachedMs: z.array(z.number().min(0)).max(MAX_ENDPOINTS),
  /** Names of listeners with which a connection came about. */
  connected: z.array(text).max(256),
  ended: z
    .array(
      z.object({
        name: text,
        failed: z.enum(['resolve', 'connect', 'tls', 'versions', 'login', 'metadata', 'identity']),
        problem: text,
        answered: z.array(text).max(16).exactOptional(),
      }),
    )
    .max(MAX_ENDPOINTS),
  /** How many more have ended, of which there is no room to tell. */
  more: z.int().min(0),
});
export type Report = z.output<typeof report>;

export interface TaskOptions {
  resolver?: string | undefined;
  networks?: readonly string[] | undefined;
  /** Whom clients of the cluster trust. */
  ca: string | undefined;
}

export function taskOf(
  listeners: readonly ToldListener[],
  { resolver, networks = [], ca }: TaskOptions,
): Task {
  let room = MAX_ENDPOINTS;
  return {
    ...(resolver !== undefined && { resolver }),
    networks: [...networks],
    listeners: listeners.map(({ name, tls, authentication, endpoints }) => {
      const taken = endpoints.slice(0, room);
      room -= taken.length;
      return {
        name,
        tls,
        authentication,
        ...(tls && ca !== undefined && { ca }),
        endpoints: taken.map(({ node, host, port, expected }) => ({
          ...(node !== undefined && { node }),
          host,
          port,
          expected: [...expected],
        })),
      };
    }),
  };
}

export const packTask = (wanted: Task): string => pack(wanted);
export const unpackTask = (packed: string): Task | undefined => unpack(packed, task);
export const unpackReport = (packed: string): Report | undefined => unpack(packed, report);

/** Looks, and says it in as many words as there is room for. */
export async function runTask({ resolver, networks, listeners }: Task): Promise<string> {
  const accessOf = new Map(listeners.map((one) => [one.name, accessBy(one)]));
  const told = listeners.map((one) => ({
    ...one,
    isNamed: true,
    endpoints: one.endpoints.map(({ node, ...rest }) => ({ node, ...rest })),
  }));
  const accessTo = async ({ name }: ToldListener) => accessOf.get(name)!;
  return packReport(await lookAt(told, accessTo, { resolve: resolverFor(resolver), networks }));
}

function accessBy({ tls, ca, authentication }: Task['listeners'][number]): Access {
  return {
    tls: tls ? { minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) } : undefined,
    anyAuthority: ca === undefined,
    withoutLogin: authentication === 'scram-sha-512',
    withoutCertificate: authentication === 'tls',
  };
}

const SHORT = 160;
const round = (ms: number) => Math.round(ms * 10) / 10;

/** What has no room: first how long each took, then those of many that are not reached. */
export function packReport(reported: readonly Reported[]): string {
  const isReached = ({ verdict }: Reported) => verdict.failed === undefined;
  const ended = reported
    .filter((one) => !isReached(one))
    .map(({ verdict: { name, failed, problem = '', answered, isPropagated } }) => ({
      name,
      failed: failed!,
      problem: problem.slice(0, SHORT),
      ...(!isPropagated && answered.length > 0 && { answered: answered.slice(0, 4) }),
    }));
  const isConnected = ({ probed }: Reported) =>
    probed.addresses.some(({ passed }) => passed.some(({ step }) => step === 'connect'));
  const listeners = reported.filter(isConnected).map(({ verdict: { name } }) => listenerOf(name));
  const said: Report = {
    reachedMs: reported.filter(isReached).map(({ probed }) => round(wayMs(probed))),
    connected: [...new Set(listeners)],
    ended,
    more: 0,
  };
  const whole = pack(said);
  if (whole.length <= MAX_MESSAGE) return whole;
  const brief = { ...said, reachedMs: said.reachedMs.map(() => 0) };
  for (let kept = ended.length; ; kept = Math.floor(kept / 2)) {
    const packed = pack({ ...brief, ended: ended.slice(0, kept), more: ended.length - kept });
    if (packed.length <= MAX_MESSAGE || kept === 0) return packed;
  }
}

/** The listener of `<listener>-<node id>` or `<listener>-bootstrap`. */
export const listenerOf = (endpoint: string): string => endpoint.slice(0, endpoint.lastIndexOf('-'));
