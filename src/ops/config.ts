import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { IsthmusError, messageOf } from './errors.ts';
import { parseSecretYaml } from './yaml.ts';

export interface ConfigSource {
  /** A YAML file; its absence is an error when it is named. */
  file?: string | undefined;
  /** Environment variables `<prefix>_<PATH_OF_KEY>` override the file, e.g. ISTHMUS_LEASE_DURATION_SECONDS → leaseDurationSeconds. */
  env?: Readonly<Record<string, string | undefined>>;
  envPrefix?: string;
}

/** Reads a configuration from file and environment and checks it; every problem is named by its key, all at once. */
export function loadConfig<S extends z.ZodObject>(schema: S, source: ConfigSource): z.output<S> {
  const document = source.file === undefined ? {} : readYaml(source.file);
  const merged = { ...document, ...fromEnvironment(schema, source) };
  return checkConfig(schema, merged, source.file ?? 'environment');
}

/** Checks a document; `where` names it in the message. An empty one lacks everything that is required. */
export function checkConfig<S extends z.ZodType>(schema: S, document: unknown, where: string): z.output<S> {
  const result = schema.safeParse(document ?? {});
  if (result.success) return result.data;
  const lines = configProblems(result.error, document).map(({ path, message }) => {
    return `${path || '(top level)'}: ${message}`;
  });
  throw new IsthmusError('CONFIG_INVALID', `${where}\n  ${lines.join('\n  ')}`);
}

/** What a schema found wrong with a document: the key, and what it must be. */
export function configProblems(error: z.ZodError, document: unknown): { path: string; message: string }[] {
  return error.issues.map(({ path, code, message }) => {
    const isMissing = code === 'invalid_type' && valueAt(document, path) === undefined;
    return { path: path.join('.'), message: isMissing ? 'is required' : message };
  });
}

function valueAt(document: unknown, path: readonly PropertyKey[]): unknown {
  let value = document;
  for (const step of path) value = (value as Record<PropertyKey, unknown> | null | undefined)?.[step];
  return value;
}

/** Reads one YAML document. What is wrong is named by its place and never quoted: the line may hold a secret. */
export function parseYaml(text: string, where: string): unknown {
  try {
    return parseSecretYaml(text);
  } catch (cause) {
    throw new IsthmusError('CONFIG_INVALID', `${where}: ${messageOf(cause)}`);
  }
}

function readYaml(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new IsthmusError('CONFIG_UNREADABLE', `${file} (${messageOf(cause)})`, { cause });
  }
  const document = parseYaml(text, file) ?? {};
  if (typeof document === 'object' && !Array.isArray(document)) return document as Record<string, unknown>;
  throw new IsthmusError('CONFIG_INVALID', `${file}: a mapping of keys is expected at the top level`);
}

/** Top-level keys from the environment. Values are read as YAML scalars, so `5` is a number and `[a, b]` a list. */
function fromEnvironment(schema: z.ZodObject, source: ConfigSource): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  if (!source.envPrefix || !source.env) return found;
  for (const key of Object.keys(schema.shape)) {
    const name = `${source.envPrefix}_${key.replace(/[A-Z]/g, (upper) => `_${upper}`).toUpperCase()}`;
    const text = source.env[name];
    if (text !== undefined) found[key] = parseYaml(text, name);
  }
  return found;
}
