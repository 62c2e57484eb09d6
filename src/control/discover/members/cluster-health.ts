/**
 * Reports which clusters can be watched, and how old the data of each are: their last known names stay served, for as long as they are
 * to be kept.
 */
import type { Clock } from '../../../kube/clock.ts';
import type { EventRecorder } from '../../../kube/write/events.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Log } from '../../../ops/log.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import type { Member } from './member.ts';

export interface ClusterHealthOptions {
  members: ReadonlyMap<string, Member>;
  /** The name of the local cluster, which is never forgotten. */
  local: string;
  /** The Secret of a joined cluster, which gets the events about it. */
  objectOf: (cluster: string) => KubeObject | undefined;
  /** How long the names of a cluster that cannot be read are kept; for ever if undefined. */
  forgetAfterMs?: number | undefined;
  /** Takes a cluster for one without exports, or no longer. */
  forget: (cluster: string, isForgotten: boolean) => void;
  events: EventRecorder;
  log: Log;
  metrics: Metrics;
  clock: Clock;
}

const CHECK_MS = 1000;
const ACTION = 'WatchCluster';

/** Checks the members until the signal is aborted. */
export async function watchClusterHealth(options: ClusterHealthOptions, signal: AbortSignal): Promise<void> {
  const { members, clock, forgetAfterMs = Infinity } = options;
  measureAges(options);
  /** Since when each cluster has not been readable. */
  const failingSince = new Map<string, number>();
  const overdue = (member: Member, name: string) => {
    const problem = name === options.local ? undefined : member.problem();
    const since = failingSince.get(name) ?? clock.now();
    if (problem === undefined) failingSince.delete(name);
    else failingSince.set(name, since);
    return problem !== undefined && clock.now() - since >= forgetAfterMs ? problem : undefined;
  };
  const checks = [
    onChange(
      members,
      (member) => member.problem(),
      (name, problem) => reportReachability(options, name, problem),
    ),
    onChange(
      members,
      (member) => member.idProblem(),
      (name, problem) => reportId(options, name, problem),
    ),
    onChange(members, overdue, (name, problem) => forget(options, name, problem)),
  ];
  while (!signal.aborted) {
    for (const name of failingSince.keys()) if (!members.has(name)) failingSince.delete(name);
    for (const check of checks) check();
    await clock.wait(CHECK_MS, signal);
  }
}

/** Reports when a member gets a problem of one sort, and when that is over. */
function onChange(
  members: ClusterHealthOptions['members'],
  problemOf: (member: Member, name: string) => string | undefined,
  report: (name: string, problem: string | undefined) => void,
): () => void {
  const failing = new Set<string>();
  return () => {
    for (const name of failing) if (!members.has(name)) failing.delete(name);
    for (const [name, member] of members) {
      const problem = problemOf(member, name);
      if ((problem !== undefined) === failing.has(name)) continue;
      if (problem === undefined) failing.delete(name);
      else failing.add(name);
      report(name, problem);
    }
  };
}

function reportReachability(
  { objectOf, events, log }: ClusterHealthOptions,
  cluster: string,
  problem: string | undefined,
): void {
  const object = objectOf(cluster);
  const action = ACTION;
  if (problem === undefined) {
    log.info({ cluster }, 'cluster reachable');
    const note = `cluster ${cluster} is reachable again`;
    if (object) events.record(object, { type: 'Normal', reason: 'ClusterReachable', action, note });
    return;
  }
  log.warn({ cluster, problem }, 'cluster unreachable; its last known names stay served');
  const note = `cluster ${cluster} is unreachable, its last known names stay served: ${problem}`;
  if (object) events.record(object, { type: 'Warning', reason: 'ClusterUnreachable', action, note });
}

function forget(options: ClusterHealthOptions, cluster: string, problem: string | undefined): void {
  const { objectOf, events, log } = options;
  options.forget(cluster, problem !== undefined);
  if (problem === undefined) return log.info({ cluster }, 'exports of the cluster count again');
  log.warn({ cluster, problem }, 'cluster unreachable for too long; its names are not served any more');
  const object = objectOf(cluster);
  const note = `cluster ${cluster} has been unreachable for too long, its names are not served any more: ${problem}`;
  if (object) events.record(object, { type: 'Warning', reason: 'ClusterForgotten', action: ACTION, note });
}

function reportId(
  { members, objectOf, events, log }: ClusterHealthOptions,
  cluster: string,
  problem: string | undefined,
): void {
  const id = members.get(cluster)?.id;
  if (problem === undefined) return log.info({ cluster, id }, 'ClusterProperty of the cluster can be read');
  log.warn({ cluster, id, problem }, 'ClusterProperty of the cluster cannot be read');
  const object = objectOf(cluster);
  const note = `ClusterProperty of cluster ${cluster} cannot be read, its id is ${id}: ${problem}`;
  if (object) events.record(object, { type: 'Warning', reason: 'ClusterIdForbidden', action: ACTION, note });
}

function measureAges({ members, metrics, clock }: ClusterHealthOptions): void {
  const age = metrics.gauge(
    'isthmus_dns_cluster_age_seconds',
    'Time since the last watch event of each cluster; a healthy one sends a bookmark every few minutes.',
  );
  const reachable = metrics.gauge(
    'isthmus_dns_cluster_reachable',
    '1 for each cluster that is being watched.',
  );
  const reported = new Set<string>();
  metrics.beforeReport(() => {
    for (const cluster of [...reported].filter((name) => !members.has(name))) {
      age.drop({ cluster });
      reachable.drop({ cluster });
      reported.delete(cluster);
    }
    for (const [cluster, member] of members) {
      reported.add(cluster);
      const lastEventAt = member.lastEventAt();
      if (lastEventAt !== undefined) age.of({ cluster }).value = (clock.now() - lastEventAt) / 1000;
      reachable.of({ cluster }).value = Number(member.isSettled && member.problem() === undefined);
    }
  });
}
