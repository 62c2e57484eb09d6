/** A partition of a response to Fetch or ShareFetch. */
export interface FetchedPartition {
  errorCode: number;
  records: Buffer | null;
  /** What a member of a share group is given; only ShareFetch has it. */
  acquiredRecords?: { firstOffset: bigint; lastOffset: bigint }[];
}

/** Partitions with records. */
export const hasRecords = ({ records }: FetchedPartition): boolean => records !== null && records.length > 0;

/**
 * Says of a partition that its records end before this offset. A member of a share group tells the broker of all that it is given and
 * does not find that there is nothing there, and nobody would ever get it: so it is given no more than it finds.
 */
export function endBefore(partition: FetchedPartition, offset: bigint): void {
  if (!partition.acquiredRecords) return;
  partition.acquiredRecords = partition.acquiredRecords
    .filter(({ firstOffset }) => firstOffset < offset)
    .map((each) => ({ ...each, lastOffset: each.lastOffset < offset ? each.lastOffset : offset - 1n }));
}

/** The same list, beginning anywhere: where there is not room for all, those that go short must not always be the same. */
export function fromAnywhere<T>(list: readonly T[]): T[] {
  const start = Math.floor(Math.random() * list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}
