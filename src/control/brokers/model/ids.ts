/** Which node ids a cluster has: those it had, new ones where pools grow, and which of them are to go. Pure, by Strimzi's rules. */
import type { CharterNode } from './charter.ts';
import type { Role } from './cluster.ts';

/** What a pool asks for. */
export interface PoolWish {
  name: string;
  target: string;
  roles: readonly Role[];
  replicas: number;
  /** Ids to take for new nodes, in this order, before any other. */
  nextIds: readonly number[];
  /** Ids to let go first. */
  removeIds: readonly number[];
}

/** The nodes that there are to be, by id. Pools that are not among the wishes keep theirs, which are to go. */
export function assignIds(wishes: readonly PoolWish[], before: readonly CharterNode[]): CharterNode[] {
  const byPool = Map.groupBy(before, ({ pool }) => pool);
  const used = new Set(before.map(({ id }) => id));
  const orphans = before.filter(({ pool }) => !wishes.some(({ name }) => name === pool));
  const kept = wishes.flatMap((wish) => keepOrRelease(wish, byPool.get(wish.name) ?? []));
  const added = wishes.flatMap((wish) => {
    const missing = wish.replicas - (byPool.get(wish.name)?.length ?? 0);
    return takeIds(wish.nextIds, missing, used).map((id) => newNode(id, wish));
  });
  return [
    ...kept,
    ...added,
    ...orphans.map(({ retiring: _, ...node }) => ({ ...node, leaving: true })),
  ].toSorted((a, b) => a.id - b.id);
}

/** Those that are to be brokers no more, and are, stay what they are until they are empty. */
export const withBrokers = (
  asked: readonly CharterNode[],
  { nodes: before }: { nodes: readonly CharterNode[] },
): CharterNode[] =>
  asked.map((node) => {
    const { roles } = before.find(({ id }) => id === node.id) ?? node;
    const isRetiring = roles.includes('broker') && !node.roles.includes('broker');
    return isRetiring ? { ...node, roles, ...(!node.leaving && { retiring: true }) } : node;
  });

function keepOrRelease(wish: PoolWish, nodes: readonly CharterNode[]): CharterNode[] {
  const leaving = new Set(idsToRelease(wish, nodes));
  return nodes.map(({ retiring: _, ...node }) => ({
    ...node,
    target: wish.target,
    roles: wish.roles,
    leaving: leaving.has(node.id),
  }));
}

/** Those that the user names, then those that are on their way already, then the highest. */
function idsToRelease({ replicas, removeIds }: PoolWish, nodes: readonly CharterNode[]): number[] {
  const excess = nodes.length - replicas;
  if (excess <= 0) return [];
  const named = removeIds.filter((id) => nodes.some((node) => node.id === id));
  const onTheirWay = nodes.flatMap(({ id, leaving }) => (leaving ? [id] : []));
  const highest = nodes.map(({ id }) => id).toSorted((a, b) => b - a);
  return [...new Set([...named, ...onTheirWay, ...highest])].slice(0, excess);
}

/** Takes ids out of those that are free; an id stays used until its node is gone. */
function takeIds(preferred: readonly number[], count: number, used: Set<number>): number[] {
  const taken: number[] = [];
  const take = (id: number) => {
    used.add(id);
    taken.push(id);
  };
  for (const id of preferred) if (taken.length < count && !used.has(id)) take(id);
  for (let id = 0; taken.length < count; id++) if (!used.has(id)) take(id);
  return taken;
}

const newNode = (id: number, { name, target, roles }: PoolWish): CharterNode => ({
  id,
  pool: name,
  target,
  roles,
  leaving: false,
  formatted: [],
});

/** More ids than any cluster has. */
const MAX_ID = 2 ** 31 - 1;
const MAX_IDS = 10_000;

/** Reads ids as Strimzi's annotations spell them: `[0-9, 20]`, also downwards. Undefined if they cannot be read. */
export function parseIds(text: string): number[] | undefined {
  const inner = /^\s*\[(.*)\]\s*$/s.exec(text)?.[1];
  if (inner === undefined) return undefined;
  if (inner.trim() === '') return [];
  const ids: number[] = [];
  for (const part of inner.split(',')) {
    const [, first, last = first] = /^\s*(\d{1,10})\s*(?:-\s*(\d{1,10})\s*)?$/.exec(part) ?? [];
    if (first === undefined || Number(first) > MAX_ID || Number(last) > MAX_ID) return undefined;
    const step = Number(first) <= Number(last) ? 1 : -1;
    const count = Math.abs(Number(last) - Number(first)) + 1;
    if (ids.length + count > MAX_IDS) return undefined;
    for (let index = 0; index < count; index++) ids.push(Number(first) + index * step);
  }
  return ids;
}
