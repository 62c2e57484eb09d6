/** What of ours another schema of the same kind would drop, or refuse. Pure. */
import type { Structural } from '../../resources/structural.ts';

/** Their paths; a field that is dropped stands for all below it. */
export function droppedFields(ours: Structural, theirs: Structural | undefined, path = ''): string[] {
  if (theirs === undefined) return [path];
  if (theirs['x-kubernetes-preserve-unknown-fields'] || theirs['x-kubernetes-int-or-string']) return [];
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  const others = theirs.additionalProperties;
  return [
    ...Object.entries(ours.properties ?? {}).flatMap(([name, field]) =>
      droppedFields(field, theirs.properties?.[name] ?? others, below(name)),
    ),
    ...(ours.items && theirs.items ? droppedFields(ours.items, theirs.items, `${path}[]`) : []),
    ...(ours.additionalProperties && others
      ? droppedFields(ours.additionalProperties, others, below('*'))
      : []),
  ];
}

/** Values of ours that another schema does not know; resources with them are refused. By path. */
export function refusedValues(ours: Structural, theirs: Structural | undefined, path = ''): string[] {
  if (theirs === undefined) return [];
  const below = (name: string) => (path === '' ? name : `${path}.${name}`);
  const unknown = theirs.enum ? (ours.enum ?? []).filter((value) => !theirs.enum?.includes(value)) : [];
  return [
    ...unknown.map((value) => `${path}: ${String(value)}`),
    ...Object.entries(ours.properties ?? {}).flatMap(([name, field]) =>
      refusedValues(field, theirs.properties?.[name], below(name)),
    ),
    ...(ours.items ? refusedValues(ours.items, theirs.items, `${path}[]`) : []),
  ];
}
