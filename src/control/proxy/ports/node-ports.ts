/**
 * Which node has which port of its block. Within a virtual cluster as between two, a client that still knows an old port must
 * not reach another broker: a node id keeps its port while it stays, and when it goes, the port is kept free for a while.
 */

/** Nodes `start` to `end` have the ports from `offset` on, counted from the one after the bootstrap port. */
export interface NodePorts {
  start: number;
  end: number;
  offset: number;
  /** When the nodes went (milliseconds since the epoch); absent while they are there. */
  at?: number;
}

/** How long freed ports stay empty: longer than clients and DNS caches keep an address. */
export const QUARANTINE_MS = 15 * 60_000;

/** Those of nodes that are there. */
export const inUse = (ports: readonly NodePorts[]) => ports.filter(({ at }) => at === undefined);

/** As they are when all nodes have gone. */
export const left = (ports: readonly NodePorts[], at: number): NodePorts[] =>
  ports.map((range) => ({ ...range, at: range.at ?? at }));

/** How many ports there must be behind the bootstrap port. */
export const extentOf = (ports: readonly NodePorts[]) =>
  Math.max(0, ...ports.map(({ start, end, offset }) => offset + end - start + 1));

interface OnePort {
  node: number;
  offset: number;
  at: number | undefined;
}

/** Gives every node a port: its own, or the first that is free. Pure; over its own result it changes nothing. */
export function assignNodePorts(
  nodes: readonly number[],
  known: readonly NodePorts[],
  now: number,
): NodePorts[] {
  const waiting = new Set(nodes);
  const taken = new Map<number, OnePort>();
  for (const { node, offset, at } of single(known)) {
    const isBack = waiting.has(node);
    const since = isBack ? undefined : (at ?? now);
    if (taken.has(offset) || (since !== undefined && now - since >= QUARANTINE_MS)) continue;
    taken.set(offset, { node, offset, at: since });
    waiting.delete(node);
  }
  let offset = 0;
  for (const node of waiting) {
    while (taken.has(offset)) offset += 1;
    taken.set(offset, { node, offset, at: undefined });
  }
  return joined([...taken.values()]);
}

/** The nodes among these that have a port. */
export function withPorts(nodes: readonly number[], known: readonly NodePorts[]): number[] {
  const have = new Set(Array.from(single(known), ({ node }) => node));
  return nodes.filter((node) => have.has(node));
}

function* single(ports: readonly NodePorts[]): Generator<OnePort> {
  for (const { start, end, offset, at } of ports)
    for (let node = start; node <= end; node++) yield { node, offset: offset + node - start, at };
}

/** One after another in nodes and in ports is one range. */
function joined(ports: OnePort[]): NodePorts[] {
  const ranges: NodePorts[] = [];
  for (const { node, offset, at } of ports.toSorted((a, b) => a.offset - b.offset)) {
    const last = ranges.at(-1);
    const follows =
      last && last.at === at && node === last.end + 1 && offset === last.offset + node - last.start;
    if (follows) last.end = node;
    else ranges.push({ start: node, end: node, offset, ...(at !== undefined && { at }) });
  }
  return ranges;
}
