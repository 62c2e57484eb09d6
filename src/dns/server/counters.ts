import { rcodeName, RCODE, TYPE, typeName } from '../wire/constants.ts';
import type { Metrics } from '../../ops/metrics.ts';

/**
 * What one thread counts, in memory that it shares with the main thread: a worker in its receive loop could not answer
 * a message, and need not. One writer a block; numbers are read while they change, which is good enough for metrics.
 */
export interface Counters {
  readonly cells: Float64Array;
}

const TYPES = [
  TYPE.A,
  TYPE.AAAA,
  TYPE.CNAME,
  TYPE.SRV,
  TYPE.TXT,
  TYPE.PTR,
  TYPE.SOA,
  TYPE.NS,
  TYPE.ANY,
  TYPE.AXFR,
];
const RCODES = Object.values(RCODE);
/** Bounds in milliseconds: a DNS answer takes microseconds. */
const BOUNDS_MS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 100];

const typeIndex = new Uint8Array(256).fill(TYPES.length);
TYPES.forEach((type, i) => (typeIndex[type] = i));
const rcodeIndex = new Uint8Array(256).fill(RCODES.length);
RCODES.forEach((rcode, i) => (rcodeIndex[rcode] = i));

const RCODE_SLOTS = RCODES.length + 1;
const TRANSPORT_SLOTS = (TYPES.length + 1) * RCODE_SLOTS;
const AFTER_QUERIES = 2 * TRANSPORT_SLOTS;
const TRUNCATED = AFTER_QUERIES;
/** Names of single cells, and their places. */
export const CELL = {
  truncated: TRUNCATED,
  dropped: TRUNCATED + 1,
  rateDropped: TRUNCATED + 2,
  rateSlipped: TRUNCATED + 3,
  sendErrors: TRUNCATED + 4,
} as const;
const LATENCY = TRUNCATED + 5;
const SIZE = LATENCY + 2 * (BOUNDS_MS.length + 1);

export function createCounters(shared = new SharedArrayBuffer(SIZE * 8)): Counters {
  return { cells: new Float64Array(shared) };
}

/** Counts one answer. */
export function countAnswer(counters: Counters, tcp: boolean, type: number, rcode: number): void {
  const place = type < 256 ? typeIndex[type]! : TYPES.length;
  counters.cells[(tcp ? TRANSPORT_SLOTS : 0) + place * RCODE_SLOTS + rcodeIndex[rcode]!]! += 1;
}

export function count(counters: Counters, cell: (typeof CELL)[keyof typeof CELL]): void {
  counters.cells[cell]! += 1;
}

/** Counts one latency, in milliseconds: how many, and their sum, by bucket. */
export function countLatency(counters: Counters, ms: number): void {
  let bucket = 0;
  while (bucket < BOUNDS_MS.length && ms > BOUNDS_MS[bucket]!) bucket++;
  counters.cells[LATENCY + 2 * bucket]! += 1;
  counters.cells[LATENCY + 2 * bucket + 1]! += ms;
}

/** Reports the sum of all threads' counters in the process's metrics. */
export function reportCounters(metrics: Metrics, all: () => readonly Counters[]): void {
  const queries = metrics.counter(
    'isthmus_dns_queries_total',
    'Queries answered, by transport, type and response code.',
  );
  const truncated = metrics.counter(
    'isthmus_dns_truncated_total',
    'Answers too large for UDP, sent with TC.',
  );
  const dropped = metrics.counter('isthmus_dns_dropped_total', 'Packets not answered, by reason.');
  const slipped = metrics.counter(
    'isthmus_dns_rate_slipped_total',
    'Answers above the rate limit, sent with TC.',
  );
  const latency = metrics.histogram(
    'isthmus_dns_latency_seconds',
    'Time from reading a query to having sent its answer, of a sample of queries.',
    BOUNDS_MS.map((ms) => ms / 1000),
  );
  const reported = new Float64Array(SIZE);

  metrics.beforeReport(() => {
    const sum = new Float64Array(SIZE);
    for (const { cells } of all()) for (let i = 0; i < SIZE; i++) sum[i]! += cells[i]!;
    for (let slot = 0; slot < AFTER_QUERIES; slot++) {
      if (sum[slot]! > 0) queries.of(labelsOf(slot)).value = sum[slot]!;
    }
    truncated.of().value = sum[CELL.truncated]!;
    slipped.of().value = sum[CELL.rateSlipped]!;
    dropped.of({ reason: 'malformed' }).value = sum[CELL.dropped]!;
    dropped.of({ reason: 'rate' }).value = sum[CELL.rateDropped]!;
    dropped.of({ reason: 'send' }).value = sum[CELL.sendErrors]!;
    for (let at = LATENCY; at < SIZE; at += 2) {
      const fresh = sum[at]! - reported[at]!;
      const mean = (sum[at + 1]! - reported[at + 1]!) / fresh / 1000;
      for (let i = 0; i < fresh; i++) latency.of().observe(mean);
    }
    reported.set(sum);
  });
}

function labelsOf(slot: number): { transport: string; type: string; rcode: string } {
  const within = slot % TRANSPORT_SLOTS;
  const type = TYPES[Math.floor(within / RCODE_SLOTS)];
  const rcode = RCODES[within % RCODE_SLOTS];
  return {
    transport: slot < TRANSPORT_SLOTS ? 'udp' : 'tcp',
    type: type === undefined ? 'other' : typeName(type),
    rcode: rcode === undefined ? 'other' : rcodeName(rcode),
  };
}
