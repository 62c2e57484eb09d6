/**
 * What an API server does to a custom resource before it validates it: nulls count as absent, and members that the
 * schema does not know are dropped (with `kubectl`, they are an error).
 */
import type { Structural } from './structural.ts';

export interface Pruned {
  value: unknown;
  /** Members that the schema does not know, and their siblings that it does. */
  unknown: { path: (string | number)[]; known: string[] }[];
}

/** Drops nulls and unknown members. */
export function prune(value: unknown, schema: Structural): Pruned {
  const unknown: Pruned['unknown'] = [];
  return { value: walk(value, schema, [], unknown), unknown };
}

function walk(
  value: unknown,
  schema: Structural,
  path: (string | number)[],
  unknown: Pruned['unknown'],
): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.map((entry, index) => walk(entry, items, [...path, index], unknown)) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const kept: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const memberSchema = schemaOf(name, schema);
    const memberPath = [...path, name];
    if (memberSchema === 'open') kept.push([name, member]);
    else if (memberSchema === undefined)
      unknown.push({ path: memberPath, known: Object.keys(schema.properties ?? {}) });
    else if (member !== null) kept.push([name, walk(member, memberSchema, memberPath, unknown)]);
  }
  return Object.fromEntries(kept);
}

/** The schema of a member; `open` where anything may be; undefined where the schema has no such member. */
function schemaOf(name: string, schema: Structural): Structural | 'open' | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  if (schema.additionalProperties) return schema.additionalProperties;
  // A value of the wrong type is zod's to complain about.
  if (schema['x-kubernetes-preserve-unknown-fields'] || schema.type !== 'object') return 'open';
  return undefined;
}
