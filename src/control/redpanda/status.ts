/** What is said about a Redpanda cluster. Pure. */
import type { AnyObject } from '../../kube/object.ts';
import { redpandaCluster } from '../../resources/redpanda/cluster.ts';
import type { PlannedStatus } from '../kernel/plan.ts';
import type { Learned } from '../kernel/reconcile.ts';
import { brokerHost } from './config.ts';
import { externalNodes } from './expose.ts';
import { conditionsOf } from './faults.ts';
import type { Fault } from './faults.ts';
import { idsOf } from './model.ts';
import type { RedpandaModel } from './model.ts';
import { REVISION_ANNOTATION, podName } from './names.ts';
import type { Observed } from './observe.ts';
import { brokerFacts } from './roll.ts';

/** A cluster that is as its owner wants it, or becomes so. */
export interface Served {
  model: RedpandaModel;
  revision: string;
  clusterDomain: string;
  learned: Learned<never>;
}

export function statusOf(
  observed: Observed,
  served: Served | undefined,
  faults: readonly Fault[],
): PlannedStatus {
  const { namespace, name, generation } = observed;
  const all = [...faults, ...(served ? servedFaults(observed, served) : [])];
  return {
    kind: redpandaCluster.kind,
    namespace,
    name,
    status: {
      ...(served && clusterStatus(observed, served)),
      ...(generation !== undefined && { observedGeneration: generation }),
      conditions: conditionsOf(all),
    },
    keepsRest: true,
  };
}

function clusterStatus(observed: Observed, { model, revision, clusterDomain }: Served): object {
  const { pods, acted } = observed;
  const { replicas, kafka, version } = model;
  const isOld = (pod: AnyObject) => pod.metadata.annotations?.[REVISION_ANNOTATION] !== revision;
  return {
    replicas: pods.length,
    readyReplicas: pods.filter((pod) => brokerFacts(pod).ready).length,
    currentReplicas: replicas,
    restarting: pods.some(isOld) || acted?.decision.inFlight !== undefined,
    version,
    nodes: {
      internal: idsOf(model).map((id) => `${brokerHost(model, id, clusterDomain)}:${kafka[0]!.port}`),
      ...externalNodes(observed, model),
    },
  };
}

function servedFaults(observed: Observed, { model, learned }: Served): Fault[] {
  const denied = [...learned.denied].map(([object, why]): Fault => ({
    reason: 'Denied',
    path: [],
    message: `${object}: ${why}`,
  }));
  return [...denied, ...podFaults(observed, model), ...rollFaults(observed)];
}

function podFaults({ pods }: Observed, model: RedpandaModel): Fault[] {
  const live = new Map(pods.map((pod) => [pod.metadata.name, brokerFacts(pod)]));
  return idsOf(model).flatMap((id): Fault[] => {
    const name = podName(model.name, id);
    const pod = live.get(name);
    if (pod?.ready) return [];
    const said = pod?.lastExit?.message || unscheduledWhy(pods, name);
    const why = !pod ? 'has no pod' : (pod.stuck ?? 'is not ready');
    return [
      { reason: 'PodsNotReady', path: [], message: `${name} ${why}${said === '' ? '' : ` (${said})`}` },
    ];
  });
}

/** What the scheduler says of a pod that it finds no node for: more brokers than nodes, as a rule. */
function unscheduledWhy(pods: Observed['pods'], name: string): string {
  type Condition = { type: string; status: string; message?: string };
  const status = pods.find(({ metadata }) => metadata.name === name)?.['status'];
  const { conditions = [] } = (status ?? {}) as { conditions?: Condition[] };
  return conditions.find((one) => one.type === 'PodScheduled' && one.status === 'False')?.message ?? '';
}

function rollFaults({ acted }: Observed): Fault[] {
  const { decision, problem } = acted ?? {};
  const told = (why: string) => (problem === undefined ? why : `${why} (Redpanda: ${problem})`);
  if (decision?.do === 'blocked') return [{ reason: 'RollBlocked', path: [], message: told(decision.why) }];
  if (decision?.do === 'wait') return [{ reason: 'Rolling', path: [], message: told(decision.why) }];
  if (decision?.do === 'restart')
    return [
      { reason: 'Rolling', path: [], message: `broker ${decision.node} is restarted: ${decision.why}` },
    ];
  return [];
}
