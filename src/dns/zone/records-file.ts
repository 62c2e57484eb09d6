import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { checkConfig, loadConfig } from '../../ops/config.ts';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { RECORD_TYPES } from '../wire/constants.ts';
import { readRecord } from './source-record.ts';
import type { Log } from '../../ops/log.ts';
import type { DnsRecord } from '../wire/record.ts';

export const ttlSchema = z.int().min(0).max(0x7fff_ffff);

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
    const read = readRecord('configuration', value);
    if ('problem' in read) context.addIssue(read.problem);
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
 * Gives the records of a file, now and whenever it changes; returns how to stop. A file that cannot be read at the
 * start is an error; later it is a log line, and the last good records stay. It looks at the file every so often
 * instead of being told, because Kubernetes replaces mounted files by moving a symbolic link, which goes unnoticed.
 */
export function followRecordsFile(
  file: string,
  apply: (records: DnsRecord[]) => void,
  log: Log,
  everyMs = 1000,
): () => void {
  let seen = identityOf(file); // from before the first reading, so that no change after it is missed
  apply(loadRecords(file));
  const look = () => {
    const now = identityOf(file);
    if (now === seen) return;
    seen = now;
    try {
      const records = loadRecords(file);
      apply(records);
      log.info({ file, records: records.length }, 'records file read again');
    } catch (error) {
      log.error({ file, problem: messageOf(error) }, 'records file cannot be used; the last good one stays');
    }
  };
  const timer = setInterval(look, everyMs).unref();
  return () => clearInterval(timer);
}

/** Another text when the file is another, or has been written to. */
function identityOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.mtimeNs} ${stat.size}` : 'none';
}
