/**
 * A thread that reads and checks a records file: parsing is one step that takes seconds for a hundred thousand records. It gives them in parts,
 * each when it is asked for, so that the other side has its turns in between.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { ERRORS, IsthmusError } from '../../ops/errors.ts';
import { loadRecords } from './records-file.ts';
import type { RecordsPart } from './records-file.ts';

const A_PART = 500;

function read(file: string): RecordsPart | DnsRecords {
  try {
    return loadRecords(file);
  } catch (error) {
    if (!(error instanceof IsthmusError)) throw error;
    const { code, message } = error;
    return { problem: { code, particulars: message.slice(`${ERRORS[code].message}: `.length) } };
  }
}

type DnsRecords = ReturnType<typeof loadRecords>;

const result = read(workerData as string);
let at = 0;

function give(): void {
  if (!Array.isArray(result)) return parentPort!.postMessage(result, []);
  const records = result.slice(at, at + A_PART);
  at += A_PART;
  parentPort!.postMessage({ records, isLast: at >= result.length } satisfies RecordsPart, []);
}

parentPort!.on('message', give);
give();
