import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { z } from 'zod';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { parseSecretYaml } from '../../ops/yaml.ts';
import type { Connection } from './connection.ts';
import { resolveCluster, resolveUser } from './kubeconfig-entries.ts';
import type { Origin } from './kubeconfig-entries.ts';
import { clusterSchema, contextSchema, kubeconfigSchema, userSchema } from './kubeconfig-schema.ts';

interface Entry {
  value: unknown;
  origin: Origin;
}

/** One or several kubeconfig files, read together; the first to name an entry has the say, as with kubectl. */
export interface Kubeconfig {
  /** For messages. */
  where: string;
  currentContext: string | undefined;
  contexts: Map<string, Entry>;
  clusters: Map<string, Entry>;
  users: Map<string, Entry>;
}

const MAX_BYTES = 8 * 1024 * 1024;
const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

function invalid(particulars: string, cause?: unknown): IsthmusError {
  return new IsthmusError('KUBECONFIG_INVALID', particulars, { cause });
}

/**
 * Reads a kubeconfig's text. Without a `directory` the text comes from a stranger (a Secret): it may name no files and run
 * no programs on this machine.
 */
export function parseKubeconfig(text: string, where: string, directory?: string): Kubeconfig {
  if (text.length > MAX_BYTES) throw invalid(`${where}: larger than ${MAX_BYTES} bytes`);
  if (text.trim() === '') throw invalid(`${where}: it is empty`);
  let document: unknown;
  try {
    document = parseSecretYaml(text);
  } catch (cause) {
    throw invalid(`${where}: not YAML (${messageOf(cause)})`);
  }
  const outline = check(kubeconfigSchema, document, where);
  const origin: Origin = { where, directory };
  const entries = (list: { name: string; value: unknown }[]) =>
    new Map(list.toReversed().map(({ name, value }) => [name, { value, origin }]));
  return {
    where,
    currentContext: outline['current-context'] ?? undefined,
    contexts: entries(outline.contexts),
    clusters: entries(outline.clusters),
    users: entries(outline.users),
  };
}

/** Reads one kubeconfig file. */
export function readKubeconfig(file: string): Kubeconfig {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw invalid(`${file}: ${messageOf(cause)}`, cause);
  }
  return parseKubeconfig(text, file, dirname(resolve(file)));
}

/** Joins kubeconfigs; what an earlier one says stands. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const join = (pick: (config: Kubeconfig) => Map<string, Entry>) =>
    new Map(configs.toReversed().flatMap((config) => [...pick(config)]));
  return {
    where: configs.map((config) => config.where).join(', '),
    currentContext: configs.find((config) => config.currentContext)?.currentContext,
    contexts: join((config) => config.contexts),
    clusters: join((config) => config.clusters),
    users: join((config) => config.users),
  };
}

/** Resolves a context, by default the current one, into what it takes to connect. */
export function connectionOf(config: Kubeconfig, contextName = config.currentContext): Connection {
  if (!contextName) {
    const known = [...config.contexts.keys()].join(', ') || 'none';
    throw invalid(`${config.where}: current-context is not set (contexts: ${known})`);
  }
  const named = `${config.where}: context "${contextName}"`;
  const context = check(contextSchema, find(config.contexts, contextName, named).value, named);
  const clusterName = `${config.where}: cluster "${context.cluster}"`;
  const clusterEntry = find(config.clusters, context.cluster, clusterName);
  const cluster = check(clusterSchema, clusterEntry.value, clusterName);
  const resolved = resolveCluster(cluster, clusterEntry.origin, clusterName);
  return {
    name: contextName,
    ...resolved,
    namespace: context.namespace || 'default',
    user: userOf(config, context.user ?? '', cluster),
  };
}

function userOf(
  config: Kubeconfig,
  name: string,
  cluster: z.output<typeof clusterSchema>,
): Connection['user'] {
  if (name === '') return { name: 'anonymous' };
  const label = `${config.where}: user "${name}"`;
  const { value, origin } = find(config.users, name, label);
  return resolveUser(check(userSchema, value ?? {}, label), cluster, origin, label);
}

function find(entries: Map<string, Entry>, name: string, label: string): Entry {
  const entry = entries.get(name);
  if (!entry)
    throw invalid(`${label} does not exist (there are: ${[...entries.keys()].join(', ') || 'none'})`);
  return entry;
}

function check<S extends z.ZodType>(schema: S, value: unknown, label: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalid(`${label}: ${issue?.path.join('.') || '(top level)'}: ${issue?.message}`);
}

export interface LoadOptions {
  /** A file named by the user; nothing else is looked at then. */
  file?: string | undefined;
  context?: string | undefined;
  env?: Readonly<Record<string, string | undefined>>;
  home?: string;
  /** Where a pod finds its own credentials. */
  serviceAccountDirectory?: string;
}

/** Finds the connection the way kubectl does: the file named, KUBECONFIG, ~/.kube/config, then the pod's own account. */
export function loadConnection(options: LoadOptions = {}): Connection {
  const { env = process.env, home = homedir(), context } = options;
  if (options.file !== undefined) return connectionOf(readKubeconfig(options.file), context);
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  const files = (listed.length > 0 ? listed : [join(home, '.kube', 'config')]).filter((file) =>
    existsSync(file),
  );
  if (files.length > 0) return connectionOf(mergeKubeconfigs(files.map(readKubeconfig)), context);
  const missing = `${listed.join(', ') || '~/.kube/config'} does not exist`;
  // Whoever names a context means that one, and not the cluster that this happens to run in.
  if (context !== undefined) throw invalid(`${missing}, and so there is no context "${context}"`);
  const inCluster = inClusterConnection(env, options.serviceAccountDirectory);
  if (inCluster) return inCluster;
  throw invalid(`${missing}, and this is no pod in a cluster`);
}

/** The connection of a pod, from its service account; undefined outside a cluster. */
export function inClusterConnection(
  env: Readonly<Record<string, string | undefined>>,
  directory = SERVICE_ACCOUNT,
): Connection | undefined {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'];
  const tokenFile = join(directory, 'token');
  if (!host || !port || !existsSync(tokenFile)) return undefined;
  const namespaceFile = join(directory, 'namespace');
  return {
    name: 'in-cluster',
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() : 'default',
    tls: { ca: { file: join(directory, 'ca.crt') }, insecure: false },
    user: { name: 'service account', tokenFile },
  };
}
