/**
 * Hands out blocks of consecutive ports: one block a virtual cluster and ingress, the bootstrap port first, then one port a
 * node, then some to spare. A port identifies a broker, so a client that still knows an old port must never reach someone
 * else's broker ("crossed lines"). Hence: a block stays with its owner whatever comes and goes around it, a port within it with
 * its node, and what was given up (because the owner went, had to move, or lost a node) is kept free for a while before another
 * gets it.
 */
import { QUARANTINE_MS, assignNodePorts, extentOf, left, withPorts } from './node-ports.ts';
import { NO_CHANGE, createLedger } from './ledger.ts';
import type { Change, Ledger } from './ledger.ts';
import type { NodePorts } from './node-ports.ts';

export { QUARANTINE_MS };
export type { NodePorts };

/** Ports `start` to `start + size - 1`. */
export interface Block {
  start: number;
  size: number;
}

export interface HeldBlock extends Block {
  nodes: readonly NodePorts[];
}

/** Ports that `owner` gave up at `at` (milliseconds since the epoch). */
export interface ReleasedBlock extends HeldBlock {
  owner: string;
  at: number;
}

/** Who has which block. This is what is persisted. */
export interface Allocation {
  readonly held: Readonly<Record<string, HeldBlock>>;
  readonly released: readonly ReleasedBlock[];
}

/** An owner's wish: a bootstrap port and one for each node, none of them below `from`. Without `nodes` it keeps what it has. */
export interface PortRequest {
  owner: string;
  nodes: readonly number[] | undefined;
  from?: number;
}

export interface PortRange {
  first: number;
  last: number;
  /** How many blocks may be written down, those kept free included. */
  maxBlocks?: number;
  /** And how many ranges of nodes in all of them. */
  maxNodeRanges?: number;
}

export const NOTHING_ALLOCATED: Allocation = { held: {}, released: [] };

export interface Allocated {
  allocation: Allocation;
  /** Owners for whom the range has no room left, or not for all their nodes. */
  refused: string[];
}

/** Decides who has which block now. Pure; the same requests over its own result change nothing. */
export function allocatePorts(
  requests: readonly PortRequest[],
  known: Allocation,
  range: PortRange,
  now: number,
): Allocated {
  const wanted = requests.toSorted((a, b) => (a.owner < b.owner ? -1 : 1));
  const present = new Set(wanted.map(({ owner }) => owner));
  const ledger = createLedger(range);
  for (const block of known.released) if (now - block.at < QUARANTINE_MS) ledger.add(block);
  for (const [owner, block] of Object.entries(known.held))
    ledger.add({ ...block, owner, ...(!present.has(owner) && { nodes: left(block.nodes, now), at: now }) });
  const refused: string[] = [];
  for (const request of wanted) {
    const { nodes } = request;
    if (!nodes || ledger.write(changeFor(request, nodes, ledger, now))) continue;
    refused.push(request.owner);
    // For those that have come there is no room; those that have ports keep them, and the time of those that left begins.
    const current = ledger.heldBy(request.owner);
    if (current) ledger.write(changeFor(request, withPorts(nodes, current.nodes), ledger, now));
  }
  return { allocation: ledger.allocation(), refused };
}

/** When the next port is free again that is kept free now. */
export function nextFreeAt({ held, released }: Allocation): number | undefined {
  const nodes = Object.values(held).flatMap((block) => block.nodes);
  const times = [...nodes, ...released].flatMap(({ at }) => at ?? []);
  return times.length > 0 ? Math.min(...times) + QUARANTINE_MS : undefined;
}

/** What becomes of the blocks of an owner so that every node has a port; undefined where there is no room. */
function changeFor(
  { owner, from = 0 }: PortRequest,
  wanted: readonly number[],
  ledger: Ledger,
  now: number,
): Change | undefined {
  const current = ledger.heldBy(owner);
  const before = ledger.releasedBy(owner);
  const nodes = assignNodePorts(wanted, current?.nodes ?? before.flatMap((block) => block.nodes), now);
  const needed = extentOf(nodes) + 1;
  if (current && current.size >= needed)
    return isSame(nodes, current.nodes) ? NO_CHANGE : { remove: [current], add: [{ ...current, nodes }] };
  const block = findPlace(owner, needed, from, ledger);
  if (!block) return undefined;
  const isMoved = current && current.start !== block.start;
  // From now on its nodes are written down in one place only; and what it has taken back is not free any more.
  const stillFree = before.filter((one) => !covers(block, one)).map((one) => ({ ...one, nodes: [] }));
  return {
    remove: [...before, ...(current ? [current] : [])],
    add: [{ ...block, nodes, owner }, ...stillFree, ...(isMoved ? [{ ...current, nodes: [], at: now }] : [])],
  };
}

const isSame = (a: readonly NodePorts[], b: readonly NodePorts[]) => JSON.stringify(a) === JSON.stringify(b);

/** Spare ports are handed out by so many. */
const STEP = 8;

/** With ports to spare, so that a cluster can gain nodes, and lose some and gain others, where it is. */
export function withSpare(needed: number): number {
  if (needed === 1) return 1; // a shared port, which has no nodes
  const spare = Math.max(2, Math.ceil(needed / 4));
  return Math.ceil((needed + spare) / STEP) * STEP;
}

/**
 * A cluster that gained nodes grows where it is, and one that returns takes its old place: its clients then notice nothing. If
 * there is no such place, another; with ports to spare if possible.
 */
function findPlace(owner: string, needed: number, from: number, ledger: Ledger): Block | undefined {
  const range = { ...ledger.range, first: Math.max(from, ledger.range.first) };
  const current = ledger.heldBy(owner);
  const before = ledger.releasedBy(owner);
  const sizes = [withSpare(needed), needed];
  for (const { start } of current ? [current, ...before] : before) {
    // Of its own ports only those that stay the same nodes' are free for it.
    const others = ledger.blocks.filter((block) => block.owner !== owner || block.start !== start);
    const size = sizes.find((size) => fits({ start, size }, others, range));
    if (size !== undefined) return { start, size };
  }
  for (const size of sizes) {
    const start = firstGap(size, ledger.blocks, range);
    if (start !== undefined) return { start, size };
  }
  return undefined;
}

/** The lowest place with so many ports free; what is taken is sorted. */
function firstGap(size: number, taken: readonly Block[], range: PortRange): number | undefined {
  let start = range.first;
  for (const block of taken) {
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
function covers(held: Block, released: Block): boolean {
  return held.start <= released.start && held.start + held.size >= released.start + released.size;
}

function overlap(a: Block, b: Block): boolean {
  return a.start < b.start + b.size && b.start < a.start + a.size;
}
