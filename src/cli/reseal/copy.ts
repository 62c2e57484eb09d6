import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from '../../kafka/admin/admin.ts';
import { IsthmusError } from '../../ops/errors.ts';
import type { Progress } from './progress.ts';
import { describeTopic, fetchFrom, offsetsOf, Refused } from './source.ts';
import type { TopicState } from './source.ts';
import { openTarget } from './target.ts';
import type { CopiedPart } from './target.ts';

/** What is to be copied: a topic, up to what it had when this began. */
export interface Work {
  from: Admin;
  to: Admin;
  topic: string;
  into: string;
  group: string;
}

export interface CopyOptions {
  onProgress: (progress: Progress) => void;
  clock?: () => number;
  /** How often it begins anew without having come any further. */
  attempts?: number;
}

export interface Copied {
  partitions: number;
  records: number;
  bytes: number;
}

/** Kafka calls it temporary; a proxy says it of a batch that it cannot open, and that stays so. */
const FINAL: ReadonlySet<string> = new Set(['CORRUPT_MESSAGE']);
/** Another run with the same group has taken over. */
const FENCED: ReadonlySet<string> = new Set(['PRODUCER_FENCED', 'INVALID_PRODUCER_EPOCH']);
/** What the next attempt, which looks at all of it anew, may find otherwise. */
const ABORTED: ReadonlySet<string> = new Set([
  'INVALID_TXN_STATE',
  'BROKER_NOT_AVAILABLE',
  'OFFSET_OUT_OF_RANGE',
  'OUT_OF_ORDER_SEQUENCE_NUMBER',
]);

const PAUSE_MS = 1000;
const ATTEMPTS = 10;

/**
 * Copies what the source has now. Each round is a transaction with the offsets of the group in it: whatever goes wrong, the next attempt
 * aborts what is open and goes on behind what was committed.
 */
export async function copyTopic(work: Work, options: CopyOptions): Promise<Copied> {
  const { attempts = ATTEMPTS } = options;
  const done: Copied = { partitions: 0, records: 0, bytes: 0 };
  const end = await endOf(work);
  let failures = 0;
  for (;;) {
    const before = done.records;
    try {
      await copyRounds(work, end, done, options);
      return done;
    } catch (error) {
      failures = done.records > before ? 1 : failures + 1;
      if (!mayHelp(error) || failures >= attempts) throw withHint(error);
      await sleep(PAUSE_MS);
    }
  }
}

async function endOf({ from, topic }: Work): Promise<bigint[]> {
  const source = await describeTopic(from, topic);
  if (!source) throw new IsthmusError('KAFKA_REFUSED', `there is no topic ${topic}`);
  return (await offsetsOf(from, topic, source)).end;
}

function mayHelp(error: unknown): boolean {
  if (error instanceof Refused) {
    const { name, retriable } = error.fault;
    return ABORTED.has(name) || (retriable && !FINAL.has(name));
  }
  return error instanceof IsthmusError && error.code === 'KAFKA_UNREACHABLE';
}

function withHint(error: unknown): unknown {
  if (!(error instanceof Refused) || !FENCED.has(error.fault.name)) return error;
  const why =
    'another run of the same copy has taken over, or a step took longer than a minute: then run it again';
  return new IsthmusError('KAFKA_REFUSED', why, { cause: error });
}

/** Both topics as they are now, and the first offsets that the source still has. */
async function describeBoth({ from, to, topic, into }: Work) {
  const [source, target] = await Promise.all([describeTopic(from, topic), describeTopic(to, into)]);
  if (!source || !target)
    throw new IsthmusError('KAFKA_REFUSED', `there is no topic ${source ? into : topic}`);
  const { first } = await offsetsOf(from, topic, source);
  return { source, target, first };
}

async function copyRounds(
  work: Work,
  end: bigint[],
  done: Copied,
  { onProgress, clock = () => performance.now() }: CopyOptions,
): Promise<void> {
  const { source, target, first } = await describeBoth(work);
  const writer = openTarget({ admin: work.to, topic: work.into, leaders: target.leaders, group: work.group });
  await writer.begin();
  const copied = await writer.copied();
  const positions = new Map<number, bigint>();
  for (const [partition, last] of end.entries()) {
    const position = max(first[partition] ?? 0n, copied.get(partition) ?? 0n);
    if (position < last) positions.set(partition, position);
  }
  const left = () => Number([...positions].reduce((sum, [partition, at]) => sum + end[partition]! - at, 0n));
  const total = Number(end.reduce((sum, last, i) => sum + last - min(first[i] ?? 0n, last), 0n));
  const [leftAtStart, started, bytesBefore] = [left(), clock(), done.bytes];
  done.partitions = end.length;
  while (positions.size > 0) {
    const round = await readRound(work, source, positions, end, done);
    if (round.parts.size === 0) continue; // throttled
    await writer.write(round.parts);
    done.records += round.records;
    for (const [partition, { next }] of round.parts)
      if (next >= end[partition]!) positions.delete(partition);
      else positions.set(partition, next);
    onProgress({
      total,
      left: left(),
      bytes: done.bytes - bytesBefore,
      elapsedMs: clock() - started,
      leftAtStart,
    });
  }
}

const max = (a: bigint, b: bigint) => (a > b ? a : b);
const min = (a: bigint, b: bigint) => (a < b ? a : b);

/** What comes next of all partitions; those with nothing left before the end are done. */
async function readRound(
  { from, topic }: Work,
  { leaders }: TopicState,
  positions: ReadonlyMap<number, bigint>,
  end: readonly bigint[],
  done: Copied,
): Promise<{ parts: Map<number, CopiedPart>; records: number }> {
  const parts = new Map<number, CopiedPart>();
  let records = 0;
  for (const [node, partitions] of Map.groupBy(positions, ([partition]) => leaders[partition]!)) {
    const { fetched, isThrottled } = await fetchFrom(from, topic, node, new Map(partitions));
    // The broker sends what fits: of a partition that had no room nothing is known. If none has anything, there is nothing left, as where compaction has removed the end.
    const isOver = !isThrottled && fetched.every(({ next }) => next === undefined);
    for (const each of fetched) {
      if (each.next === undefined && !(isOver && each.stable >= end[each.partition]!)) continue;
      parts.set(each.partition, { chunks: each.chunks, next: each.next ?? end[each.partition]! });
      for (const chunk of each.chunks) records += chunk.records.length;
      done.bytes += each.bytes;
    }
  }
  return { parts, records };
}
