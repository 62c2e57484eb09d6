/** What the answer of a pod in another cluster comes to: who is reached from there, and whether it was let in though it should not be. Pure. */
import { isIP } from 'node:net';
import type { AnyObject } from '../../../kube/object.ts';
import { networkMatcher } from '../../../ops/client-address.ts';
import type { SeenFrom } from '../../../resources/isthmus/exposure.ts';
import type { ToldListener } from '../expose/told.ts';
import { listenerOf, taskOf, unpackReport } from './task.ts';

/** As many as the status of an anchor has of each. */
const MAX_LISTED = 16;
const MAX_TEXT = 1024;

export interface Outcome {
  seen: SeenFrom;
  /** How long the way took to each that is reached. */
  reachedMs: readonly number[];
  /** Names and addresses that lead where they should, with no connection for a place that is not to get one. */
  shut: readonly string[];
  /** Those that led a client through, from a place that may connect. */
  open: readonly string[];
}

/** Nobody could look. */
export const blind = (name: string, problem: string): Outcome => ({
  seen: { name, problem: problem.slice(0, MAX_TEXT), reached: 0, unreached: 0, endpoints: [] },
  reachedMs: [],
  shut: [],
  open: [],
});

/** What a pod that has ended with this message has seen from the cluster of this name. */
export function outcomeOf(
  name: string,
  pod: AnyObject,
  message: string,
  listeners: readonly ToldListener[],
): Outcome {
  const report = unpackReport(message);
  if (!report) return blind(name, `the probe there has failed: ${message.slice(0, 300)}`);
  const addresses = addressesOf(pod);
  const closed = listeners.filter((one) => isOutside(one, addresses)).map((one) => one.name);
  const isClosed = (endpoint: string) => closed.includes(listenerOf(endpoint));
  // Whoever has not come as far as to a door has not tried it; nor has who was led to another one. From which address is not said: each pod has another.
  const shut = report.ended
    .filter(({ name: endpoint, failed, answered }) => failed === 'connect' && !answered && isClosed(endpoint))
    .map((one) => one.name);
  const knocked = new Set(shut.map(listenerOf));
  const sources = closed
    .map((listener) => ({
      name: listener,
      connected: report.connected.includes(listener),
    }))
    .filter(({ name: listener, connected }) => connected || knocked.has(listener));
  const told = new Set(
    listeners.flatMap((one) => one.endpoints.map(({ node }) => `${one.name}-${node ?? 'bootstrap'}`)),
  );
  // Whoever is not to be let in is right to end there.
  const ended = report.ended.filter(
    (one) => told.has(one.name) && !(one.failed === 'connect' && isClosed(one.name)),
  );
  const seen = {
    name,
    reached: report.reachedMs.length,
    unreached: ended.length + report.more,
    endpoints: [...new Map(ended.map((one) => [one.name, one])).values()].slice(0, MAX_LISTED),
    ...(sources.length > 0 && { sources }),
  };
  // Of those that had no room in the answer nobody knows which they are; and who has no address may be anybody.
  const isSure = report.more === 0 && addresses.length > 0;
  const failed = new Set(report.ended.map((one) => one.name));
  const open = isSure ? lookedAt(listeners).filter((one) => !failed.has(one) && !isClosed(one)) : [];
  return { seen, reachedMs: report.reachedMs, shut, open };
}

const lookedAt = (listeners: readonly ToldListener[]): string[] =>
  taskOf(listeners, { ca: undefined }).listeners.flatMap(({ name, endpoints }) =>
    endpoints.map(({ node }) => `${name}-${node ?? 'bootstrap'}`),
  );

interface PodStatus {
  podIP?: string;
  podIPs?: { ip?: string }[];
  hostIP?: string;
  hostIPs?: { ip?: string }[];
}

/** By which brokers may see the pod: its own and its node's; others, where something between them rewrites addresses. */
function addressesOf({ status }: AnyObject): string[] {
  const { podIP, podIPs = [], hostIP, hostIPs = [] } = (status ?? {}) as PodStatus;
  const found = [podIP, ...podIPs.map(({ ip }) => ip), hostIP, ...hostIPs.map(({ ip }) => ip)];
  return [...new Set(found.filter((one) => isIP(one ?? '') !== 0))] as string[];
}

function isOutside({ sources }: ToldListener, addresses: readonly string[]): boolean {
  if (!sources || addresses.length === 0) return false;
  const isAllowed = networkMatcher(sources.allowed);
  return !addresses.some((address) => isAllowed(address));
}
