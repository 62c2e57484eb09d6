/** Says how old the data of each cluster are, and when one stops to answer: its last known names go on being served. */
import type { Clock } from '../../../kube/clock.ts';
import type { EventRecorder } from '../../../kube/write/events.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Log } from '../../../ops/log.ts';
import type { Metrics } from '../../../ops/metrics.ts';
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
const ACTION = 'FollowCluster';

/** Watches over the members until the signal is aborted. */
export async function watchReach(options: ReachOptions, signal: AbortSignal): Promise<void> {
  const { members, clock } = options;
  reportAges(options);
  const looks = [
    changesOf(
      members,
      (member) => member.problem(),
      (name, problem) => tellReach(options, name, problem),
    ),
    changesOf(
      members,
      (member) => member.idProblem(),
      (name, problem) => tellId(options, name, problem),
    ),
  ];
  while (!signal.aborted) {
    for (const look of looks) look();
    await clock.wait(LOOK_MS, signal);
  }
}

/** Tells of each member when it gets a problem of one sort, and when it has it no more. */
function changesOf(
  members: ReachOptions['members'],
  problemOf: (member: Member) => string | undefined,
  tell: (name: string, problem: string | undefined) => void,
): () => void {
  const troubled = new Set<string>();
  return () => {
    for (const name of troubled) if (!members.has(name)) troubled.delete(name);
    for (const [name, member] of members) {
      const problem = problemOf(member);
      if ((problem !== undefined) === troubled.has(name)) continue;
      if (problem === undefined) troubled.delete(name);
      else troubled.add(name);
      tell(name, problem);
    }
  };
}

function tellReach(
  { objectOf, events, log }: ReachOptions,
  cluster: string,
  problem: string | undefined,
): void {
  const object = objectOf(cluster);
  const action = ACTION;
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

function tellId(
  { members, objectOf, events, log }: ReachOptions,
  cluster: string,
  problem: string | undefined,
): void {
  const id = members.get(cluster)?.id;
  if (problem === undefined)
    return log.info({ cluster, id }, 'what the cluster calls itself may be read now');
  log.warn({ cluster, id, problem }, 'what the cluster calls itself may not be read');
  const object = objectOf(cluster);
  const note = `what cluster ${cluster} calls itself may not be read, so that it is called ${id}: ${problem}`;
  if (object) events.record(object, { type: 'Warning', reason: 'ClusterIdForbidden', action: ACTION, note });
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
