/** What Kubernetes does by itself in a cluster in memory: what nobody owns any more goes, and disks grow. */
import assert from 'node:assert/strict';
import { claimsOfNode } from '../../../src/control/brokers/requests.ts';
import { KAFKA_WATCHES } from '../../../src/control/brokers/watches.ts';
import { rowsOf } from '../../../src/control/kernel/watches.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import type { MemoryKafka } from './memory-kafka.ts';

const KINDS = new Set(rowsOf(KAFKA_WATCHES).map(([, { kind }]) => kind.kind));

/** Half of what it finds at a time, and not always the same half first: nobody can count on an order. */
export function collectGarbage(memory: MemoryKafka): void {
  const all = [...KINDS].flatMap((kind) => memory.list(kind));
  const alive = new Set(all.map(({ metadata }) => metadata.uid));
  const garbage = all.filter(({ metadata: { ownerReferences: owners = [] } }) => owners.length > 0 && owners.every(({ uid }) => !alive.has(uid))); // prettier-ignore
  const from = memory.now % Math.max(garbage.length, 1);
  for (const { kind, metadata } of [...garbage.slice(from), ...garbage].slice(
    0,
    Math.ceil(garbage.length / 2),
  ))
    memory.delete(kind, metadata.name);
}

interface Disk {
  capacity: { storage: string };
  conditions?: { type: string; status: string; lastTransitionTime: string }[];
}

const askedOf = (claim: AnyObject) =>
  (claim['spec'] as { resources: { requests: { storage: string } } }).resources.requests.storage;

/** Disks are as large as they were asked for; one that is to be larger grows, and its file system with the next start of its pod. */
export function growDisks(memory: MemoryKafka): void {
  for (const claim of memory.list('PersistentVolumeClaim')) {
    const storage = askedOf(claim);
    const had = claim['status'] as Disk | undefined;
    if (had?.capacity.storage === storage || had?.conditions) continue;
    if (had) assert.ok(parseInt(storage, 10) > parseInt(had.capacity.storage, 10), 'a disk is to shrink');
    const lastTransitionTime = new Date(memory.now).toISOString();
    const conditions = [{ type: 'FileSystemResizePending', status: 'True', lastTransitionTime }];
    memory.put({ ...claim, status: had ? { ...had, conditions } : { capacity: { storage } } });
  }
}

/** The pod of a node starts. */
export function growFileSystems(memory: MemoryKafka, node: number): void {
  for (const claim of claimsOfNode(memory.list('PersistentVolumeClaim'), node))
    if ((claim['status'] as Disk | undefined)?.conditions)
      memory.put({ ...claim, status: { capacity: { storage: askedOf(claim) } } });
}

/** The disks of a node that are not as large as they are to be. */
export const smallDisks = (memory: MemoryKafka, node: number, size: string): string[] =>
  claimsOfNode(memory.list('PersistentVolumeClaim'), node)
    .filter((claim) => (claim['status'] as Disk | undefined)?.capacity.storage !== size)
    .map(({ metadata }) => metadata.name);
