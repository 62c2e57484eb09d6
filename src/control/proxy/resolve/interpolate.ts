/**
 * Secrets in a filter's config: a string that is wholly `${secret:NAME:KEY}` or `${configmap:NAME:KEY}` stands for that
 * value, in fields that the filter declares secret and nowhere else: the value of any other may be logged or quoted. That keeps it from
 * those who read, not from who writes the filter, and with it which server the value is shown to. So whoever may write filters has
 * every Secret of the namespace (`docs/kubernetes.md`, "Who may do what"). A `^` before it escapes, so that such a text can also be meant literally.
 */
import { isFieldOf } from '../../../ops/filter-module.ts';

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
  /** Placeholders in fields that are not secret; they stay as they are. */
  misplaced: Placeholder[];
  /** How many characters were put in the place of placeholders: a short config may ask for a long value many times. */
  replaced: number;
}

/** The config with every placeholder in one of the secret fields replaced. Pure; the input is left as it is. */
export function interpolate(config: unknown, lookup: Lookup, secretFields: readonly string[]): Interpolated {
  const unresolved: Placeholder[] = [];
  const misplaced: Placeholder[] = [];
  let replaced = 0;
  const value = mapTexts(config, [], (text, path) => {
    const read = readPlaceholder(text);
    if (read.literal !== undefined) return read.literal;
    const { provider, name, key } = read;
    const isSecret = isFieldOf(secretFields, path);
    const isKnown = provider === 'secret' || provider === 'configmap';
    const found = isSecret && isKnown ? lookup(provider, name, key) : undefined;
    if (found === undefined) (isSecret ? unresolved : misplaced).push({ path, provider, name, key });
    replaced += found?.length ?? 0;
    return found === undefined ? text : read.kept + found;
  });
  return { value, unresolved, misplaced, replaced };
}

/** Every placeholder of a config, wherever it stands. */
export function placeholdersIn(config: unknown): Placeholder[] {
  return interpolate(config, () => undefined, []).misplaced;
}

function mapTexts(
  value: unknown,
  path: PropertyKey[],
  change: (text: string, path: PropertyKey[]) => string,
): unknown {
  if (typeof value === 'string') return change(value, path);
  if (Array.isArray(value))
    return value.map((item: unknown, index) => mapTexts(item, [...path, index], change));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, field]) => [key, mapTexts(field, [...path, key], change)]);
  return Object.fromEntries(fields) as unknown;
}

type Read =
  | { literal: string }
  | { literal?: undefined; kept: string; provider: string; name: string; key: string };

function readPlaceholder(text: string): Read {
  const match = PLACEHOLDER.exec(text);
  if (!match) return { literal: text };
  const [, carets, provider, name, key] = match as unknown as [string, string, string, string, string];
  const kept = '^'.repeat(Math.floor(carets.length / 2));
  if (carets.length % 2 === 1) return { literal: kept + text.slice(carets.length) };
  return { kept, provider, name, key };
}
