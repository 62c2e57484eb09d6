/** The volumes that nodes have, which what is asked for must not contradict. Pure. */
import { z } from 'zod';
import type { AnyObject } from '../../kube/object.ts';
import { bytesOf } from '../../resources/common/quantity.ts';
import type { Volume } from './model/cluster.ts';
import { NODE_ID_ANNOTATION, STORAGE_ANNOTATION, claimName, podName, podSetName } from './model/names.ts';
import type { Observed } from './observe.ts';

const storedVolume = z.object({
  id: z.int().optional(),
  persistent: z.boolean(),
  size: z.string().optional(),
  storageClass: z.string().optional(),
  deleteClaim: z.boolean(),
  metadata: z.boolean(),
});

/**
 * The volumes that each pool has: as its pod set says, and of the size that its claims have, because an API server may have refused the
 * one that was asked for last. Undefined where that cannot be read.
 */
export function storageBefore({
  podSets,
  pools,
  claims,
  name,
}: Pick<Observed, 'podSets' | 'pools' | 'claims' | 'name'>): Map<string, readonly Volume[] | undefined> {
  return new Map(
    pools.flatMap(({ metadata: { name: pool } }) => {
      const set = podSets.find(({ metadata }) => metadata.name === podSetName(name, pool));
      const text = set?.metadata.annotations?.[STORAGE_ANNOTATION];
      if (text === undefined) return [];
      const podOf = (node: number) => podName(name, pool, node);
      const sizeOf = (volume: Volume) =>
        volume.persistent ? claimedSize(claims, volume, podOf) : volume.size;
      const volumes = volumesIn(text)?.map((volume) => ({ ...volume, size: sizeOf(volume) }));
      return [[pool, volumes] as const];
    }),
  );
}

interface ClaimSizes {
  spec?: { resources?: { requests?: { storage?: string } } };
  status?: { capacity?: { storage?: string } };
}

/** The largest that a claim of some volume has; undefined where there is none. */
function claimedSize(
  claims: readonly AnyObject[],
  volume: Volume,
  podOf: (node: number) => string,
): string | undefined {
  const sizes = claims
    .filter(({ metadata }) => {
      const node = Number(metadata.annotations?.[NODE_ID_ANNOTATION] ?? NaN);
      return metadata.name === claimName(volume, podOf(node));
    })
    .flatMap((claim) => leastOf(claim as ClaimSizes));
  return sizes.toSorted((a, b) => (bytesOf(b) ?? 0) - (bytesOf(a) ?? 0))[0];
}

/** What a claim cannot go below: a growth that has not come about can be taken back, where Kubernetes knows how. */
function leastOf({ spec, status }: ClaimSizes): string[] {
  const asked = spec?.resources?.requests?.storage;
  const got = status?.capacity?.storage;
  if (asked === undefined) return [];
  return [got !== undefined && (bytesOf(got) ?? Infinity) < (bytesOf(asked) ?? 0) ? got : asked];
}

function volumesIn(text: string): Volume[] | undefined {
  try {
    const volumes = z.array(storedVolume).parse(JSON.parse(text));
    return volumes.map(({ id, size, storageClass, ...rest }) => ({ id, size, storageClass, ...rest }));
  } catch {
    return undefined;
  }
}
