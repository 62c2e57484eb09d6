/** What is known of joined clusters: by their Secrets, by what the operator says, and, where it says nothing, by asking. */
import { CLUSTERS_MAP, readReport } from '../../control/targets/cluster-report.ts';
import type { ClusterReport } from '../../control/targets/cluster-report.ts';
import { clusterOf, kubeconfigOf, readJoinedSecret, roadsOf } from '../../control/targets/joined-secret.ts';
import { CLUSTER_LABEL } from '../../control/targets/names.ts';
import { stateWarnings } from '../../control/targets/warnings.ts';
import { UNKNOWN } from '../../control/targets/health.ts';
import type { Secret } from '../../kube/clusters.ts';
import type { Client } from '../../kube/http/client.ts';
import { messageOf } from '../../ops/errors.ts';
import { withJoined } from './joined-client.ts';

export interface ClusterRow extends Omit<ClusterReport, 'reachable'> {
  name: string;
  reachable: boolean;
  /** Who has looked. */
  seenBy: 'operator' | 'here';
  /** What it was joined for; of a cluster that the operator's environment names nothing is written down. */
  roads: readonly string[];
}

const SECRET = { group: '', version: 'v1', kind: 'Secret' };
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };
const TIMEOUT_MS = 5000;

export async function listClusters(client: Client, namespace: string): Promise<ClusterRow[]> {
  const { items } = await client.list<Secret>(SECRET, { namespace, labelSelector: CLUSTER_LABEL });
  const report = readReport(await client.get(CONFIG_MAP, { name: CLUSTERS_MAP, namespace }));
  const joined = new Map(items.flatMap((secret) => [[clusterOf(secret) ?? '', secret] as const]));
  joined.delete('');
  const rows = [...joined].map(([name, secret]) => rowOf(name, secret, report[name]));
  const others = Object.entries(report).filter(([name]) => !joined.has(name));
  const named = others.map(([name, its]): ClusterRow => ({ name, ...said(its), roads: ['stretch'] }));
  return [...(await Promise.all(rows)), ...named].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const said = (report: ClusterReport) => ({
  ...report,
  reachable: report.reachable ?? false,
  seenBy: 'operator' as const,
});

/** The operator uses it from where it matters; where it says nothing, somebody has to look. */
async function rowOf(name: string, secret: Secret, report: ClusterReport | undefined): Promise<ClusterRow> {
  const roads = roadsOf(secret);
  if (report?.reachable !== undefined && roads.includes('stretch')) return { name, ...said(report), roads };
  const read = readJoinedSecret(secret);
  const isRead = !('problem' in read);
  const seen = isRead ? await look(kubeconfigOf(secret)) : { reachable: false, problem: read.problem };
  const warnings = stateWarnings({
    problem: undefined,
    joined: isRead ? read : undefined,
    health: UNKNOWN,
    now: Date.now(),
  });
  const expiresAt = isRead ? read.credential.expiresAt : undefined;
  return {
    name,
    ...(isRead && { server: read.server }),
    ...seen,
    seenBy: 'here',
    roads,
    ...(expiresAt !== undefined && { credentialExpires: new Date(expiresAt).toISOString() }),
    warnings,
  };
}

async function look(kubeconfig: string): Promise<{ reachable: boolean; problem?: string; version?: string }> {
  try {
    const answer = await withJoined(kubeconfig, (joined) =>
      joined.read('/version', { timeoutMs: TIMEOUT_MS }),
    );
    return { reachable: true, version: String((answer as { gitVersion?: unknown }).gitVersion) };
  } catch (error) {
    return { reachable: false, problem: messageOf(error) };
  }
}
