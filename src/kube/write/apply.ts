import { BoundedMap } from '../../ops/bounded-map.ts';
import { isOurs, leftovers, needsWrite, referenceOf, signed } from './apply-decision.ts';
import type { Owner, Remembered, Signature } from './apply-decision.ts';
import type { Cache } from '../cache/cache.ts';
import type { Client } from '../http/client.ts';
import { ApiError, hasStatus, isUnanswered, localError } from '../http/errors.ts';
import { hasLabels, isBeingDeleted, keyOf, selectorOf, typeOf } from '../object.ts';
import type { KubeObject, ResourceType } from '../object.ts';
import { resetObject } from './reset.ts';

/** What an apply did, each object by its reference. */
export interface Summary {
  created: string[];
  updated: string[];
  unchanged: string[];
  deleted: string[];
  errors: { object: string; error: unknown }[];
}

export interface ApplyRequest {
  owner: Owner;
  /** Everything the owner wants to exist in this cluster. Applied in this order. */
  objects: readonly KubeObject[];
  /** Says of an object that exists and is not the owner's whether it may be taken over. */
  adopt?: (live: KubeObject) => boolean;
  /** Says of an object that the owner wants no more whether it stays all the same. */
  keeps?: (live: KubeObject) => boolean;
  signal?: AbortSignal;
}

/**
 * The one writer. It makes a cluster hold exactly what an owner wants: applies each object with one field manager, taking back
 * fields that others changed and leaving alone those that are theirs, and deletes what the owner had made before and wants no more.
 * Where nothing has to change, nothing is sent.
 */
export interface Writer {
  /**
   * Never throws: a failing object does not stop the others, and is named in the summary. Only where the server does not answer
   * is the rest left for another time: each request more would wait for as long again.
   */
  apply(request: ApplyRequest): Promise<Summary>;
}

/** Where to write. */
export interface Target {
  client: Client;
  /** A cache that holds at least everything with an owner's labels, if there is one for this kind. */
  cacheOf?: (type: ResourceType) => Cache<KubeObject> | undefined;
  /** Told of each object as a write has left it, and of the version that there was before. */
  wrote?: (object: KubeObject, before: string | undefined) => void;
}

const MAX_REMEMBERED = 50_000;
const DELETE_ATTEMPTS = 3;

const isCutShort = ({ errors }: Summary) => errors.some(({ error }) => isUnanswered(error));

