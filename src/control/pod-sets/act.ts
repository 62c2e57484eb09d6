/** Carries out what was decided about the pods of a set. Each write names the uid it is about, so none meets another pod by that name. */
import type { Client } from '../../kube/http/client.ts';
import { ApiError, hasStatus, isUnanswered } from '../../kube/http/errors.ts';
import { hasLabels } from '../../kube/object.ts';
import type { AnyObject, KubeObject } from '../../kube/object.ts';
import type { EventRecorder } from '../../kube/write/events.ts';
import { forEachLimit } from '../../ops/for-each-limit.ts';
import type { RoadMetrics } from '../kernel/metrics.ts';
import type { ActResult } from '../kernel/reconcile.ts';
import { taken } from './decide.ts';
import type { Fault } from './faults.ts';
import { POD_FIELD_MANAGER, podLabels } from './names.ts';
import type { Refusals } from './observe.ts';
import type { PodAction } from './plan.ts';
import { controllerOf } from './pod.ts';

export interface ActorOptions {
  client: () => Client;
  events: EventRecorder;
  metrics: RoadMetrics;
}

/** Does all of it, some at a time; what could not be done is said, and why. */
export type Act = (
  set: KubeObject,
  actions: readonly PodAction[],
  signal: AbortSignal,
) => Promise<ActResult<Refusals>>;

const POD = { group: '', version: 'v1', kind: 'Pod' };
const AT_ONCE = 8;
/** Stays until somebody does something about it: a quota, a policy, a mistake in the pod. */
const DENIED = new Set([400, 403, 413, 422]);

export function createActor({ client, events, metrics }: ActorOptions): Act {
  const tell = (set: KubeObject, reason: string, note: string) =>
    events.record(set, { type: 'Normal', reason, action: 'Reconcile', note });

  /** What is wrong with a pod that is there already; nothing if it is the one that was to be made. */
  function inTheWay(set: KubeObject, found: AnyObject): Fault | undefined {
    const { name } = found.metadata;
    if (controllerOf(found)?.uid !== set.metadata.uid) return taken(name);
    if (hasLabels(found, podLabels(set.metadata.name))) return undefined; // the cache is behind
    const missing = Object.entries(podLabels(set.metadata.name)).map(([label, value]) => `${label}=${value}`);
    const message = `pod "${name}" has lost labels, without which it is not looked after: put back ${missing.join(', ')}`;
    return { reason: 'NameTaken', path: [], message };
  }

  async function create(set: KubeObject, pod: AnyObject, signal: AbortSignal): Promise<Fault | undefined> {
    const { name } = pod.metadata;
    try {
      await client().create(pod, { fieldManager: POD_FIELD_MANAGER, signal });
    } catch (error) {
      if (!hasStatus(error, 409)) throw error;
      const found = await client().get(POD, pod.metadata, { signal });
      if (!found) throw error;
      return inTheWay(set, found);
    }
    metrics.wrote('created', 1);
    tell(set, 'PodCreated', `created pod "${name}"`);
    return undefined;
  }

  async function remove(
    set: KubeObject,
    { name, uid, why }: { name: string; uid: string; why: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace } = set.metadata;
    try {
      if (!(await client().delete(POD, { namespace, name }, { uid, signal }))) return;
    } catch (error) {
      if (hasStatus(error, 409)) return; // another one by now
      throw error;
    }
    metrics.wrote('deleted', 1);
    tell(set, 'PodDeleted', `deleted pod "${name}", ${why}`);
  }

  /** False if the pod is gone, another one or changed: the cache will say so. */
  async function patch(
    set: KubeObject,
    name: string,
    metadata: object,
    signal: AbortSignal,
  ): Promise<boolean> {
    const options = { fieldManager: POD_FIELD_MANAGER, signal };
    try {
      await client().mergePatch(POD, { namespace: set.metadata.namespace, name }, { metadata }, options);
    } catch (error) {
      if (hasStatus(error, 404) || hasStatus(error, 409)) return false;
      throw error;
    }
    metrics.wrote('updated', 1);
    return true;
  }

  async function perform(
    set: KubeObject,
    action: PodAction,
    signal: AbortSignal,
  ): Promise<Fault | undefined> {
    if (action.do === 'create') return create(set, action.pod, signal);
    if (action.do === 'replace') {
      const { name } = action.pod.metadata;
      await remove(set, { name, uid: action.uid, why: 'which had ended' }, signal);
      return create(set, action.pod, signal);
    }
    const { name, uid } = action;
    if (action.do === 'delete') await remove(set, { name, uid, why: 'which is not listed' }, signal);
    if (action.do === 'annotate') await patch(set, name, { uid, annotations: action.annotations }, signal);
    if (action.do === 'adopt') {
      const { resourceVersion, ownerReferences } = action;
      if (await patch(set, name, { uid, resourceVersion, ownerReferences }, signal))
        tell(set, 'PodAdopted', `adopted pod "${name}"`);
    }
    return undefined;
  }

  return async (set, actions, signal) => {
    const refusals = new Map<string, Fault>();
    const performOne = async (action: PodAction) => {
      const name = 'pod' in action ? action.pod.metadata.name : action.name;
      try {
        const fault = await perform(set, action, signal);
        if (fault) refusals.set(name, fault);
      } catch (error) {
        if (error instanceof ApiError && DENIED.has(error.status))
          refusals.set(name, { reason: 'Denied', path: [], message: `pod "${name}": ${error.message}` });
        throw error;
      }
    };
    try {
      await forEachLimit(actions, AT_ONCE, performOne, isUnanswered);
      return { acted: refusals };
    } catch (failure) {
      metrics.wrote('failed', 1);
      return { acted: refusals, failure };
    }
  };
}
