/** What the Secret of a joined cluster says, before anybody has been asked. */
import type { Secret } from '../../kube/clusters.ts';
import type { Connection } from '../../kube/http/connection.ts';
import { connectionOf, parseKubeconfig } from '../../kube/http/kubeconfig.ts';
import { keyOf } from '../../kube/object.ts';
import { messageOf } from '../../ops/errors.ts';
import { parseSecretYaml } from '../../ops/yaml.ts';
import { credentialOf } from './credential.ts';
import type { Credential } from './credential.ts';
import {
  ACCOUNT_ANNOTATION,
  CLUSTER_ID,
  CLUSTER_LABEL,
  JOIN_ROADS,
  KUBECONFIG_ENTRY,
  LIFETIME_ANNOTATION,
  NAMESPACES_ANNOTATION,
  ROADS_ANNOTATION,
  listed,
} from './names.ts';
import type { JoinRoad } from './names.ts';
import { administratorWarning } from './warnings.ts';
import type { TargetWarning } from './warnings.ts';

/** Whose token is renewed, and for how long one is asked for. */
export interface TokenAccount {
  namespace: string;
  name: string;
  lifetimeSeconds: number;
}

export interface JoinedSecret {
  server: string;
  /** Where the account has rights; everywhere if there are none. */
  namespaces: readonly string[];
  credential: Credential;
  /** The account whose token is to be renewed; it is not if undefined. */
  account: TokenAccount | undefined;
  warnings: readonly TargetWarning[];
}

/** For how long a token is asked for where nobody says so: long enough for an outage over a holiday. */
export const TOKEN_LIFETIME_SECONDS = 7 * 24 * 60 * 60;
/** Kubernetes gives none for less. */
export const MIN_LIFETIME_SECONDS = 10 * 60;

/** The name of a ServiceAccount, or of its namespace. */
const ACCOUNT = /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/;

/** An id that is no DNS label would make invalid names, so such a Secret is ignored. */
export function clusterOf({ metadata }: Secret): string | undefined {
  const id = metadata.labels?.[CLUSTER_LABEL];
  return id !== undefined && CLUSTER_ID.test(id) ? id : undefined;
}

/** What a cluster was joined for: all there is, where nobody says. */
export function roadsOf({ metadata }: Pick<Secret, 'metadata'>): readonly JoinRoad[] {
  const text = metadata.annotations?.[ROADS_ANNOTATION];
  return text === undefined ? JOIN_ROADS : JOIN_ROADS.filter((road) => listed(text).includes(road));
}

export const kubeconfigOf = ({ data }: Secret): string =>
  Buffer.from(data?.[KUBECONFIG_ENTRY] ?? '', 'base64').toString('utf8');

/** Reads the Secret; `url` is where the API server is, whatever the kubeconfig says. */
export function readJoinedSecret(secret: Secret, url?: string): JoinedSecret | { problem: string } {
  const text = kubeconfigOf(secret);
  let connection: Connection;
  try {
    connection = connectionOf(parseKubeconfig(text, `Secret ${keyOf(secret.metadata)}`));
  } catch (error) {
    return { problem: messageOf(error) };
  }
  const credential = credentialOf(connection.user);
  return {
    server: url ?? connection.server,
    namespaces: namespacesOf(secret, text),
    credential,
    account: accountOf(secret),
    warnings: [...urlWarnings(connection, url), ...connectionWarnings(connection, credential)],
  };
}

/** Where the account has rights, as the Secret says, else the namespace of the kubeconfig's context, if it has one. */
function namespacesOf({ metadata }: Secret, text: string): string[] {
  const names = listed(metadata.annotations?.[NAMESPACES_ANNOTATION]);
  if (names.length > 0) return names.includes('*') ? [] : names;
  const namespace = currentEntries(text).context?.['namespace'];
  return typeof namespace === 'string' && namespace !== '' ? [namespace] : [];
}

function accountOf({ metadata: { annotations = {} } }: Secret): TokenAccount | undefined {
  const [namespace, name, ...more] = (annotations[ACCOUNT_ANNOTATION] ?? '').split('/');
  if (!ACCOUNT.test(namespace ?? '') || !ACCOUNT.test(name ?? '') || more.length > 0) return undefined;
  const asked = Number(annotations[LIFETIME_ANNOTATION] ?? TOKEN_LIFETIME_SECONDS);
  const lifetimeSeconds = Number.isInteger(asked)
    ? Math.max(asked, MIN_LIFETIME_SECONDS)
    : TOKEN_LIFETIME_SECONDS;
  return { namespace: namespace!, name: name!, lifetimeSeconds };
}

function urlWarnings({ server }: Connection, url: string | undefined): TargetWarning[] {
  if (url === undefined || sameUrl(url, server)) return [];
  const message = `the kubeconfig says ${server}, and is overruled by the url ${url}`;
  return [{ reason: 'UrlOverruled', message }];
}

const sameUrl = (a: string, b: string) => URL.parse(a)?.href === URL.parse(b)?.href;

function connectionWarnings({ tls, server }: Connection, credential: Credential): TargetWarning[] {
  const isPlain = server.startsWith('http:');
  return [
    ...(tls.insecure || isPlain
      ? [
          {
            reason: 'ServerNotVerified' as const,
            message: `${isPlain ? 'the server speaks plain HTTP' : 'insecure-skip-tls-verify is set'}: whoever is between here and ${server} can read and change everything; put the authority of the server into certificate-authority-data`,
          },
        ]
      : []),
    ...(credential.isAdministrator ? [administratorWarning(credential)] : []),
  ];
}

/** The kubeconfig with another server for its current context. */
export function withServer(text: string, url: string): string {
  const { document, cluster } = currentEntries(text);
  if (!cluster) return text;
  cluster['server'] = url;
  return JSON.stringify(document);
}

/** The kubeconfig with another token for its current user. */
export function withToken(text: string, token: string): string {
  const { document, user } = currentEntries(text);
  if (!user) throw new TypeError('the kubeconfig has no user');
  user['token'] = token;
  return JSON.stringify(document);
}

type Entry = Record<string, unknown>;

/** The parts that the current context names, to be read or changed in place; it was found to be a kubeconfig before, or is of no use. */
function currentEntries(text: string): { document: unknown; context?: Entry; cluster?: Entry; user?: Entry } {
  let document: unknown;
  try {
    document = parseSecretYaml(text);
  } catch {
    return { document: undefined };
  }
  const config = isEntry(document) ? document : {};
  const entry = (list: string, field: string, name: unknown) => {
    const all = config[list];
    const found: unknown = Array.isArray(all)
      ? all.find((one) => isEntry(one) && one['name'] === name)
      : undefined;
    const value = isEntry(found) ? found[field] : undefined;
    return isEntry(value) ? value : undefined;
  };
  const context = entry('contexts', 'context', config['current-context']);
  const cluster = entry('clusters', 'cluster', context?.['cluster']);
  const user = entry('users', 'user', context?.['user']);
  return { document, ...(context && { context }), ...(cluster && { cluster }), ...(user && { user }) };
}

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
