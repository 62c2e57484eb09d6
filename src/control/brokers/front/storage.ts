/** The disks of a node pool, checked, also against those that it has. Pure. */
import { bytesOf } from '../../../resources/common/quantity.ts';
import type { KafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import type { Fault } from '../faults.ts';
import { mayBeBroker } from '../model/charter.ts';
import type { CharterNode } from '../model/charter.ts';
import type { Volume } from '../model/cluster.ts';
import { volumeName } from '../model/names.ts';

type Written = NonNullable<KafkaNodePool['spec']['storage']>;
type WrittenVolume = NonNullable<Written['volumes']>[number];

const PATH = ['spec', 'storage'] as const;

export interface PoolStorage {
  volumes: Volume[];
  faults: Fault[];
}

export function storageOf(pool: KafkaNodePool): PoolStorage {
  const { storage } = pool.spec;
  const fault = (message: string, ...path: (string | number)[]): Fault => ({
    reason: 'Invalid',
    path: [...PATH, ...path],
    message: `KafkaNodePool "${pool.metadata.name}": ${message}`,
  });
  if (!storage?.type)
    return {
      volumes: [],
      faults: [fault('storage.type is missing; use ephemeral, persistent-claim or jbod')],
    };
  if (storage.type !== 'jbod') {
    const volume = volumeOf({ ...storage, type: storage.type }, undefined);
    return { volumes: [{ ...volume, metadata: true }], faults: volumeFaults(volume, fault, []) };
  }
  const written = storage.volumes ?? [];
  const ids = written.map(({ id }) => id);
  const isClear =
    written.length > 0 && ids.every((id, index) => id !== undefined && ids.indexOf(id) === index);
  if (!isClear)
    return { volumes: [], faults: [fault('give each volume of the jbod an id of its own', 'volumes')] };
  const volumes = written.map((one) => volumeOf(one, one.id));
  const shared = written.filter(({ kraftMetadata }) => kraftMetadata === 'shared');
  const holder = shared[0]?.id ?? Math.min(...volumes.map(({ id }) => id!));
  return {
    volumes: volumes.map((one) => ({ ...one, metadata: one.id === holder })),
    faults: [
      ...(shared.length > 1 ? [fault('only one volume can have kraftMetadata: shared', 'volumes')] : []),
      ...volumes.flatMap((one, index) => volumeFaults(one, fault, ['volumes', index])),
    ],
  };
}

function volumeOf(written: WrittenVolume, id: number | undefined): Volume {
  return {
    id,
    persistent: written.type === 'persistent-claim',
    size: written.size ?? (written['sizeLimit'] as string | undefined),
    storageClass: written.class,
    deleteClaim: written.deleteClaim ?? false,
    metadata: false,
  };
}

const volumeFaults = (
  { persistent, size }: Volume,
  fault: (message: string, ...path: (string | number)[]) => Fault,
  path: (string | number)[],
): Fault[] =>
  persistent && size === undefined
    ? [fault('a persistent volume needs a size, e.g. 100Gi', ...path, 'size')]
    : [];

/** What of the storage that a pool has cannot become what is asked for: data would be lost, or Kubernetes refuses. */
export function storageChangeFaults(
  pool: KafkaNodePool,
  wanted: readonly Volume[],
  had: readonly Volume[],
  nodes: readonly CharterNode[],
): Fault[] {
  const fault = (message: string): Fault => ({
    reason: 'ChangeNotPossible',
    path: PATH,
    message: `KafkaNodePool "${pool.metadata.name}": ${message}`,
  });
  if (had.length === 0) return [];
  const changes = wanted.flatMap((volume) => {
    const before = had.find(({ id }) => id === volume.id);
    if (!before) return [];
    const name = volumeName(volume);
    return [
      ...(before.persistent === volume.persistent ? [] : [`volume ${name} cannot change its type; add a new node pool and remove this one`]), // prettier-ignore
      ...(before.storageClass === volume.storageClass ? [] : [`volume ${name} cannot change its class; add a new node pool and remove this one`]), // prettier-ignore
      ...(isSmaller(volume.size, before.size) ? [`volume ${name} cannot shrink from ${before.size} to ${volume.size}`] : []), // prettier-ignore
    ];
  });
  const isOther = !wanted.some(({ id }) => had.some((one) => one.id === id));
  const removed = isOther ? [] : had.filter((volume) => !wanted.some(({ id }) => id === volume.id));
  const metadata = had.find((one) => one.metadata);
  const moved = metadata && !wanted.some((one) => one.id === metadata.id && one.metadata);
  return [
    ...changes,
    ...removed.filter((volume) => !volume.metadata && hasReplicas(volume, pool, nodes)).map((volume) => `volume ${volumeName(volume)} cannot be removed, because partitions on it would go offline; keep it, or add a pool of brokers without it, and remove this one or its role broker: brokers are emptied first`), // prettier-ignore
    ...(isOther ? ['a pool cannot go from a single volume to a jbod or back; add a new node pool'] : []),
    ...(moved && !isOther ? [`the metadata log stays on volume ${volumeName(metadata)}; keep that volume and its kraftMetadata`] : []), // prettier-ignore
  ].map(fault);
}

/** Whether a broker may have something there: one that no broker has ever started with can be taken back. */
const hasReplicas = (volume: Volume, { metadata }: KafkaNodePool, nodes: readonly CharterNode[]): boolean =>
  nodes.some(
    (node) => node.pool === metadata.name && mayBeBroker(node) && node.formatted.includes(volumeName(volume)),
  );

function isSmaller(wanted: string | undefined, had: string | undefined): boolean {
  const [a, b] = [bytesOf(wanted ?? ''), bytesOf(had ?? '')];
  return a !== undefined && b !== undefined && a < b;
}
