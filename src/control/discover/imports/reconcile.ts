/** Reconciles exported services in the local cluster. Runs in the leader. */
import type { Clock } from '../../../kube/clock.ts';
import type { Cluster } from '../../../kube/cluster.ts';
import type { Outcome } from '../../../kube/controller/controller.ts';
import { hasStatus } from '../../../kube/http/errors.ts';
import { keyOf, nameOfKey } from '../../../kube/object.ts';
import type { AnyObject } from '../../../kube/object.ts';
import type { EventRecorder } from '../../../kube/write/events.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import { createRoadMetrics } from '../../kernel/metrics.ts';
import type { Plan, StatusName } from '../../kernel/plan.ts';
import { reconcileBy } from '../../kernel/reconcile.ts';
import type { Reconciler } from '../../kernel/reconcile.ts';
import { createStatusWriter } from '../../kernel/status.ts';
import { createTargets } from '../../kernel/targets.ts';
import type { TargetError } from '../../kernel/targets.ts';
import type { ClusterSet } from '../members/cluster-set.ts';
import type { ReachMode } from '../members/nodes.ts';
import { derivedName } from '../names.ts';
import { observeService } from '../observe.ts';
import { placeOf } from '../placement.ts';
import { planService, sourcesOf } from './plan.ts';
import type { ObservedImport } from './plan.ts';
import { IMPORT_EVENTS } from './status.ts';

export interface ImportOptions {
  local: Cluster;
  set: ClusterSet;
  /** The namespace of this installation. */
  installation: string | undefined;
  /** How the other clusters reach this one. */
  reach: ReachMode;
  preferLocal: boolean;
  events: EventRecorder;
  metrics: Metrics;
  clock: Clock;
}

/** An import whose namespace has gone since it was looked for is tried again after this time. */
const NAMESPACE_RETRY_MS = 15_000;

/** What a controller does with the key of an exported service. */
export function reconcileImports(options: ImportOptions) {
  const { local, set, events, clock } = options;
  const client = () => local.client;
  const metrics = createRoadMetrics(options.metrics, 'discover');
  // The caches of Services and EndpointSlices are trimmed too hard for the writer, which reads from the API server instead.
  const target = { client, cacheOf: () => undefined, isComplete: () => false, ownedTypes: () => [] };
  const find = ({ kind, ...name }: StatusName) =>
    (kind === 'ServiceImport' ? set.importAt(keyOf(name)) : set.local.exports?.get(keyOf(name))) as
      | AnyObject
      | undefined;
  const statuses = createStatusWriter({ client, find, events, rules: IMPORT_EVENTS, metrics });
  const targets = createTargets(() => target, metrics);
  return reconcileBy(importReconciler(options), { targets, statuses, clock });
}

function importReconciler({
  set,
  reach,
  installation,
  preferLocal,
}: Pick<ImportOptions, 'set' | 'reach' | 'installation' | 'preferLocal'>): Reconciler<ObservedImport, Plan> {
  return {
    observe(key) {
      const { namespace = '', name } = nameOfKey(key);
      const service = { namespace, name };
      const observed = observeService(set, key);
      const place = placeOf(service, set.importNamespace);
      return {
        service,
        observed,
        derived: set.local.services.get(`${place.namespace}/${derivedName(service)}`),
        hasNodePortService: set.local.nodePortServicesOf(key).length > 0,
        importVersion: set.importVersion(),
        localId: set.localId,
        installation,
        preferLocal,
        importNamespace: set.importNamespace,
        hasNamespace: set.hasNamespace(place.namespace),
        lackNamespace: set.lackNamespace(namespace),
        reach,
        isComplete: set.isComplete,
        hasUnknownSource: set.unknown(sourcesOf(observed)).length > 0,
      };
    },
    plan: (seen, { denied }) => planService(seen, denied),
    outcomeOf,
  };
}

function outcomeOf(errors: readonly TargetError[]): Outcome | undefined {
  const [first] = errors;
  if (errors.every(({ error }) => hasStatus(error, 404)))
    return { outcome: 'lookAgain', afterMs: NAMESPACE_RETRY_MS };
  return first && hasStatus(first.error, 422) ? { outcome: 'terminal', error: first.error } : undefined;
}
