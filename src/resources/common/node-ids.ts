/** Ranges of Kafka node ids, in the two spellings of the design document. */
import { z } from 'zod';
import { text, withRules } from '../schema.ts';

const MAX_RANGES = 32;
const MAX_NODES = 1000;

export const nodeId = z.int().min(0).max(0x7fff_fffe);

const range = withRules(
  z.object({
    name: text(63).describe('A name for the range.').exactOptional(),
    start: nodeId.describe('The first node id.').exactOptional(),
    end: nodeId.describe('The last node id, which belongs to the range.').exactOptional(),
    range: withRules(
      z.object({
        startInclusive: nodeId.describe('The first node id.'),
        endExclusive: z.int().min(1).max(0x7fff_ffff).describe('One more than the last node id.'),
      }),
      {
        cel: 'self.startInclusive < self.endExclusive',
        holds: ({ startInclusive, endExclusive }) => startInclusive < endExclusive,
        message: 'make endExclusive larger than startInclusive, or the range has no node',
      },
    )
      .describe('The same as start and end, with the end left out of the range.')
      .exactOptional(),
  }),
  {
    cel: 'has(self.range) ? !has(self.start) && !has(self.end) : has(self.start) && has(self.end)',
    holds: ({ start, end, range }) =>
      range ? start === undefined && end === undefined : start !== undefined && end !== undefined,
    message: 'give either start and end, or range with startInclusive and endExclusive',
  },
  {
    cel: '!has(self.start) || !has(self.end) || self.start <= self.end',
    holds: ({ start, end }) => start === undefined || end === undefined || start <= end,
    message: 'make start no larger than end; both belong to the range',
  },
);

type WrittenRange = z.output<typeof range>;

/** A range with both ends in it: the one spelling that the rest of the program sees. */
export interface NodeIdRange {
  name?: string;
  start: number;
  end: number;
}

/** Either spelling as start and end. */
export function normaliseRange({ name, start, end, range }: WrittenRange): NodeIdRange {
  return {
    ...(name === undefined ? {} : { name }),
    start: range ? range.startInclusive : (start ?? 0),
    end: range ? range.endExclusive - 1 : (end ?? 0),
  };
}

// CEL has no local functions, so the ends of a range are spelt out wherever they are needed.
const first = (r: string) => `(has(${r}.range) ? ${r}.range.startInclusive : ${r}.start)`;
const last = (r: string) => `(has(${r}.range) ? ${r}.range.endExclusive - 1 : ${r}.end)`;

/** The node ids of a cluster. */
export const nodeIdRanges = withRules(
  z.array(range).min(1).max(MAX_RANGES).meta({ 'x-kubernetes-list-type': 'atomic' }),
  {
    // Each range overlaps with itself, and must not with any other.
    cel: `self.all(a, self.filter(b, ${first('a')} <= ${last('b')} && ${first('b')} <= ${last('a')}).size() == 1)`,
    holds: (ranges) => !overlap(ranges.map(normaliseRange)),
    message: 'let no two node id ranges overlap: each node belongs to one range',
  },
  {
    cel: `self.map(r, ${last('r')} - ${first('r')} + 1).sum() <= ${MAX_NODES}`,
    holds: (ranges) => countNodes(ranges.map(normaliseRange)) <= MAX_NODES,
    message: `name at most ${MAX_NODES} node ids: each of them takes a port or a host name`,
  },
);

function overlap(ranges: NodeIdRange[]): boolean {
  const sorted = ranges.toSorted((a, b) => a.start - b.start);
  return sorted.some((range, index) => index > 0 && range.start <= (sorted[index - 1]?.end ?? -1));
}

/** How many nodes the ranges name. */
export function countNodes(ranges: readonly NodeIdRange[]): number {
  return ranges.reduce((sum, { start, end }) => sum + end - start + 1, 0);
}

/** Every node id of the ranges, in their order. */
export function nodeIdsOf(ranges: readonly NodeIdRange[]): number[] {
  return ranges.flatMap(({ start, end }) =>
    Array.from({ length: end - start + 1 }, (_, index) => start + index),
  );
}

/** Node ids, in ascending order, as ranges. */
export function rangesOf(ids: Iterable<number>): NodeIdRange[] {
  const ranges: NodeIdRange[] = [];
  for (const id of new Set(ids)) {
    const last = ranges.at(-1);
    if (last && last.end + 1 === id) last.end = id;
    else ranges.push({ start: id, end: id });
  }
  return ranges;
}

/** What is in ranges and not in others. */
export function rangesWithout(ranges: readonly NodeIdRange[], others: readonly NodeIdRange[]): NodeIdRange[] {
  return others.reduce<NodeIdRange[]>(
    (rest, other) =>
      rest.flatMap(({ start, end }) => [
        ...(start < other.start ? [{ start, end: Math.min(end, other.start - 1) }] : []),
        ...(end > other.end ? [{ start: Math.max(start, other.end + 1), end }] : []),
      ]),
    ranges.map(({ start, end }) => ({ start, end })),
  );
}

/** Ranges for people: `0-2, 7`. */
export const rangesText = (ranges: readonly NodeIdRange[]) =>
  ranges.map(({ start, end }) => (start === end ? String(start) : `${start}-${end}`)).join(', ');
