import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { checkConfig } from '../../ops/config.ts';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import type { ProxyConfig } from './model.ts';
import { normalise } from './normalise.ts';
import { configSchema } from './schema.ts';

export interface LoadedConfig {
  config: ProxyConfig;
  /** SHA-256 of the file, in hexadecimal: whoever wrote the file can tell whether it is the one that runs. */
  hash: string;
  warnings: string[];
}

/** Reads a configuration file and every file that it names; `files` is told of each before it is read. */
export function loadProxyConfig(
  file: string,
  files: { add(path: string): void } = { add() {} },
): LoadedConfig {
  const path = resolve(file);
  files.add(path);
  let text: Buffer;
  try {
    text = readFileSync(path);
  } catch (cause) {
    throw new IsthmusError('CONFIG_UNREADABLE', `${file} (${messageOf(cause)})`, { cause });
  }
  let document: unknown;
  try {
    document = parseText(text.toString('utf8'));
  } catch (cause) {
    // Without the lines that follow, which quote the text: it may be a key.
    const [where = ''] = messageOf(cause).split('\n', 1);
    throw new IsthmusError('CONFIG_INVALID', `${file}: ${where.replace(/:$/, '')}`);
  }
  const checked = checkProxyConfig(document, file, (name) => {
    const full = resolve(dirname(path), name);
    files.add(full);
    return readFileSync(full);
  });
  return { ...checked, hash: createHash('sha256').update(text).digest('hex') };
}

/** An operator writes JSON, which is YAML, too, but is read ten times as fast: with a thousand virtual clusters that is a second. */
function parseText(text: string): unknown {
  if (!text.startsWith('{')) return parse(text);
  try {
    return JSON.parse(text);
  } catch {
    return parse(text); // YAML can begin like that, or else says better what is wrong
  }
}

/** Checks a configuration that is a document already; `where` names it in the message. */
export function checkProxyConfig(
  document: unknown,
  where: string,
  readFile: (path: string) => Buffer = readFileSync,
): { config: ProxyConfig; warnings: string[] } {
  const { config, problems, warnings } = normalise(checkConfig(configSchema, document, where), readFile);
  if (problems.length > 0) throw new IsthmusError('CONFIG_INVALID', `${where}\n  ${problems.join('\n  ')}`);
  return { config, warnings };
}
