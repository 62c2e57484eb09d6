/**
 * Secrets in a filter's config: a string that is wholly `${secret:NAME:KEY}` or `${configmap:NAME:KEY}` stands for that
 * value. A `^` before it escapes, so that such a text can also be meant literally.
 */
const PLACEHOLDER = /^(\^*)\$\{([a-z]{1,63}):([a-zA-Z0-9_.-]{1,253}):([a-zA-Z0-9_.-]{1,253})\}$/;

export type Provider = 'secret' | 'configmap';

/** A value that a config asks for, and where in the config it does. */
export interface Placeholder {
  path: PropertyKey[];
  provider: string;
  name: string;
  key: string;
}

export type Lookup = (provider: Provider, name: string, key: string) => string | undefined;

export interface Interpolated {
  value: unknown;
  /** Placeholders that name nothing there is. */
  unresolved: Placeholder[];
}

/** The config with every placeholder replaced. Pure; the input is left as it is. */
export function interpolate(value: unknown, lookup: Lookup, path: PropertyKey[] = []): Interpolated {
  if (typeof value === 'string') return interpolateText(value, lookup, path);
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, index) => interpolate(item, lookup, [...path, index]));
    return { value: items.map((item) => item.value), unresolved: items.flatMap((item) => item.unresolved) };
  }
  if (typeof value !== 'object' || value === null) return { value, unresolved: [] };
  const fields = Object.entries(value).map(
    ([key, field]) => [key, interpolate(field, lookup, [...path, key])] as const,
  );
  return {
    value: Object.fromEntries(fields.map(([key, field]) => [key, field.value])),
    unresolved: fields.flatMap(([, field]) => field.unresolved),
  };
}

function interpolateText(text: string, lookup: Lookup, path: PropertyKey[]): Interpolated {
  const match = PLACEHOLDER.exec(text);
  if (!match) return { value: text, unresolved: [] };
  const [, carets, provider, name, key] = match as unknown as [string, string, string, string, string];
  const kept = '^'.repeat(Math.floor(carets.length / 2));
  if (carets.length % 2 === 1) return { value: kept + text.slice(carets.length), unresolved: [] };
  const known = provider === 'secret' || provider === 'configmap';
  const found = known ? lookup(provider, name, key) : undefined;
  if (found === undefined) return { value: text, unresolved: [{ path, provider, name, key }] };
  return { value: kept + found, unresolved: [] };
}
