/** Documents of which nothing is known yet. */
export type Fields = Record<string, unknown>;

export const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A mapping, and an empty one where there is none. */
export const mapOf = (value: unknown): Fields => (isRecord(value) ? value : {});

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const without = (fields: Fields, ...names: string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

/** Only the fields that have a value. */
export const given = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

export const isEmpty = (fields: Fields): boolean => Object.keys(fields).length === 0;

/** What an object, or another in its namespace, is known by. */
export function nameKey(document: Fields, name?: string): string {
  const metadata = mapOf(document['metadata']);
  return JSON.stringify([metadata['namespace'], name ?? metadata['name']]);
}
