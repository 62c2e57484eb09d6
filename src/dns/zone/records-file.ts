import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { checkConfig, loadConfig } from '../../ops/config.ts';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { MAX_TTL, RECORD_TYPES } from '../wire/constants.ts';
import { parseRecord } from './source-record.ts';
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

/** Reads and checks a records file. */
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

/**
 * Applies the records of a file, now and after every change of it; returns how to stop. A file that cannot be read is an
 * error at the start; later it is logged, and the last good records stay. The file is polled, because Kubernetes
 * replaces mounted files by moving a symbolic link, which file watchers miss.
 */
export function watchRecordsFile(
  file: string,
  apply: (records: DnsRecord[]) => void,
  log: Log,
  everyMs = 1000,
): () => void {
  let seen = identityOf(file); // before the first read, so that no change after it is missed
  apply(loadRecords(file));
  const check = () => {
    const now = identityOf(file);
    if (now === seen) return;
    seen = now;
    try {
      const records = loadRecords(file);
      apply(records);
      log.info({ file, records: records.length }, 'records file reloaded');
    } catch (error) {
      log.error({ file, problem: messageOf(error) }, 'records file reload failed, last good records stay');
    }
  };
  const timer = setInterval(check, everyMs).unref();
  return () => clearInterval(timer);
}

/** A text that changes when the file is replaced or written to. */
function identityOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.mtimeNs} ${stat.size}` : 'none';
}
