/** The outcome of a scenario, and the short form of it that stands in `out.yaml`: patches over what documents have in common. */
import { isDeepStrictEqual } from 'node:util';
import { fillIn, settleBase, takeOut } from './base.ts';
import type { Names } from './base.ts';
import { applyPatch, isMap, patchBetween } from './patch.ts';
import type { Json, JsonMap } from './patch.ts';

/** Documents by `Kind name`, in sections. */
export type Sections = Record<string, Record<string, Json>>;

export interface Outcome {
  /** For these there are placeholders. */
  names: Names;
  sections: Sections;
}

/** What the outcomes of a folder are measured by. */
export interface Bases {
  /** Names, of which a scenario mentions only those that are others. */
  names: Names;
  /** By section and kind, `objects/Deployment`. */
  documents: ReadonlyMap<string, Json>;
}

const baseOf = (section: string, title: string) => `${section}/${title.split(' ')[0]}`;

/** The placeholders of one document: those of its scenario, and its own name. */
const namesOf = (names: Names, title: string): Names => ({
  ...names,
  name: title.split(' ').slice(1).join(' '),
});

/** The outcome of which this is the short form. */
export function expand(bases: Bases, { names: own = {}, ...patches }: JsonMap): Outcome {
  const names = { ...bases.names, ...(own as Names) };
  const sections = mapDocuments(patches as Sections, (section, title, patch) => {
    const base = bases.documents.get(baseOf(section, title)) ?? {};
    return applyPatch(fillIn(base, namesOf(names, title)), patch) ?? {};
  });
  return { names, sections };
}

/** The short form of an outcome. */
export function compact(bases: Bases, { names, sections }: Outcome): JsonMap {
  const own = patchBetween(bases.names, names);
  const patches = mapDocuments(sortKeys(sections), (section, title, value) => {
    const base = fillIn(bases.documents.get(baseOf(section, title)) ?? {}, namesOf(names, title));
    const patch = patchBetween(base, value) ?? {};
    if (isDeepStrictEqual(applyPatch(base, patch), value)) return patch;
    throw new Error(`no patch leads from the base of ${section} to ${title}`);
  });
  return { ...(isMap(own) && { names: own }), ...patches };
}

/** The bases as they should be for these outcomes. */
export function settleBases({ names, documents }: Bases, outcomes: readonly Outcome[]): Bases {
  const values = new Map<string, Json[]>();
  for (const outcome of outcomes) {
    mapDocuments(sortKeys(outcome.sections), (section, title, value) => {
      const same = values.get(baseOf(section, title)) ?? [];
      values.set(baseOf(section, title), [...same, takeOut(value, namesOf(outcome.names, title))]);
      return value;
    });
  }
  const settled = [...values].map(
    ([name, found]) => [name, settleBase(documents.get(name), found) ?? {}] as const,
  );
  return { names, documents: new Map(settled) };
}

function mapDocuments(
  sections: Sections,
  change: (section: string, title: string, value: Json) => Json,
): Sections {
  const mapped = Object.entries(sections).map(([section, documents]) => {
    const entries = Object.entries(documents);
    return [
      section,
      Object.fromEntries(entries.map(([title, value]) => [title, change(section, title, value)])),
    ] as const;
  });
  return Object.fromEntries(mapped);
}

/** The order of keys is of no consequence, so it is always the same; where the base has a key, the order is that of the base. */
function sortKeys<T extends Json>(value: T): T {
  if (Array.isArray(value)) return value.map(sortKeys) as T;
  if (!isMap(value)) return value;
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, inner]) => [key, sortKeys(inner)])) as T;
}
