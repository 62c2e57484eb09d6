/** Decides all that has to exist for one Redpanda cluster, and what to say about it. Pure: no clock, no network, no cluster. */
import type { AnyObject } from '../../kube/object.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { Plan } from '../kernel/plan.ts';
import type { OperatorPods } from '../brokers/objects/services.ts';
import type { NameGrant } from '../brokers/model/charter.ts';
import type { Learned } from '../kernel/reconcile.ts';
import type { ToldListener } from '../brokers/expose/told.ts';
import type { Action } from './act.ts';
import { anchorDocuments } from './anchor.ts';
import { reachFaults } from './faults.ts';
import type { Fault } from './faults.ts';
import { exposed } from './expose.ts';
import type { Exposed } from './expose.ts';
import { formerNodes } from './former-nodes.ts';
import { fromCluster } from './front/cluster.ts';
import { nodePortIn } from './host-port.ts';
import type { RedpandaModel } from './model.ts';
import { BOOTSTRAP_ANNOTATION, objectLabels } from './names.ts';
import { objectsOf } from './objects.ts';
import type { Observed } from './observe.ts';
import { memoryOf } from './roll.ts';
import type { RollMemory } from './roll.ts';
import { bootstrapHash, revisionOf, runningOf, statefulSet } from './stateful-set.ts';
import { statusOf } from './status.ts';
import { toldOutside } from './told.ts';

export interface RedpandaSettings {
  /** The domain of the cluster's Services. */
  clusterDomain: string;
  /** Undefined where the operator runs outside of Kubernetes. */
  operator?: OperatorPods | undefined;
}

export interface RedpandaPlan extends Plan<Action> {
  /** What clients outside are told; undefined where that stays as it was. */
  told: readonly ToldListener[] | undefined;
  /** The names that are to be written down; undefined where nothing is. */
  names: readonly NameGrant[] | undefined;
}

const NOTHING: RedpandaPlan = {
  persist: [],
  targets: [],
  actions: [],
  statuses: [],
  lookAgainInMs: undefined,
  told: undefined,
  names: undefined,
};
/** While something is under way that no watch tells of, and when all is well. */
const SOON_MS = 2000;
const IDLE_MS = 60_000;

export function planRedpanda(
  observed: Observed,
  settings: RedpandaSettings,
  learned: Learned<never>,
): RedpandaPlan {
  const { cluster, problem, statefulSet: live } = observed;
  if (problem !== undefined)
    return refusedPlan(observed, [{ reason: 'Invalid', path: [], message: problem }]);
  if (!cluster) return NOTHING;
  if (learned.taken.size > 0) return refusedPlan(observed, [takenFault(learned)]);
  const memory: RollMemory = live ? memoryOf(live) : { hasRun: false, inFlight: undefined };
  const { model, external, faults } = fromCluster(cluster, live && runningOf(live, memory.hasRun));
  if (!model) return refusedPlan(observed, faults);
  const outside = exposed(observed, model, external);
  return clusterPlan(observed, outside, faults, { settings, learned, memory });
}

/** What runs goes on as it is. */
const refusedPlan = (observed: Observed, faults: readonly Fault[]): RedpandaPlan => ({
  ...NOTHING,
  statuses: [statusOf(observed, undefined, faults)],
});

function takenFault({ taken }: Learned<never>): Fault {
  const message = `somebody else has made ${[...taken].join(', ')}; remove them, or choose another name. If Redpanda's own operator runs this cluster, let it go on`;
  return { reason: 'NameTaken', path: ['metadata', 'name'], message };
}

interface Given {
  settings: RedpandaSettings;
  learned: Learned<never>;
  memory: RollMemory;
}

function clusterPlan(
  observed: Observed,
  outside: Exposed,
  faults: readonly Fault[],
  { settings: { clusterDomain, operator }, learned, memory }: Given,
): RedpandaPlan {
  const { cluster, statefulSet: live, pods, acted, anchor, hasAnchors } = observed;
  const { model, ports, grant, objects, faults: externalFaults } = outside;
  const revision = revisionOf(model, clusterDomain);
  const founded = foundedWith(model, memory, live);
  const ignored = founded === bootstrapHash(model) ? [] : [bootstrapFault()];
  // Brokers that run go on without the listener; new ones would be restarted as soon as it has a port.
  const isEarly = !live && externalFaults.some(({ reason }) => reason === 'HostPortPending');
  const kept = {
    founded,
    hostPort: nodePortIn(ports),
    grant: model.external && grant,
    formerNodes: formerNodes(model, pods, live),
  };
  const planned = statefulSet(model, clusterDomain, kept);
  const isSettled = acted?.decision.do === 'done' && pods.length === model.replicas;
  return {
    ...NOTHING,
    documents: hasAnchors ? anchorDocuments(model, { ports, grant }, anchor) : [],
    names: grant ? [grant] : [],
    told: toldOutside(observed, outside),
    targets: [
      {
        cluster: LOCAL,
        labels: objectLabels(model.name),
        namespaces: [model.namespace],
        objects: [
          ...objectsOf(model, { clusterDomain, operator }),
          ...objects,
          ...(isEarly ? [] : [planned]),
        ],
        prune: true,
      },
    ],
    actions:
      live && pods.length > 0
        ? [
            {
              do: 'look',
              cluster: cluster as AnyObject,
              statefulSet: live,
              planned,
              wanted: { model, revision, memory },
            },
          ]
        : [],
    statuses: [
      statusOf(observed, { model, revision, clusterDomain, learned }, [
        ...faults,
        ...ignored,
        ...externalFaults,
        ...(model.external ? reachFaults(anchor) : []),
      ]),
    ],
    lookAgainInMs: isSettled ? IDLE_MS : SOON_MS,
  };
}

/** The settings of the cluster that count: Redpanda reads them once, and keeps them itself from then on. */
function foundedWith(model: RedpandaModel, { hasRun }: RollMemory, live: AnyObject | undefined): string {
  const before = live?.metadata.annotations?.[BOOTSTRAP_ANNOTATION];
  return hasRun && before !== undefined ? before : bootstrapHash(model);
}

const bootstrapFault = (): Fault => ({
  reason: 'FieldIgnored',
  path: ['spec', 'additionalConfiguration'],
  message:
    'settings of the whole cluster (additionalConfiguration redpanda.*, autoCreateTopics, groupTopicPartitions, enableSasl, superUsers) are read when it is founded only; change them with `rpk cluster config set` as well',
});
