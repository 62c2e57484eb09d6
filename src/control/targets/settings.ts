/**
 * What an operator is told about other clusters by its environment: the variables of the stretch proposal under both of their names.
 * Clusters that were joined by `isthmus join` need none of them.
 */
import { CLUSTER_ID } from './names.ts';

/** A cluster whose kubeconfig is in a Secret that is known by its name. */
export interface RemoteSetting {
  id: string;
  /** Where its API server is, whatever the kubeconfig says. */
  url: string | undefined;
  /** The Secret, in the operator's namespace. */
  secret: string;
}

export interface TargetSettings {
  /** The id of the cluster that the operator runs in. */
  central: string | undefined;
  remotes: readonly RemoteSetting[];
  /** Whether other clusters are used at all. */
  isStretching: boolean;
  /** Whether brokers get NetworkPolicies. */
  networkPolicies: boolean;
}

export type SettingsResult = { settings: TargetSettings } | { faults: string[] };

type Environment = Readonly<Record<string, string | undefined>>;

/** The document's name, and the later one. */
const MAPS = ['STRIMZI_K8S_CLUSTERS', 'STRIMZI_REMOTE_KUBE_CONFIG'] as const;
const CENTRAL = 'STRIMZI_CENTRAL_CLUSTER_ID';
const STRETCH_MODE = 'STRIMZI_STRETCH_MODE';
const NETWORK_POLICIES = 'STRIMZI_NETWORK_POLICY_GENERATION';

/** The name of a Secret. */
const SECRET_NAME = /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/;

/** Reads the variables; whatever is wrong with them is told at once. */
export function readTargetSettings(env: Environment): SettingsResult {
  const faults: string[] = [];
  const remotes = readRemotes(env, faults);
  const central = env[CENTRAL]?.trim() || undefined;
  if (central !== undefined && !CLUSTER_ID.test(central))
    faults.push(`${CENTRAL}: ${quoted(central)} is no id: lower-case letters, digits, hyphens inside`);
  if (remotes.some(({ id }) => id === central))
    faults.push(`${CENTRAL}: ${quoted(central ?? '')} is also the id of a remote cluster`);
  const isStretching = readFlag(env, STRETCH_MODE, faults);
  const networkPolicies = readFlag(env, NETWORK_POLICIES, faults);
  return faults.length > 0 ? { faults } : { settings: { central, remotes, isStretching, networkPolicies } };
}

function readFlag(env: Environment, name: string, faults: string[]): boolean {
  const text = env[name]?.trim().toLowerCase() || 'true';
  if (text !== 'true' && text !== 'false') faults.push(`${name}: ${quoted(text)} is neither true nor false`);
  return text !== 'false';
}

function readRemotes(env: Environment, faults: string[]): RemoteSetting[] {
  const found = new Map<string, Partial<Record<'url' | 'secret', string>>>();
  for (const variable of MAPS)
    for (const line of (env[variable] ?? '').split('\n').map((one) => one.trim())) {
      if (line === '') continue;
      const [, id = '', field, value = ''] = /^([^=\s]+)\.(url|secret)\s*=\s*(\S+)$/.exec(line) ?? [];
      const problem = problemOf(id, field, value);
      if (problem !== undefined) {
        faults.push(`${variable}: ${quoted(line)}: ${problem}`);
        continue;
      }
      const known = found.get(id) ?? {};
      const before = known[field as 'url' | 'secret'];
      if (before !== undefined && before !== value)
        faults.push(`${variable}: ${id}.${field} is given twice, as ${quoted(before)} and ${quoted(value)}`);
      found.set(id, { ...known, [field as 'url' | 'secret']: value });
    }
  return [...found].flatMap(([id, { url, secret }]) => {
    if (secret !== undefined) return [{ id, url, secret }];
    faults.push(`${MAPS[0]}: ${id}.secret is missing: the Secret with the kubeconfig of ${id}`);
    return [];
  });
}

function problemOf(id: string, field: string | undefined, value: string): string | undefined {
  if (field === undefined) return 'a line is ID.url=URL or ID.secret=NAME';
  if (!CLUSTER_ID.test(id)) return `${quoted(id)} is no id: lower-case letters, digits, hyphens inside`;
  if (field === 'secret')
    return SECRET_NAME.test(value) ? undefined : `${quoted(value)} cannot be the name of a Secret`;
  const url = URL.parse(value);
  if (!url || !/^https?:$/.test(url.protocol)) return `${quoted(value)} is not an http or https URL`;
  return url.username === '' && url.password === '' ? undefined : 'a URL with a password is not taken';
}

/** Never all of what may be very long. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
