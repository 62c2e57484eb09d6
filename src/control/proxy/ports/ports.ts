/**
 * Hands out blocks of consecutive ports: one block a virtual cluster and ingress, the bootstrap port first, then one port a
 * node. A port identifies a broker, so a client that still knows an old port must never reach someone else's broker
 * ("crossed lines"). Hence: a block stays with its owner whatever comes and goes around it, and ports that an owner gave
 * up (because it went, or had to move) are kept free for a while before another gets them.
 */

/** Ports `start` to `start + size - 1`. */
export interface Block {
  start: number;
  size: number;
}

/** Ports that `owner` gave up at `at` (milliseconds since the epoch). */
export interface ReleasedBlock extends Block {
  owner: string;
  at: number;
}

/** Who has which block. This is what is persisted. */
export interface Allocation {
  readonly held: Readonly<Record<string, Block>>;
  readonly released: readonly ReleasedBlock[];
}

/** An owner's wish: so many ports, none of them below `from`. */
export interface PortRequest {
  owner: string;
  size: number;
  from?: number;
}

export interface PortRange {
  first: number;
  last: number;
  /** How many blocks may be written down, those kept free included. */
  maxBlocks?: number;
}

/** How long freed ports stay empty: longer than clients and DNS caches keep an address. */
export const QUARANTINE_MS = 15 * 60_000;

export const NOTHING_ALLOCATED: Allocation = { held: {}, released: [] };

export interface Allocated {
  allocation: Allocation;
  /** Owners for whom the range has no room left. */
  refused: string[];
}

/** Decides who has which block now. Pure; the same requests over its own result change nothing. */
export function allocatePorts(
  requests: readonly PortRequest[],
  known: Allocation,
  range: PortRange,
  now: number,
): Allocated {
  const { maxBlocks = Infinity } = range;
  const wanted = requests.toSorted((a, b) => (a.owner < b.owner ? -1 : 1));
  const present = new Set(wanted.map(({ owner }) => owner));
  const held: Record<string, Block> = {};
  const released = known.released.filter(({ at }) => now - at < QUARANTINE_MS);
  const refused: string[] = [];

  for (const [owner, block] of Object.entries(known.held)) {
    if (present.has(owner)) held[owner] = block;
    else released.push({ ...block, owner, at: now });
  }
  for (const { owner, size, from = range.first } of wanted) {
    const current = held[owner];
    if (current && current.size >= size) continue;
    const taken = blocksOfOthers(owner, held, released);
    const start =
      preferredStarts(owner, current, released).find(
        (start) => start >= from && fits({ start, size }, taken, range),
      ) ?? firstGap(size, from, taken, range);
    const isFull = Object.keys(held).length + stillFree(held, released).length >= maxBlocks;
    if (start === undefined || (isFull && isNew({ start, size }, owner, current, released)))
      refused.push(owner);
    else {
      if (current && current.start !== start) released.push({ ...current, owner, at: now });
      held[owner] = { start, size };
    }
  }
  return { allocation: { held, released: stillFree(held, released) }, refused };
}

/** Without what their owners have taken back. */
const stillFree = (held: Allocation['held'], released: readonly ReleasedBlock[]) =>
  released.filter((block) => !covers(held[block.owner], block));

/** Whether a block is one more, neither grown in its place nor taken back. */
function isNew(
  block: Block,
  owner: string,
  current: Block | undefined,
  released: readonly ReleasedBlock[],
): boolean {
  const before = released.filter((one) => one.owner === owner);
  return block.start !== current?.start && !before.some((one) => covers(block, one));
}

/** A cluster that gained nodes grows where it is, and one that returns takes its old place: its clients then notice nothing. */
function preferredStarts(
  owner: string,
  current: Block | undefined,
  released: readonly ReleasedBlock[],
): number[] {
  const before = released.filter((block) => block.owner === owner).map(({ start }) => start);
  return current ? [current.start, ...before] : before;
}

function blocksOfOthers(
  owner: string,
  held: Record<string, Block>,
  released: readonly ReleasedBlock[],
): Block[] {
  const theirs = Object.entries(held).filter(([other]) => other !== owner);
  return [...theirs.map(([, block]) => block), ...released.filter((block) => block.owner !== owner)];
}

/** The lowest place with so many ports free. */
function firstGap(size: number, from: number, taken: readonly Block[], range: PortRange): number | undefined {
  let start = Math.max(from, range.first);
  for (const block of taken.toSorted((a, b) => a.start - b.start)) {
    if (start + size <= block.start) break;
    start = Math.max(start, block.start + block.size);
  }
  return start + size - 1 <= range.last ? start : undefined;
}

function fits(block: Block, taken: readonly Block[], range: PortRange): boolean {
  const inside = block.start >= range.first && block.start + block.size - 1 <= range.last;
  return inside && taken.every((other) => !overlap(block, other));
}

/** True when an owner has taken back all that it had released. */
function covers(held: Block | undefined, released: Block): boolean {
  if (!held) return false;
  return held.start <= released.start && held.start + held.size >= released.start + released.size;
}

function overlap(a: Block, b: Block): boolean {
  return a.start < b.start + b.size && b.start < a.start + a.size;
}
