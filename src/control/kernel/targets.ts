/** The clusters that plans are carried out in: one writer each, and what is known of names that others have there. */
import type { Client } from '../../kube/http/client.ts';
import { ApiError, hasStatus } from '../../kube/http/errors.ts';
import { keyOf, typeOf } from '../../kube/object.ts';
import type { AnyObject, KubeObject, ResourceType } from '../../kube/object.ts';
import { createWriter } from '../../kube/write/apply.ts';
import type { Writer } from '../../kube/write/apply.ts';
import { isOurs, referenceOf } from '../../kube/write/apply-decision.ts';
import { FIELD_MANAGER, SIGNATURE } from './field-manager.ts';
import type { RoadMetrics } from './metrics.ts';
import type { Document, LabelSet, Target } from './plan.ts';
import { Stale } from './status.ts';
import type { Watched } from './watches.ts';

/** One cluster that objects are made in. */
export interface TargetCluster extends Pick<Watched<object>, 'cacheOf' | 'isComplete' | 'ownedTypes'> {
  client: () => Client;
  /** See `Watched`. */
  wrote?: Watched<object>['wrote'] | undefined;
}

/** An object that could not be applied; `object` is its reference. */
export interface TargetError {
  cluster: string;
  object: string;
  error: unknown;
}

export interface Targets {
  /** Writes documents down. Throws `Stale` if one is no longer what the plan was made from. */
  persist(documents: readonly Document[], signal: AbortSignal): Promise<void>;
  /** Carries out all targets: those of one cluster in turn, different clusters side by side, so that none waits for another. */
  apply(key: string, targets: readonly Target[], signal: AbortSignal): Promise<TargetError[]>;
  /** Those objects of targets, by reference, that exist and were made by someone else. */
  findTaken(targets: readonly Target[], signal: AbortSignal): Promise<string[]>;
  /** Remembers which names a key waits for; with none it waits for nothing. */
  waitFor(key: string, taken: ReadonlySet<string>): void;
  /** The key that waits for an object of this name to go. */
  waiterFor(object: KubeObject): string | undefined;
}

/** `clusterOf` finds a target by its name. One that is not known is an error: there is no default. */
export function createTargets(clusterOf: (name: string) => TargetCluster, metrics: RoadMetrics): Targets {
  const writers = new Map<string, Writer>();
  /** References of names that others have, and who waits for each. */
  const waiting = new Map<string, string>();

  function writerOf(name: string): Writer {
    const known = writers.get(name);
    if (known) return known;
    clusterOf(name);
    const writer = createWriter(() => {
      const { client, cacheOf, wrote } = clusterOf(name);
      return { client: client(), cacheOf, wrote: (object, before) => wrote?.(object as AnyObject, before) };
    }, SIGNATURE);
    writers.set(name, writer);
    return writer;
  }

  async function isTaken(object: AnyObject, target: Target, signal: AbortSignal): Promise<boolean> {
    const { client, cacheOf, isComplete } = clusterOf(target.cluster);
    const type = typeOf(object);
    const cached = cacheOf(type)?.get(keyOf(object.metadata));
    if (!cached && isComplete(type)) return false;
    const live = cached ?? (await client().get(type, object.metadata, { signal }));
    return live !== undefined && !isOurs(live, { labels: target.labels, kinds: [] }, SIGNATURE);
  }

  async function applyOne(target: Target, signal: AbortSignal): Promise<TargetError[]> {
    const { cluster, labels, namespaces, objects, prune, keeps = [] } = target;
    const kinds: readonly ResourceType[] = prune ? (target.kinds ?? clusterOf(cluster).ownedTypes()) : [];
    const owner = { labels, kinds, namespaces };
    const { created, updated, deleted, errors } = await writerOf(cluster).apply({
      owner,
      objects,
      keeps: (object) => keeps.some((set) => hasLabelSet(object, set)),
      signal,
    });
    metrics.wrote('created', created.length);
    metrics.wrote('updated', updated.length);
    metrics.wrote('deleted', deleted.length);
    metrics.wrote('failed', errors.length);
    return errors.map((error) => ({ cluster, ...error }));
  }

  async function write({ cluster, object }: Document, signal: AbortSignal): Promise<void> {
    const client = clusterOf(cluster).client();
    const options = { fieldManager: FIELD_MANAGER, signal };
    const isNew = object.metadata.resourceVersion === undefined;
    try {
      await (isNew ? client.create(object, options) : client.update(object, options));
    } catch (error) {
      if (hasStatus(error, 409)) throw new Stale(`${referenceOf(object)} has changed meanwhile`);
      throw error;
    }
    metrics.wrote(isNew ? 'created' : 'updated', 1);
  }

  return {
    async persist(documents, signal) {
      for (const document of documents) await write(document, signal);
    },
    async apply(key, targets, signal) {
      if (targets.length === 0) return [];
      metrics.planned(key, sum(targets.map(({ objects }) => objects.length)));
      const byCluster = Map.groupBy(targets, ({ cluster }) => cluster);
      const errors = [...byCluster.values()].map(async (inTurn) => {
        const found: TargetError[] = [];
        for (const target of inTurn) found.push(...(await applyOne(target, signal)));
        return found;
      });
      return (await Promise.all(errors)).flat();
    },
    async findTaken(targets, signal) {
      const taken: string[] = [];
      for (const target of targets)
        for (const object of target.objects)
          if (await isTaken(object, target, signal)) taken.push(referenceOf(object));
      return taken;
    },
    waitFor(key, taken) {
      for (const [reference, waiter] of waiting)
        if (waiter === key && !taken.has(reference)) waiting.delete(reference);
      for (const reference of taken) waiting.set(reference, key);
    },
    waiterFor: (object) => waiting.get(referenceOf(object)),
  };
}

/** Whether an object has just these values of labels, and those that are undefined not at all. */
export function hasLabelSet({ metadata }: KubeObject, set: LabelSet): boolean {
  return Object.entries(set).every(([label, value]) => metadata.labels?.[label] === value);
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

/** Errors that stay until somebody does something about them; others will have gone by the next try. */
export function denialsIn(errors: readonly TargetError[]): Map<string, string> {
  return new Map(
    errors.flatMap(({ object, error }) => {
      const isFinal = error instanceof ApiError && FINAL.has(error.status);
      return isFinal ? [[object, error.message] as const] : [];
    }),
  );
}

const FINAL = new Set([400, 403, 413, 422]);
