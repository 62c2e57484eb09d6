/** What is written on a KafkaTopic or KafkaUser before anything is done in Kafka for it: a finalizer, and what it has set there. */
import type { z } from 'zod';
import type { Client } from '../../../kube/http/client.ts';
import { hasStatus } from '../../../kube/http/errors.ts';
import { isBeingDeleted, typeOf } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';

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
export async function writeMark(
  client: Client,
  object: KubeObject,
  mark: Mark,
  signal: AbortSignal,
): Promise<boolean> {
  const patch = markPatch(object, mark);
  if (!patch) return true;
  try {
    await client.mergePatch(typeOf(object), object.metadata, patch, { signal });
    return true;
  } catch (error) {
    if (hasStatus(error, 404) || hasStatus(error, 409)) return false;
    throw error;
  }
}
