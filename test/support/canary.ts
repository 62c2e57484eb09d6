/** A secret that must not be seen, and ways to put it into documents and to look for it. */

export const CANARY = 'canary-0c7e41d9';

/** Every way in which it could be seen. */
const TRACES = [
  CANARY,
  Buffer.from(CANARY).toString('hex'),
  // Base64 depends on what comes before; so much of it does not.
  ...[0, 1, 2].map((before) =>
    Buffer.from('x'.repeat(before) + CANARY)
      .toString('base64')
      .slice(4, -4),
  ),
];

export const showsCanary = (text: string) => TRACES.some((trace) => text.includes(trace));

type Path = readonly (string | number)[];

/** The paths of all texts in a value. */
export function textPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, inner]) => textPaths(inner, [...path, key]));
}

/** The same value, with another text at a path. */
export function withText<T>(value: T, [step, ...rest]: Path, text: string): T {
  if (step === undefined) return text as T;
  const copy = structuredClone(value) as Record<string | number, unknown>;
  copy[step] = withText(copy[step], rest, text);
  return copy as T;
}
