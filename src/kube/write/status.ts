import type { Client } from '../http/client.ts';
import { hasStatus } from '../http/errors.ts';
import { isJsonObject, mergePatchBetween } from '../json.ts';
import type { JsonObject } from '../json.ts';
import { typeOf } from '../object.ts';
import type { KubeObject } from '../object.ts';

const ATTEMPTS = 4;

/**
 * Makes the status of an object what `statusOf` says, and sends only what differs; nothing, if nothing does. `statusOf` gets the
 * status as it is (for the times of conditions, or for what others wrote there) and is asked again if somebody else was quicker.
 * A key it leaves out is removed.
 */
export async function writeStatus<S extends object>(
  client: Client,
  seen: KubeObject & { status?: S },
  statusOf: (status: S | undefined) => S,
  signal?: AbortSignal,
): Promise<'unchanged' | 'written' | 'gone'> {
  const type = typeOf(seen);
  let live: (KubeObject & { status?: S }) | undefined = seen;
  for (let attempt = 1; live; attempt++) {
    const status = mergePatchBetween(asObject(live.status), asObject(statusOf(live.status)));
    if (!status) return 'unchanged';
    const { uid, resourceVersion } = live.metadata;
    try {
      // With the version in it the patch is refused if it was made from an old status.
      const patch = { metadata: { uid, resourceVersion }, status };
      await client.mergePatch(type, seen.metadata, patch, { subresource: 'status', signal });
      return 'written';
    } catch (error) {
      if (hasStatus(error, 404)) return 'gone';
      if (!hasStatus(error, 409) || attempt === ATTEMPTS) throw error;
      live = await client.get<KubeObject & { status?: S }>(type, seen.metadata, { signal });
      if (live?.metadata.uid !== seen.metadata.uid) return 'gone';
    }
  }
  return 'gone';
}

function asObject(status: unknown): JsonObject {
  return isJsonObject(status) ? status : {};
}
