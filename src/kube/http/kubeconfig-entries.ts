import { isAbsolute, resolve, sep } from 'node:path';
import { createSecureContext } from 'node:tls';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { readEntryFile, readPem } from './connection.ts';
import type { Connection, ExecPlugin, Pem, User } from './connection.ts';
import type { ClusterEntry, ExecEntry, UserEntry } from './kubeconfig-schema.ts';

/** Where an entry was read. Without a directory it may refer to nothing on this machine. */
export interface Origin {
  where: string;
  directory: string | undefined;
}

const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const CLUSTER_INFO_EXTENSION = 'client.authentication.k8s.io/exec';

function invalid(particulars: string, cause?: unknown): IsthmusError {
  return new IsthmusError('KUBECONFIG_INVALID', particulars, { cause });
}

/** Checks a cluster entry and resolves what it refers to. */
export function resolveCluster(
  entry: ClusterEntry,
  origin: Origin,
  label: string,
): Pick<Connection, 'server' | 'tls'> {
  const server = URL.parse(entry.server);
  if (!server || !/^https?:$/.test(server.protocol))
    throw invalid(`${label}: server is not an http or https URL`);
  // The server is named in messages; and what stands there would not be sent.
  if (server.username !== '' || server.password !== '')
    throw invalid(`${label}: server: a URL with a user or a password is not taken`);
  if (entry['proxy-url'])
    throw invalid(`${label}: proxy-url is not supported; the API server must be reachable directly`);
  const insecure = entry['insecure-skip-tls-verify'] ?? false;
  const ca = pemOf(entry, 'certificate-authority', origin, label);
  if (insecure && ca)
    throw invalid(`${label}: certificate-authority and insecure-skip-tls-verify exclude each other`);
  if (ca && !readPem(ca, label).includes('-----BEGIN CERTIFICATE-----'))
    throw invalid(`${label}: certificate-authority holds no PEM certificate`);
  return {
    server: entry.server.replace(/\/+$/, ''),
    tls: { ca, insecure, serverName: entry['tls-server-name'] || undefined },
  };
}

/** Checks a user entry and resolves what it refers to. */
export function resolveUser(entry: UserEntry, cluster: ClusterEntry, origin: Origin, label: string): User {
  if (entry['auth-provider'])
    throw invalid(`${label}: auth-provider was removed from Kubernetes; use an exec plugin instead`);
  if (entry.username && (entry.token || entry.tokenFile))
    throw invalid(`${label}: token and username exclude each other`);
  const tokenFile = entry.tokenFile ? localFile(entry.tokenFile, origin, `${label}: tokenFile`) : undefined;
  if (tokenFile !== undefined && readEntryFile(tokenFile, `${label}: tokenFile`).trim() === '')
    throw invalid(`${label}: tokenFile: ${tokenFile} is empty`);
  return {
    name: label,
    token: entry.token || undefined,
    tokenFile,
    basic: entry.username ? { username: entry.username, password: entry.password ?? '' } : undefined,
    certificate: certificateOf(entry, origin, label),
    exec: entry.exec ? execOf(entry.exec, cluster, origin, label) : undefined,
    impersonate: impersonationOf(entry, label),
  };
}

function certificateOf(entry: UserEntry, origin: Origin, label: string): User['certificate'] {
  const cert = pemOf(entry, 'client-certificate', origin, label);
  const key = pemOf(entry, 'client-key', origin, label);
  if (!cert && !key) return undefined;
  if (!cert || !key) throw invalid(`${label}: client-certificate and client-key must come together`);
  try {
    createSecureContext({ cert: readPem(cert, label), key: readPem(key, label) });
  } catch (cause) {
    if (cause instanceof IsthmusError) throw cause;
    throw invalid(`${label}: client-certificate and client-key: ${messageOf(cause)}`, cause);
  }
  return { cert, key };
}

/** `<field>-data` (base64) before `<field>` (a file), as kubectl has it. */
function pemOf(
  entry: Record<string, unknown>,
  field: 'certificate-authority' | 'client-certificate' | 'client-key',
  origin: Origin,
  label: string,
): Pem | undefined {
  const data = entry[`${field}-data`];
  if (typeof data === 'string' && data !== '') {
    const text = Buffer.from(data, 'base64').toString('utf8');
    if (!text.includes('-----BEGIN ')) throw invalid(`${label}: ${field}-data is not a PEM text in base64`);
    return { text };
  }
  const file = entry[field];
  return typeof file === 'string' && file !== ''
    ? { file: localFile(file, origin, `${label}: ${field}`) }
    : undefined;
}

function localFile(file: string, { directory }: Origin, label: string): string {
  if (directory === undefined)
    throw invalid(`${label} names a file, which only a kubeconfig on this machine may; embed its content`);
  return resolve(directory, file);
}

function execOf(entry: ExecEntry, cluster: ClusterEntry, origin: Origin, label: string): ExecPlugin {
  if (origin.directory === undefined)
    throw invalid(`${label}: exec runs a program, which only a kubeconfig on this machine may ask for`);
  if (!EXEC_VERSIONS.includes(entry.apiVersion))
    throw invalid(
      `${label}: exec.apiVersion "${entry.apiVersion}" is not one of ${EXEC_VERSIONS.join(', ')}`,
    );
  if (entry.interactiveMode === 'Always')
    throw invalid(`${label}: exec.interactiveMode is Always, but nobody is there to answer`);
  if (entry.apiVersion === EXEC_VERSIONS[0] && !entry.interactiveMode)
    throw invalid(`${label}: exec.interactiveMode is required with ${entry.apiVersion}`);
  const isPath = entry.command.includes('/') || entry.command.includes(sep);
  return {
    apiVersion: entry.apiVersion,
    command: isPath && !isAbsolute(entry.command) ? resolve(origin.directory, entry.command) : entry.command,
    args: entry.args ?? [],
    env: Object.fromEntries((entry.env ?? []).map(({ name, value }) => [name, value])),
    installHint: entry.installHint ?? undefined,
    clusterInfo: entry.provideClusterInfo ? clusterInfoOf(cluster, origin, label) : undefined,
  };
}

function clusterInfoOf(cluster: ClusterEntry, origin: Origin, label: string): Record<string, unknown> {
  const ca = pemOf(cluster, 'certificate-authority', origin, label);
  return {
    server: cluster.server,
    'tls-server-name': cluster['tls-server-name'] ?? undefined,
    'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'] ?? undefined,
    'certificate-authority-data': ca ? Buffer.from(readPem(ca, label)).toString('base64') : undefined,
    config: cluster.extensions?.find(({ name }) => name === CLUSTER_INFO_EXTENSION)?.extension,
  };
}

function impersonationOf(entry: UserEntry, label: string): User['impersonate'] {
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = entry;
  if (!as) {
    if (uid || groups?.length || extra)
      throw invalid(`${label}: as-uid, as-groups and as-user-extra need as`);
    return undefined;
  }
  const headers: Record<string, string | string[]> = { 'impersonate-user': as };
  if (uid) headers['impersonate-uid'] = uid;
  if (groups?.length) headers['impersonate-group'] = groups;
  for (const [name, values] of Object.entries(extra ?? {}))
    headers[`impersonate-extra-${encodeURIComponent(name)}`.toLowerCase()] = values;
  return headers;
}
