/** All blocks while it is decided who gets which: in the order of their ports, and no more than can be written down. */
import type { Allocation, HeldBlock, PortRange, ReleasedBlock } from './ports.ts';

/** A block of somebody; given up where it has a time. */
export interface OwnedBlock extends HeldBlock {
  owner: string;
  at?: number;
}

export interface Change {
  remove: readonly OwnedBlock[];
  add: readonly OwnedBlock[];
}

export const NO_CHANGE: Change = { remove: [], add: [] };

export interface Ledger {
  range: PortRange;
  /** By their first ports. */
  blocks: readonly OwnedBlock[];
  heldBy(owner: string): OwnedBlock | undefined;
  releasedBy(owner: string): OwnedBlock[];
  add(block: OwnedBlock): void;
  /** Makes a change whole, or not at all: where there is none to make, or what it leaves could not be written down. */
  write(change: Change | undefined): boolean;
  allocation(): Allocation;
}

export function createLedger(range: PortRange): Ledger {
  const { maxBlocks = Infinity, maxNodeRanges = Infinity } = range;
  const blocks: OwnedBlock[] = [];
  const byOwner = new Map<string, OwnedBlock[]>();
  let nodeRanges = 0;
  const of = (owner: string) => byOwner.get(owner) ?? [];

  function add(block: OwnedBlock): void {
    blocks.splice(placeOf(block.start), 0, block);
    byOwner.set(block.owner, [...of(block.owner), block]);
    nodeRanges += block.nodes.length;
  }

  function remove(block: OwnedBlock): void {
    blocks.splice(blocks.indexOf(block), 1);
    byOwner.set(
      block.owner,
      of(block.owner).filter((other) => other !== block),
    );
    nodeRanges -= block.nodes.length;
  }

  /** Where a block is to stand; mostly at the end. */
  function placeOf(start: number): number {
    const after = blocks.findLastIndex((block) => block.start <= start);
    return after + 1;
  }

  return {
    range,
    blocks,
    heldBy: (owner) => of(owner).find(({ at }) => at === undefined),
    releasedBy: (owner) => of(owner).filter(({ at }) => at !== undefined),
    add,
    write(change) {
      if (!change) return false;
      const more = change.add.length - change.remove.length;
      const moreRanges = rangesIn(change.add) - rangesIn(change.remove);
      const isTooMuch =
        (more > 0 && blocks.length + more > maxBlocks) ||
        (moreRanges > 0 && nodeRanges + moreRanges > maxNodeRanges);
      if (isTooMuch) return false;
      change.remove.forEach(remove);
      change.add.forEach(add);
      return true;
    },
    allocation: () => ({
      held: Object.fromEntries(
        blocks.flatMap(({ owner, at, ...block }) => (at === undefined ? [[owner, block]] : [])),
      ),
      released: blocks.filter((block): block is ReleasedBlock => block.at !== undefined),
    }),
  };
}

const rangesIn = (blocks: readonly OwnedBlock[]) => blocks.reduce((sum, { nodes }) => sum + nodes.length, 0);
