import type { Client } from '../http/client.ts';
import { hasStatus } from '../http/errors.ts';
import { isBeingDeleted, typeOf } from '../object.ts';
import type { KubeObject } from '../object.ts';

const ATTEMPTS = 4;

/**
 * Puts a finalizer on an object, so that it stays until `removeFinalizer`. Never on one that is being deleted: the API server
 * would refuse it, and whoever deletes it has been told already that nothing more is to be done. Says whether it is there.
 */
export function addFinalizer(
  client: Client,
  seen: KubeObject,
  finalizer: string,
  signal?: AbortSignal,
): Promise<boolean> {
  return change(client, seen, signal, (live) => {
    if (isBeingDeleted(live)) return undefined;
    const { finalizers = [] } = live.metadata;
    return finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer];
  });
}

/** Takes a finalizer off; those of others stay. Says whether the object is still there, and without it. */
export function removeFinalizer(
  client: Client,
  seen: KubeObject,
  finalizer: string,
  signal?: AbortSignal,
): Promise<boolean> {
  return change(client, seen, signal, ({ metadata }) =>
    (metadata.finalizers ?? []).filter((one) => one !== finalizer),
  );
}

/** Writes the list that `finalizersOf` makes of the one that is there; asks it again if somebody else was quicker. */
async function change(
  client: Client,
  seen: KubeObject,
  signal: AbortSignal | undefined,
  finalizersOf: (live: KubeObject) => string[] | undefined,
): Promise<boolean> {
  let live: KubeObject | undefined = seen;
  for (let attempt = 1; live; attempt++) {
    const finalizers = finalizersOf(live);
    if (!finalizers) return false;
    if (finalizers.length === (live.metadata.finalizers?.length ?? 0)) return true;
    const { uid, resourceVersion } = live.metadata;
    try {
      const patch = { metadata: { uid, resourceVersion, finalizers } };
      await client.mergePatch(typeOf(seen), seen.metadata, patch, { signal });
      return true;
    } catch (error) {
      if (hasStatus(error, 404)) return false;
      if (!hasStatus(error, 409) || attempt === ATTEMPTS) throw error;
      live = await client.get<KubeObject>(typeOf(seen), seen.metadata, { signal });
      if (live?.metadata.uid !== seen.metadata.uid) return false;
    }
  }
  return false;
}
