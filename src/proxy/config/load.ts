import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { checkConfig } from '../../ops/config.ts';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { parseSecretYaml } from '../../ops/yaml.ts';
import { usableClusters } from './check.ts';
import type { CertificateFact } from './check.ts';
import type { Problem, ProxyConfig } from './model.ts';
import { normalise } from './normalise.ts';
import { configSchema } from './schema.ts';

/** A configuration as far as it can be used: one bad virtual cluster is no reason not to serve the others. */
export interface LoadedConfig {
  /** With those virtual clusters that can be used. */
  config: ProxyConfig;
  /** Why the others cannot. */
  rejected: Problem[];
  certificates: CertificateFact[];
  /** Whether some were rejected that nobody has tried out: to load it again gets to them. */
  leftUntried: boolean;
  warnings: string[];
}

/** Reads a configuration file and every file that it names; `files` is told of each before it is read. */
export async function loadProxyConfig(
  file: string,
  files: { add(path: string): void } = { add() {} },
): Promise<LoadedConfig & { hash: string }> {
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
    throw new IsthmusError('CONFIG_INVALID', `${file}: ${messageOf(cause)}`);
  }
  const loaded = await loadDocument(document, file, (name) => {
    const full = resolve(dirname(path), name);
    files.add(full);
    return readFileSync(full);
  });
  // Whoever wrote the file can tell by its hash whether it is the one that runs.
  return { ...loaded, hash: createHash('sha256').update(text).digest('hex') };
}

/** An operator writes JSON, which is YAML, too, but is read ten times as fast: with a thousand virtual clusters that is a second. */
function parseText(text: string): unknown {
  if (!text.startsWith('{')) return parseSecretYaml(text);
  try {
    return JSON.parse(text);
  } catch {
    return parseSecretYaml(text); // YAML can begin like that, or else says better what is wrong
  }
}

/**
 * Loads a configuration that is a document already, virtual cluster by virtual cluster, and tries out keys, certificates and
 * filters. Throws where the document as a whole means nothing; `where` names it in the message.
 */
export async function loadDocument(
  document: unknown,
  where: string,
  readFile: (path: string) => Buffer = readFileSync,
): Promise<LoadedConfig> {
  const { config, rejected, warnings } = readDocument(document, where, readFile);
  const tried = await usableClusters(config.virtualClusters);
  return {
    config: { ...config, virtualClusters: tried.usable },
    rejected: [...rejected, ...tried.rejected],
    certificates: tried.certificates,
    leftUntried: tried.leftUntried,
    warnings,
  };
}

function readDocument(document: unknown, where: string, readFile: (path: string) => Buffer) {
  const { problems, ...rest } = normalise(checkConfig(configSchema, document, where), readFile);
  if (problems.length > 0) throw new IsthmusError('CONFIG_INVALID', `${where}\n  ${problems.join('\n  ')}`);
  return rest;
}

/** Checks that all of a document can be used, without trying out keys, certificates and filters. */
export function checkProxyConfig(
  document: unknown,
  where: string,
  readFile: (path: string) => Buffer = readFileSync,
): { config: ProxyConfig; warnings: string[] } {
  const { config, rejected, warnings } = readDocument(document, where, readFile);
  if (rejected.length > 0) throw new IsthmusError('CONFIG_INVALID', `${where}\n  ${problemLines(rejected)}`);
  return { config, warnings };
}

/** One line for each problem, with the virtual cluster that has it. */
export const problemLines = (problems: readonly Problem[]) =>
  problems.map(({ cluster, problem }) => `virtualClusters[${cluster}]: ${problem}`).join('\n  ');
