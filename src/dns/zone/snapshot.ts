import { createHash } from 'node:crypto';
import { z } from 'zod';
import { RECORD_TYPES } from '../wire/constants.ts';
import type { DnsRecord } from '../wire/record.ts';

/*
 * The records of clusters as they were, for a start while these cannot be read:
 *   a line with version, time and SHA-256 of the rest, in JSON;  then the records, a line of JSON each
 */
const VERSION = 1;
/** A file larger than this is neither written nor read: it would take as much memory again. */
export const MAX_SNAPSHOT_BYTES = 64 << 20;

const headerSchema = z.strictObject({
  isthmusDnsSnapshot: z.literal(VERSION),
  writtenAt: z.int(),
  sha256: z.string(),
  /** The serials of zones, where they are given. */
  serials: z.record(z.string(), z.uint32()).optional(),
});

const recordTuple = z.tuple([z.string(), z.enum(RECORD_TYPES), z.string(), z.int().nullable()]);

export interface Snapshot {
  /** In seconds. */
  writtenAt: number;
  records: DnsRecord[];
  serials: Readonly<Record<string, number>>;
}

/** One record as a line. */
export function snapshotLine({ name, type, data, ttl }: DnsRecord): string {
  return `${JSON.stringify([name, type, data, ttl ?? null] satisfies z.input<typeof recordTuple>)}\n`;
}

/** The first line, for records with this SHA-256. */
export function snapshotHeader(
  sha256: string,
  writtenAt: number,
  serials?: Readonly<Record<string, number>>,
): string {
  const header = { isthmusDnsSnapshot: VERSION, writtenAt, sha256, ...(serials && { serials }) };
  return `${JSON.stringify(header)}\n`;
}

/** Reads a file, step by step; the result says what is wrong with it, if anything is. */
export function* readSnapshot(text: string): Generator<undefined, Snapshot | { problem: string }> {
  const end = text.indexOf('\n');
  const header = headerSchema.safeParse(parseJson(text.slice(0, Math.max(end, 0))));
  if (!header.success) return { problem: 'it is not a snapshot of this version' };
  const lines = text.slice(end + 1);
  if ((yield* hashOf(lines)) !== header.data.sha256) return { problem: 'its checksum does not fit' };
  const records: DnsRecord[] = [];
  for (let at = 0, next = 0; at < lines.length; at = next) {
    next = lines.indexOf('\n', at) + 1 || lines.length;
    const line = lines.slice(at, next);
    yield;
    const parsed = recordTuple.safeParse(parseJson(line));
    if (!parsed.success) return { problem: `line ${records.length + 2} is not a record` };
    const [name, type, data, ttl] = parsed.data;
    records.push({ name, type, data, ...(ttl !== null && { ttl }) });
  }
  return { writtenAt: header.data.writtenAt, records, serials: header.data.serials ?? {} };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const HASHED_AT_ONCE = 1 << 18;

function* hashOf(text: string): Generator<undefined, string> {
  const hash = createHash('sha256');
  for (let at = 0; at < text.length; at += HASHED_AT_ONCE) {
    hash.update(text.slice(at, at + HASHED_AT_ONCE));
    yield;
  }
  return hash.digest('hex');
}
