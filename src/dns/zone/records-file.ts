import { readFileSync, statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { checkConfig, loadConfig } from '../../ops/config.ts';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { MAX_TTL, RECORD_TYPES } from '../wire/constants.ts';
import { parseRecord } from './source-record.ts';
import type { ErrorCode } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import type { DnsRecord } from '../wire/record.ts';

export const ttlSchema = z.int().min(0).max(MAX_TTL);

/** A record as it is written in configuration and in records files. */
export const recordSchema = z
  .strictObject({
    name: z.string(),
    type: z.enum(RECORD_TYPES),
    data: z.string(),
    ttl: ttlSchema.optional(),
    ptr: z.boolean().optional(),
  })
  .superRefine((value, context) => {
    const parsed = parseRecord('configuration', value);
    if ('problem' in parsed) context.addIssue(parsed.problem);
  });

const recordsFileSchema = z.strictObject({ records: z.array(recordSchema) });

/** Reads and checks a records file, at once. */
export function loadRecords(file: string): DnsRecord[] {
  if (!file.endsWith('.json')) return loadConfig(recordsFileSchema, { file }).records;
  return checkConfig(recordsFileSchema, readJson(file), file).records;
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new IsthmusError('CONFIG_UNREADABLE', `${file} (${messageOf(cause)})`, { cause });
  }
}

/** What the thread that reads a file says: some of its records, or what is wrong with it. */
export type RecordsPart =
  | { records: DnsRecord[]; isLast: boolean }
  | { problem: { code: ErrorCode; particulars: string } };

/** Reads and checks a records file in a thread of its own. */
export async function readRecords(file: string): Promise<DnsRecord[]> {
  const script = import.meta.url.endsWith('.ts') ? './records-reader.ts' : './records-reader.js';
  const worker = new Worker(new URL(script, import.meta.url), { workerData: file });
  const records: DnsRecord[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      worker.on('message', (part: RecordsPart) => {
        if ('problem' in part) return reject(new IsthmusError(part.problem.code, part.problem.particulars));
        for (const record of part.records) records.push(record);
        if (part.isLast) resolve();
        else worker.postMessage('more', []);
      });
      worker.on('error', reject);
      worker.on('exit', () => reject(new Error(`${file} was not read to its end`)));
    });
  } finally {
    await worker.terminate();
  }
  return records;
}

/**
 * Applies the records of a file, now and after every change of it; returns how to stop. A file that cannot be read is an
 * error at the start; later it is logged, and the last good records stay. The file is polled, because Kubernetes
 * replaces mounted files by moving a symbolic link, which file watchers miss.
 */
export async function watchRecordsFile(
  file: string,
  apply: (records: DnsRecord[]) => Promise<void>,
  log: Log,
  everyMs = 1000,
): Promise<() => void> {
  let seen = identityOf(file); // before the first read, so that no change after it is missed
  await apply(await readRecords(file));
  let isStopped = false;
  const check = async () => {
    const now = identityOf(file);
    if (now === seen) return;
    seen = now;
    try {
      const records = await readRecords(file);
      if (isStopped) return;
      await apply(records);
      log.info({ file, records: records.length }, 'records file reloaded');
    } catch (error) {
      log.error({ file, problem: messageOf(error) }, 'records file reload failed, last good records stay');
    }
  };
  // One after the other: reading may take longer than the time between two looks.
  const look = () =>
    void check().finally(() => {
      if (!isStopped) timer = setTimeout(look, everyMs).unref();
    });
  let timer = setTimeout(look, everyMs).unref();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** A text that changes when the file is replaced or written to. */
function identityOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.mtimeNs} ${stat.size}` : 'none';
}
