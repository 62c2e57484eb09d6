/** Says how old the data of each cluster are, and when one stops to answer: its last known names go on being served. */
import type { Clock } from '../../kube/clock.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Member } from './member.ts';

export interface ReachOptions {
  members: ReadonlyMap<string, Member>;
  /** The object that stands for a joined cluster here. */
  objectOf: (cluster: string) => KubeObject | undefined;
  events: EventRecorder;
  log: Log;
  metrics: Metrics;
  clock: Clock;
}

const LOOK_MS = 1000;

/** Watches over the members until the signal is aborted. */
export async function watchReach(options: ReachOptions, signal: AbortSignal): Promise<void> {
  const { members, clock } = options;
  reportAges(options);
  const lost = new Set<string>();
  while (!signal.aborted) {
    for (const name of lost) if (!members.has(name)) lost.delete(name);
    for (const [name, member] of members) {
      const problem = member.problem();
      if ((problem !== undefined) === lost.has(name)) continue;
      if (problem === undefined) lost.delete(name);
      else lost.add(name);
      tell(options, name, problem);
    }
    await clock.wait(LOOK_MS, signal);
  }
}

function tell({ objectOf, events, log }: ReachOptions, cluster: string, problem: string | undefined): void {
  const object = objectOf(cluster);
  const action = 'FollowCluster';
  if (problem === undefined) {
    log.info({ cluster }, 'cluster is followed again');
    const note = `cluster ${cluster} answers again`;
    if (object) events.record(object, { type: 'Normal', reason: 'ClusterReachable', action, note });
    return;
  }
  log.warn({ cluster, problem }, 'cluster cannot be followed; its last known names stay');
  const note = `cluster ${cluster} cannot be followed, its last known names stay: ${problem}`;
  if (object) events.record(object, { type: 'Warning', reason: 'ClusterUnreachable', action, note });
}

function reportAges({ members, metrics, clock }: ReachOptions): void {
  const age = metrics.gauge(
    'isthmus_dns_cluster_age_seconds',
    'Time since each cluster was last heard of; a healthy one speaks at least once in a few minutes.',
  );
  const reachable = metrics.gauge(
    'isthmus_dns_cluster_reachable',
    '1 for each cluster that is being followed.',
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
      const heardAt = member.lastHeardAt();
      if (heardAt !== undefined) age.of({ cluster }).value = (clock.now() - heardAt) / 1000;
      reachable.of({ cluster }).value = Number(member.isSettled && member.problem() === undefined);
    }
  });
}