export function createWriter(target: () => Target, signature: Signature): Writer {
  const memory = new BoundedMap<string, Remembered>(MAX_REMEMBERED);

  function remember(reference: string, { metadata }: KubeObject): void {
    const { uid, resourceVersion, annotations } = metadata;
    memory.set(reference, { hash: annotations?.[signature.hashAnnotation] ?? '', uid, resourceVersion });
  }

  /** Reads what is there: from the cache; and before something is created, from the server, lest it be somebody else's. */
  async function read(object: KubeObject, signal: AbortSignal | undefined): Promise<KubeObject | undefined> {
    const { client, cacheOf } = target();
    const cache = cacheOf?.(typeOf(object));
    const cached = cache?.isSynced ? cache.get(keyOf(object.metadata)) : undefined;
    return cached ?? client.get<KubeObject>(typeOf(object), object.metadata, { signal });
  }

  /** What is refused as invalid although the plan may be fine: see `reset.ts`. If that does not help either, the plan is not. */
  async function send(
    wanted: KubeObject,
    exists: boolean,
    signal: AbortSignal | undefined,
  ): Promise<{ object: KubeObject; created: boolean }> {
    const { client } = target();
    const options = { fieldManager: signature.fieldManager, force: true, signal };
    try {
      return await client.apply(wanted, options);
    } catch (error) {
      if (!exists || !hasStatus(error, 422)) throw error;
      const isReset = await resetObject(client, wanted, options).catch(() => false);
      if (!isReset) throw error;
      return client.apply(wanted, options);
    }
  }

  async function applyOne(
    object: KubeObject,
    request: ApplyRequest,
  ): Promise<'created' | 'updated' | 'unchanged'> {
    const { owner, adopt = () => false, signal } = request;
    const wanted = signed(object, owner, signature);
    const reference = referenceOf(wanted);
    const live = await read(wanted, signal);
    if (live && !isOurs(live, owner, signature) && !adopt(live))
      throw localError('NotOurs', `${reference} exists and was made by someone else`);
    // It would go all the same, and take with it what is applied now.
    if (live && isBeingDeleted(live))
      throw localError('BeingDeleted', `${reference} is being deleted; it is made anew when it is gone`);
    if (!needsWrite(wanted, live, memory.get(reference), signature)) return 'unchanged';
    const result = await send(wanted, live !== undefined, signal);
    remember(reference, result.object);
    target().wrote?.(result.object, live?.metadata.resourceVersion);
    if (result.created) return 'created';
    return result.object.metadata.resourceVersion === live?.metadata.resourceVersion
      ? 'unchanged'
      : 'updated';
  }

  async function find(type: ResourceType, { labels, namespaces }: Owner): Promise<KubeObject[]> {
    const { client, cacheOf } = target();
    const cache = cacheOf?.(type);
    const [first] = Object.entries(labels);
    // Without a label everything in the cluster would be a leftover.
    if (!first) throw new TypeError('an owner needs a label');
    if (cache?.isSynced) {
      cache.addIndex(`label ${first[0]}`, ({ metadata }) => {
        const value = metadata.labels?.[first[0]];
        return value === undefined ? [] : [value];
      });
      const isInScope = ({ metadata: { namespace } }: KubeObject) =>
        !namespaces || namespace === undefined || namespaces.includes(namespace);
      const found = cache.find(`label ${first[0]}`, first[1]);
      return found.filter((object) => hasLabels(object, labels) && isInScope(object));
    }
    const lists = (namespaces ?? [undefined]).map((namespace) =>
      client.list<KubeObject>(type, { namespace, labelSelector: selectorOf(labels) }),
    );
    return (await Promise.all(lists)).flatMap(({ items }) => items);
  }

  /** Deletes the very object that was looked at, in the version looked at; if it has changed meanwhile, looks again. */
  async function remove(seen: KubeObject, { owner, signal }: ApplyRequest): Promise<boolean> {
    const type = typeOf(seen);
    let current: KubeObject | undefined = seen;
    for (let attempt = 1; current; attempt++) {
      const { uid, resourceVersion } = current.metadata;
      if (uid !== seen.metadata.uid || !hasLabels(current, owner.labels)) return false;
      try {
        return await target().client.delete(type, current.metadata, { uid, resourceVersion, signal });
      } catch (error) {
        if (!hasStatus(error, 409) || attempt === DELETE_ATTEMPTS) throw error;
        current = await target().client.get<KubeObject>(type, seen.metadata, { signal });
      }
    }
    return false;
  }

  async function prune(request: ApplyRequest, wanted: ReadonlySet<string>, summary: Summary): Promise<void> {
    for (const type of request.owner.kinds) {
      try {
        for (const object of leftovers(await find(type, request.owner), wanted)) {
          if (isCutShort(summary)) return;
          if (request.keeps?.(object)) continue;
          const reference = referenceOf(object);
          memory.delete(reference);
          await collect(summary, reference, async () =>
            (await remove(object, request)) ? 'deleted' : undefined,
          );
        }
      } catch (error) {
        // A kind that the cluster does not have cannot have leftovers.
        const absent = error instanceof ApiError && error.reason === 'KindNotServed';
        if (!absent) summary.errors.push({ object: `all ${type.kind}`, error });
        if (isCutShort(summary)) return;
      }
    }
  }

  return {
    async apply(request) {
      const summary: Summary = { created: [], updated: [], unchanged: [], deleted: [], errors: [] };
      const wanted = new Set<string>();
      for (const object of request.objects) {
        const reference = referenceOf(object);
        await collect(summary, reference, () => {
          // Each of the two would undo the other, for ever.
          if (wanted.has(reference)) throw new TypeError(`${reference} is wanted twice`);
          wanted.add(reference);
          return applyOne(object, request);
        });
        if (isCutShort(summary)) break;
      }
      // What replaces the leftovers may be what failed: they stay until all is well.
      if (summary.errors.length === 0) await prune(request, wanted, summary);
      return summary;
    },
  };
}

async function collect(
  summary: Summary,
  reference: string,
  step: () => Promise<Exclude<keyof Summary, 'errors'> | undefined>,
): Promise<void> {
  try {
    const what = await step();
    if (what) summary[what].push(reference);
  } catch (error) {
    summary.errors.push({ object: reference, error });
  }
}
