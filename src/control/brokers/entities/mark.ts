/** What is written on a KafkaTopic or KafkaUser before anything is done in Kafka for it: a finalizer, and what it has set there. */
import type { z } from 'zod';
import type { Client } from '../../../kube/http/client.ts';
import { ApiError, hasStatus } from '../../../kube/http/errors.ts';
import { isBeingDeleted, typeOf } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { forEachLimit } from '../../../ops/for-each-limit.ts';

/** In an annotation, because other people's CRDs drop fields of a status that they do not know. */
export const REMEMBERED_ANNOTATION = 'isthmus.dev/last-applied';

export interface Mark {
  /** The finalizer, and whether it is to be there. */
  finalizer: string;
  held: boolean;
  /** What to remember; null for nothing any more. */
  remembered: object | null;
}

/** What was remembered; undefined if nothing was, or nothing that can be read. */
export function rememberedIn<T>({ metadata }: KubeObject, schema: z.ZodType<T>): T | undefined {
  const text = metadata.annotations?.[REMEMBERED_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** What has to be written on a resource to have the mark; undefined if it has it. Finalizers of others stay. Pure. */
export function markPatch(object: KubeObject, { finalizer, held, remembered }: Mark): object | undefined {
  const { finalizers = [], annotations = {}, uid, resourceVersion } = object.metadata;
  const has = finalizers.includes(finalizer);
  const text = remembered && JSON.stringify(remembered);
  // None may be added to what is being deleted.
  const isHeld = held && (has || !isBeingDeleted(object));
  if (isHeld === has && (annotations[REMEMBERED_ANNOTATION] ?? null) === text) return undefined;
  const others = finalizers.filter((one) => one !== finalizer);
  return {
    metadata: {
      uid,
      resourceVersion,
      finalizers: isHeld ? [...others, finalizer] : others,
      annotations: { [REMEMBERED_ANNOTATION]: text },
    },
  };
}

/** Says whether the resource has the mark now; it may have changed or gone meanwhile, and is looked at again then. */
async function writeMark(
  client: Client,
  object: KubeObject,
  mark: Mark,
  signal: AbortSignal,
): Promise<boolean> {
  const patch = markPatch(object, mark);
  return !patch || patchUnchanged(client, object, patch, signal);
}

/** Says whether it was done. A patch with a uid and a version is about just the object that was seen. */
export async function patchUnchanged(
  client: Client,
  object: KubeObject,
  patch: object,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.mergePatch(typeOf(object), object.metadata, patch, { signal });
    return true;
  } catch (error) {
    if (hasStatus(error, 404) || hasStatus(error, 409)) return false;
    throw error;
  }
}

export interface Marks<T> {
  /** Those that have what is to be on them now. Whatever is not written down is not begun. */
  marked: ReadonlySet<T>;
  /** Those on which the API server lets nobody write that, and what it said. */
  denied: ReadonlyMap<T, ApiError>;
}

const WRITES_AT_ONCE = 8;
/** Whether an answer is about this one object: its size, a policy, a webhook. The fault of one is not that of the others. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && [400, 403, 413, 422].includes(error.status);

/** Writes the marks of many. */
export async function writeMarks<T extends KubeObject>(
  client: Client,
  planned: readonly { resource: T; mark: Mark | undefined }[],
  signal: AbortSignal,
): Promise<Marks<T>> {
  const marked = new Set<T>();
  const denied = new Map<T, ApiError>();
  await forEachLimit(planned, WRITES_AT_ONCE, async ({ resource, mark }) => {
    try {
      if (!mark || (await writeMark(client, resource, mark, signal))) marked.add(resource);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      denied.set(resource, error);
    }
  });
  return { marked, denied };
}
