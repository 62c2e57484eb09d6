/**
 * Carries out in each other Kubernetes cluster what the central one wants there. Every Kafka has a key, and so its own place in the
 * queue, for each of its clusters: one that does not answer holds up nothing but itself.
 */
import { ApiError, hasStatus } from '../../../kube/http/errors.ts';
import { isSameJson } from '../../../kube/json.ts';
import { isBeingDeleted, nameOfKey, typeOf } from '../../../kube/object.ts';
import type { Client } from '../../../kube/http/client.ts';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import { IsthmusError } from '../../../ops/errors.ts';
import { FIELD_MANAGER } from '../../kernel/field-manager.ts';
import { reconcileBy } from '../../kernel/reconcile.ts';
import type { ReconcileContext } from '../../kernel/reconcile.ts';
import type { RoadController } from '../../kernel/road.ts';
import type { Remotes } from '../../kernel/remotes.ts';
import type { Fault } from '../faults.ts';
import { STRETCH_FINALIZER } from './anchor.ts';
import { planTarget } from './plan-target.ts';
import type { ReleaseAction, TargetWish } from './plan-target.ts';
import { sightsOf } from './sight.ts';
import type { TargetViews } from './watches.ts';

/** What the central cluster wants, and what became of it, by Kafka and cluster. */
export interface Handover {
  /** Replaces what was wanted of a Kafka; clusters that are not named stay as they are. */
  want(kafka: string, wishes: ReadonlyMap<string, TargetWish>): void;
  /** By cluster: what stands in the way there. */
  faultsOf(kafka: string): ReadonlyMap<string, readonly Fault[]>;
  forget(kafka: string): void;
}

export interface TargetController extends Handover {
  controller: RoadController['reconcile'];
}

const MAX_KEYS = 50_000;

const keyIn = (cluster: string, kafka: string) => `${cluster} ${kafka}`;

function partsOf(key: string): { cluster: string; kafka: string } {
  const at = key.indexOf(' ');
  return { cluster: key.slice(0, at), kafka: key.slice(at + 1) };
}

export function targetController(
  remotes: Remotes<TargetViews> | undefined,
  context: ReconcileContext,
  /** Have somebody look at a Kafka, or at what it has in a cluster. */
  wake: { kafka: (key: string) => void; target: (key: string) => void },
): TargetController {
  const wishes = new BoundedMap<string, TargetWish>(MAX_KEYS);
  const faults = new BoundedMap<string, Map<string, readonly Fault[]>>(MAX_KEYS);

  /** The Kafka says it: it is looked at again when something else is to be said. */
  function report(key: string, found: readonly Fault[]): void {
    const { cluster, kafka } = partsOf(key);
    const all = faults.get(kafka) ?? new Map<string, readonly Fault[]>();
    if (isSameJson(all.get(cluster) ?? [], found)) return;
    all.set(cluster, found);
    faults.set(kafka, all);
    wake.kafka(kafka);
  }

  const reconcile = reconcileBy(
    {
      observe(key: string) {
        const { cluster, kafka } = partsOf(key);
        const { namespace = '', name } = nameOfKey(kafka);
        return {
          key,
          cluster,
          wish: wishes.get(key),
          seen: sightsOf(remotes, { namespace, name })?.get(cluster),
        };
      },
      plan({ key, cluster, wish, seen }, learned) {
        const plan = planTarget(cluster, wish, seen, learned);
        report(key, plan.faults);
        return plan;
      },
      avoidsTaken: true,
      async act({ key, plan: { actions } }, signal) {
        const { cluster } = partsOf(key);
        const client = remotes?.get(cluster)?.cluster.client;
        for (const action of actions) if (client) await release(action, client, signal);
        return { acted: undefined };
      },
    },
    context,
  );

  return {
    want(kafka, wanted) {
      for (const [cluster, wish] of wanted) {
        wishes.set(keyIn(cluster, kafka), wish);
        wake.target(keyIn(cluster, kafka));
      }
    },
    faultsOf: (kafka) => faults.get(kafka) ?? new Map(),
    forget(kafka) {
      for (const cluster of remotes?.names() ?? []) wishes.delete(keyIn(cluster, kafka));
      faults.delete(kafka);
    },
    async controller(key, signal) {
      try {
        return await reconcile(key, signal);
      } catch (error) {
        const { cluster } = partsOf(key);
        // It has left meanwhile.
        if (error instanceof IsthmusError && error.code === 'CLUSTER_UNKNOWN') return { outcome: 'success' };
        if (error instanceof ApiError && error.status >= 400 && error.status < 500)
          report(key, [{ reason: 'Denied', path: [], message: `cluster "${cluster}": ${error.message}` }]);
        throw error;
      }
    },
  };
}

/** First deleted, so that nothing is lost that was not asked for, and then let go of. */
async function release({ anchor }: ReleaseAction, client: Client, signal: AbortSignal): Promise<void> {
  const { metadata } = anchor;
  const type = typeOf(anchor);
  try {
    if (!isBeingDeleted(anchor)) await client.delete(type, metadata, { uid: metadata.uid, signal });
    const live = await client.get(type, metadata, { signal });
    if (!live || live.metadata.uid !== metadata.uid) return;
    const others = (live.metadata.finalizers ?? []).filter((one) => one !== STRETCH_FINALIZER);
    const kept = { ...live, metadata: { ...live.metadata, finalizers: others } };
    await client.update(kept, { fieldManager: FIELD_MANAGER, signal });
  } catch (error) {
    // Gone, or another one by then.
    if (!hasStatus(error, 404) && !hasStatus(error, 409)) throw error;
  }
}
