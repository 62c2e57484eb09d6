import { rcodeName, RCODE, TYPE, typeName } from '../wire/constants.ts';

/**
 * What one thread counts, in memory shared with the main thread: a worker in its receive loop cannot answer a message,
 * and need not. Each block has one writer; cells are read while they change, which is exact enough for metrics.
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
/** Bounds of the latency buckets in milliseconds: a DNS response takes microseconds. */
export const BOUNDS_MS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 100];

const typeIndex = new Uint8Array(256).fill(TYPES.length);
TYPES.forEach((type, i) => (typeIndex[type] = i));
const rcodeIndex = new Uint8Array(256).fill(RCODES.length);
RCODES.forEach((rcode, i) => (rcodeIndex[rcode] = i));

const RCODE_SLOTS = RCODES.length + 1;
const TRANSPORT_SLOTS = (TYPES.length + 1) * RCODE_SLOTS;
const AFTER_RESPONSES = 2 * TRANSPORT_SLOTS;
const TRUNCATED = AFTER_RESPONSES;
/** Cells of their own, by index. */
export const CELL = {
  truncated: TRUNCATED,
  dropped: TRUNCATED + 1,
  rateDropped: TRUNCATED + 2,
  rateSlipped: TRUNCATED + 3,
  sendErrors: TRUNCATED + 4,
  tcpRefused: TRUNCATED + 5,
} as const;
const LATENCY = TRUNCATED + 6;
const SIZE = LATENCY + 2 * (BOUNDS_MS.length + 1);

/** Counters of one thread, with a cell for each of so many zones. */
export function createCounters(zones = 0): Counters {
  return openCounters(new SharedArrayBuffer((SIZE + zones) * 8));
}

/** The counters of another thread. */
export function openCounters(shared: SharedArrayBuffer): Counters {
  return { cells: new Float64Array(shared) };
}

/** Counts a response from a zone, by its id; -1 is none. */
export function countZone({ cells }: Counters, zone: number): void {
  if (zone >= 0) cells[SIZE + zone]! += 1;
}

/** Responses by id of their zone, of several threads. */
export function zoneTotals(all: readonly Counters[]): number[] {
  const sums: number[] = [];
  for (const { cells } of all) {
    for (let i = SIZE; i < cells.length; i++) sums[i - SIZE] = (sums[i - SIZE] ?? 0) + cells[i]!;
  }
  return sums;
}

/** Counts one response. */
export function countResponse(counters: Counters, tcp: boolean, type: number, rcode: number): void {
  const place = type < 256 ? typeIndex[type]! : TYPES.length;
  counters.cells[(tcp ? TRANSPORT_SLOTS : 0) + place * RCODE_SLOTS + rcodeIndex[rcode]!]! += 1;
}

/** Adds one to a cell of its own. */
export function count(counters: Counters, cell: (typeof CELL)[keyof typeof CELL]): void {
  counters.cells[cell]! += 1;
}

/** Counts one latency, in milliseconds. */
export function countLatency(counters: Counters, ms: number): void {
  let bucket = 0;
  while (bucket < BOUNDS_MS.length && ms > BOUNDS_MS[bucket]!) bucket++;
  counters.cells[LATENCY + 2 * bucket]! += 1;
  counters.cells[LATENCY + 2 * bucket + 1]! += ms;
}

/** The counters of several threads, added up. */
export interface CounterTotals {
  /** Responses by transport, type and response code; those that occurred. */
  responses: { labels: ResponseLabels; value: number }[];
  single: Record<keyof typeof CELL, number>;
  /** By latency bucket: how many, and the sum of their milliseconds. */
  latencies: { count: number; ms: number }[];
}

export interface ResponseLabels extends Record<string, string> {
  transport: string;
  type: string;
  rcode: string;
}

/** Adds up the counters of all threads. */
export function totalOf(all: readonly Counters[]): CounterTotals {
  const sum = new Float64Array(SIZE);
  for (const { cells } of all) for (let i = 0; i < SIZE; i++) sum[i]! += cells[i]!;
  const slots = [...sum.subarray(0, AFTER_RESPONSES).entries()].filter(([, value]) => value > 0);
  return {
    responses: slots.map(([slot, value]) => ({ labels: labelsOf(slot), value })),
    single: {
      truncated: sum[CELL.truncated]!,
      dropped: sum[CELL.dropped]!,
      rateDropped: sum[CELL.rateDropped]!,
      rateSlipped: sum[CELL.rateSlipped]!,
      sendErrors: sum[CELL.sendErrors]!,
      tcpRefused: sum[CELL.tcpRefused]!,
    },
    latencies: [...BOUNDS_MS, Infinity].map((_, bucket) => ({
      count: sum[LATENCY + 2 * bucket]!,
      ms: sum[LATENCY + 2 * bucket + 1]!,
    })),
  };
}

function labelsOf(slot: number): ResponseLabels {
  const within = slot % TRANSPORT_SLOTS;
  const type = TYPES[Math.floor(within / RCODE_SLOTS)];
  const rcode = RCODES[within % RCODE_SLOTS];
  return {
    transport: slot < TRANSPORT_SLOTS ? 'udp' : 'tcp',
    type: type === undefined ? 'other' : typeName(type),
    rcode: rcode === undefined ? 'other' : rcodeName(rcode),
  };
}
