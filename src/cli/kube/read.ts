/** What was read of a cluster, or why it could not be: one thing that may not be read must not hide all others. */
import { ApiError } from '../../kube/http/errors.ts';
import type { Client } from '../../kube/http/client.ts';
import type { AnyObject, ResourceType } from '../../kube/object.ts';
import type { ListOptions } from '../../kube/http/list.ts';

export type Read<T> = { value: T } | { problem: string };

const TIMEOUT_MS = 15_000;

/** Settles what a request gave; anything but an answer of the API server is a bug, and thrown. */
export async function settle<T>(work: Promise<T>): Promise<Read<T>> {
  try {
    return { value: await work };
  } catch (error) {
    if (error instanceof ApiError) return { problem: error.message };
    throw error;
  }
}

/** The objects of a kind in the newest of its versions that is served; none where the server does not have it. */
export async function listOf(
  client: Client,
  kind: { group: string; kind: string; versions: readonly string[] },
  options: ListOptions = {},
): Promise<AnyObject[]> {
  const type = await servedType(client, kind);
  return type === undefined ? [] : (await client.list(type, { timeoutMs: TIMEOUT_MS, ...options })).items;
}

/** The kind in the newest version that the server has of it. */
export async function servedType(
  client: Client,
  { group, kind, versions }: { group: string; kind: string; versions: readonly string[] },
): Promise<ResourceType | undefined> {
  for (const version of versions.toReversed()) {
    try {
      await client.resource({ group, version, kind });
      return { group, version, kind };
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'KindNotServed') throw error;
    }
  }
  return undefined;
}
