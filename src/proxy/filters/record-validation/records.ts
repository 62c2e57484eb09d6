import { MalformedMessage } from '../../../kafka/malformed.ts';
import { cutBatches } from '../../../kafka/records/batch.ts';
import type { RecordBatch } from '../../../kafka/records/batch.ts';
import { unpackAside } from '../../../kafka/records/unpack.ts';
import type { Room } from '../../../kafka/records/unpack.ts';
import { inSlices } from '../../../ops/time-slice.ts';
import { problemSteps } from './check.ts';
import type { RecordRule } from './config.ts';

/** A record that is not as it has to be: its number within its batch, and what is wrong. */
export interface BadRecord {
  index: number;
  problem: string;
}

/** Brokers take one batch a partition; to read countless tiny ones would cost more than it costs to send them. */
const MOST_BATCHES = 1000;
const MOST_BAD = 10;

/** The first records of a `records` field that are not as they have to be. Throws MalformedMessage. Others get their turns meanwhile. */
export async function badRecordsIn(
  field: Buffer,
  rule: RecordRule,
  owner: object,
  room: Room,
): Promise<BadRecord[]> {
  const { unread, rest } = cutBatches(field, MOST_BATCHES);
  if (rest.length > 0) throw new MalformedMessage('records', 'the last batch is cut off', field.length);
  const bad: BadRecord[] = [];
  for (const each of unread) {
    const batch = await unpackAside(each, owner, room);
    await inSlices(badSteps(batch, rule, bad));
    if (bad.length >= MOST_BAD) break;
  }
  return bad;
}

function* badSteps(batch: RecordBatch, rule: RecordRule, bad: BadRecord[]): Generator<undefined, void> {
  let index = 0;
  for (const record of batch.records()) {
    const problem = yield* problemSteps(record, rule);
    if (problem !== undefined) bad.push({ index, problem });
    if (bad.length >= MOST_BAD) return;
    index += 1;
    yield;
  }
}
