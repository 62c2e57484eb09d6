/** What a road may do, made from the kinds that it has to do with: a right that nothing uses cannot exist. */
import { rowsOf } from './watches.ts';
import type { Watch, WatchTable, WatchedKind } from './watches.ts';

/** One rule of a Role, as Kubernetes spells it. */
export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

/** The rights to one kind or subresource. */
export interface Right {
  group: string;
  resource: string;
  verbs: readonly string[];
  scope: WatchedKind['scope'];
  /** Whether an operator of some namespaces has it, too, though it is for none of them. */
  everywhere?: boolean;
}

/** In the order in which people read them. */
const VERBS = ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'];

/** Kept in a cache, and never asked for one by one. */
const FOLLOW = ['list', 'watch'];
/** What an object holds of which only the metadata is followed. */
const CONTENTS = ['get'];
/** Read anew when somebody else was quicker to write. */
const STATUS = ['get'];
/**
 * Applied with patch, which the API server counts as create where there was nothing; replaced with update where an apply cannot
 * undo what a stranger did.
 */
const OWN = ['get', 'create', 'patch', 'update'];
/** What is no longer wanted goes. */
const PRUNE = ['delete'];

/** The rights that the rows of tables need. */
export function rightsOf<V>(table: WatchTable<V>): Right[] {
  return rowsOf(table).flatMap(([, row]) => rightsOfRow(row));
}

/** The rights that one row needs. */
export function rightsOfRow(row: Watch<never>): Right[] {
  const { kind, owned, kept, metadataOnly, writesStatus, verbs = [], everywhere = false } = row;
  const { group, plural, scope } = kind;
  const all = [
    ...FOLLOW,
    ...(metadataOnly ? CONTENTS : []),
    ...(writesStatus ? STATUS : []),
    ...(owned ? OWN : []),
    ...(owned && !kept ? PRUNE : []),
    ...verbs,
  ];
  return [
    { group, resource: plural, verbs: all, scope, ...(everywhere && { everywhere }) },
    ...(writesStatus ? [{ group, resource: `${plural}/status`, verbs: ['patch'], scope }] : []),
  ];
}

/** Rights as rules, each resource once, with those that have the same verbs together. */
export function rulesOf(rights: readonly Right[]): PolicyRule[] {
  const verbsOf = new Map<string, Set<string>>();
  for (const { group, resource, verbs } of rights) {
    const id = `${group} ${resource}`;
    verbsOf.set(id, new Set([...(verbsOf.get(id) ?? []), ...verbs]));
  }
  const rules = new Map<string, PolicyRule>();
  for (const [id, found] of verbsOf) {
    const [group = '', resource = ''] = id.split(' ');
    const verbs = VERBS.filter((verb) => found.has(verb));
    const rule = rules.get(`${group} ${verbs.join()}`) ?? { apiGroups: [group], resources: [], verbs };
    rule.resources.push(resource);
    rules.set(`${group} ${verbs.join()}`, rule);
  }
  return [...rules.values()];
}
