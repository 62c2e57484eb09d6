/** What to say about an ingress: whether it is as it should be, and whether anybody gets in by it. */
import type { EvaluatedCluster } from './evaluate/cluster.ts';
import type { Evaluation } from './evaluate/evaluate.ts';
import type { EvaluatedIngress } from './evaluate/platform.ts';
import { conditionsOf } from './faults.ts';
import type { Fault } from './faults.ts';
import type { LivePod } from './observed.ts';
import type { PlannedStatus } from '../kernel/plan.ts';

export const NO_READY_POD: Fault = {
  reason: 'PodsNotReady',
  path: [],
  message: 'no pod of the proxy is ready',
};

/** The ingresses, each with all that keeps traffic from getting in by it. */
export function ingressesWithFaults(
  { proxy, ingresses, clusters }: Evaluation,
  pods: readonly LivePod[],
): EvaluatedIngress[] {
  const isServed = pods.some(({ ready }) => ready);
  return ingresses.map((one) => ({
    ...one,
    faults: [
      ...one.faults,
      ...routeFaults(one, clusters),
      // Without a proxy there is more to say than that it has no pods.
      ...(proxy && !isServed ? [NO_READY_POD] : []),
    ],
  }));
}

/**
 * Why nobody gets in, although the router or Gateway is there: it takes none of the routes. One that it does take shows that the
 * ingress works, and that something is the matter with the others.
 */
function routeFaults({ ingress, model }: EvaluatedIngress, clusters: readonly EvaluatedCluster[]): Fault[] {
  if (model?.by !== 'route' && model?.by !== 'gateway') return [];
  const { name } = ingress.metadata;
  const entries = clusters.flatMap(({ ingresses }) => ingresses.filter((one) => one.name === name));
  // Where there is no address, that is a fault of the Gateway; routers give one to each Route.
  const reasons = model.by === 'route' ? ['RouteNotAccepted', 'AddressPending'] : ['RouteNotAccepted'];
  const refusals = entries.flatMap(
    ({ faults }) => faults.find(({ reason }) => reasons.includes(reason)) ?? [],
  );
  const [first] = refusals;
  if (!first || refusals.length < entries.length) return [];
  const whose = entries.length > 1 ? `none of ${entries.length} virtual clusters gets in: ` : '';
  return [{ reason: first.reason, path: ['spec'], message: `${whose}${first.message}` }];
}

export function ingressStatus({ ingress, faults }: EvaluatedIngress): PlannedStatus {
  const { name, namespace, generation } = ingress.metadata;
  return {
    kind: 'KafkaProxyIngress',
    namespace,
    name,
    status: {
      ...(generation !== undefined && { observedGeneration: generation }),
      conditions: ingressConditions(faults, generation),
    },
  };
}

export const ingressConditions = (faults: readonly Fault[], generation: number | undefined) =>
  conditionsOf(faults, ['Accepted', 'ResolvedRefs', 'Ready'], generation);
