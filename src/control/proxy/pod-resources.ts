/** What the pods of a proxy may use, and what of it is for frames. */
import type { KafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';

type Amounts = Record<string, string | number>;

export interface PodResources {
  requests: Amounts;
  limits: Amounts;
}

/** Enough for two workers with the default limits of a proxy: see `budgetOf`. */
const DEFAULTS: PodResources = {
  requests: { cpu: '250m', memory: '256Mi' },
  limits: { cpu: '2', memory: '1Gi' },
};

/** What the user has written; where that says nothing at all of CPU or of memory, the default for it. */
export function podResources(proxy: KafkaProxy | undefined): PodResources {
  const { requests = {}, limits = {} } = proxy?.spec.infrastructure.proxy.resources ?? {};
  const missing = (defaults: Amounts): Amounts =>
    Object.fromEntries(Object.entries(defaults).filter(([name]) => !(name in requests) && !(name in limits)));
  return {
    requests: { ...missing(DEFAULTS.requests), ...requests },
    limits: { ...missing(DEFAULTS.limits), ...limits },
  };
}

const MAX_WORKERS = 64;

/** A worker for each CPU that the pod may use. */
export function workersOf({ requests, limits }: PodResources): number {
  const cpus = amountOf(limits['cpu'] ?? requests['cpu']) ?? 2;
  return Math.min(MAX_WORKERS, Math.max(1, Math.ceil(cpus)));
}

const MIB = 2 ** 20;
/** For each worker, and their supervisor. */
const PROCESS_BYTES = 100 * MIB;
/** Ten thousand of them, at 22 kB each. */
const CONNECTIONS_BYTES = 211 * MIB;
const LEAST_OF_WORKER = 8 * MIB;
const MOST_OF_WORKER = 128 * MIB;

/**
 * What frames may take that a pod holds; undefined if its memory has no limit. What is made of a frame takes as much again,
 * so half of what is left beside processes and connections: of 1 GiB with two workers, 1024 - 300 - 211 = 513, half of
 * it, and so the 256 MiB that two workers may have at most.
 */
export function budgetOf(resources: PodResources): number | undefined {
  const memory = amountOf(resources.limits['memory']);
  if (memory === undefined) return undefined;
  const workers = workersOf(resources);
  const room = (memory - PROCESS_BYTES * (workers + 1) - CONNECTIONS_BYTES) / 2;
  return Math.floor(Math.min(MOST_OF_WORKER * workers, Math.max(LEAST_OF_WORKER * workers, room)));
}

const UNITS: Record<string, number> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: MIB,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** An amount as Kubernetes writes it, as a number. */
function amountOf(quantity: string | number | undefined): number | undefined {
  const [, digits, unit = ''] = /^\+?([0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/.exec(String(quantity)) ?? [];
  const amount = Number(digits) * (unit === '' ? 1 : (UNITS[unit] ?? Number.NaN));
  return Number.isFinite(amount) ? amount : undefined;
}
