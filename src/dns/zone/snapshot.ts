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
});

const recordTuple = z.tuple([z.string(), z.enum(RECORD_TYPES), z.string(), z.int().nullable()]);

export interface Snapshot {
  /** In seconds. */
  writtenAt: number;
  records: DnsRecord[];
}

/** One record as a line. */
export function snapshotLine({ name, type, data, ttl }: DnsRecord): string {
  return `${JSON.stringify([name, type, data, ttl ?? null] satisfies z.input<typeof recordTuple>)}\n`;
}

/** The whole file, from the lines of its records. */
export function snapshotText(lines: string, writtenAt: number): string {
  const header = { isthmusDnsSnapshot: VERSION, writtenAt, sha256: hashOf(lines) };
  return `${JSON.stringify(header)}\n${lines}`;
}

/** Reads a file; the result says what is wrong with it, if anything is. */
export function readSnapshot(text: string): Snapshot | { problem: string } {
  const end = text.indexOf('\n');
  const header = headerSchema.safeParse(parseJson(text.slice(0, Math.max(end, 0))));
  if (!header.success) return { problem: 'it is not a snapshot of this version' };
  const lines = text.slice(end + 1);
  if (hashOf(lines) !== header.data.sha256) return { problem: 'its checksum does not fit' };
  const records: DnsRecord[] = [];
  for (const line of lines.split('\n').slice(0, -1)) {
    const parsed = recordTuple.safeParse(parseJson(line));
    if (!parsed.success) return { problem: `line ${records.length + 2} is not a record` };
    const [name, type, data, ttl] = parsed.data;
    records.push({ name, type, data, ...(ttl !== null && { ttl }) });
  }
  return { writtenAt: header.data.writtenAt, records };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
