/**
 * Volumes of claims: a folder each, which outlives pods and goes with its claim. Any node can have it, as with a disk on the network.
 * What a controller manager and a provisioner do for a claim is done to it: bound, grown, let go.
 */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Api } from '../clusters/api.ts';
import { keyOf } from './types.ts';
import type { Claim, Pod } from './types.ts';

const IN_USE = 'kubernetes.io/pvc-protection';

export interface Claims {
  /** Brings all claims to where they should be. */
  settle(claims: readonly Claim[], pods: readonly Pod[]): Promise<void>;
  /** The folder of a claim that is bound. */
  folderOf(namespace: string, name: string): string | undefined;
  /** The same, by `namespace/name`; throws where there is none. */
  diskOf(key: string): string;
  /** From now on the disk is empty; who has it mounted goes on with the old one until it ends. */
  lose(key: string): Promise<void>;
}

const pathOf = ({ metadata }: Claim) =>
  `/api/v1/namespaces/${metadata.namespace}/persistentvolumeclaims/${metadata.name}`;

const isUsedBy =
  ({ metadata }: Claim) =>
  (pod: Pod) =>
    pod.metadata.namespace === metadata.namespace &&
    (pod.spec.volumes ?? []).some(({ persistentVolumeClaim: its }) => its?.claimName === metadata.name);

/** Keeps the folders below `home`. */
export function createClaims(api: Api, home: string): Claims {
  const folders = new Map<string, string>();
  let lost = 0;

  async function bind(claim: Claim): Promise<void> {
    const { uid } = claim.metadata;
    const folder = join(home, uid);
    await mkdir(folder, { recursive: true });
    folders.set(keyOf(claim.metadata), folder);
    const capacity = { storage: claim.spec.resources?.requests?.storage ?? '1Gi' };
    if (claim.status?.phase === 'Bound' && claim.status.capacity?.storage === capacity.storage) return;
    if (!claim.spec.volumeName) await api.ask('PATCH', pathOf(claim), { spec: { volumeName: `pvc-${uid}` } });
    const status = { phase: 'Bound', accessModes: claim.spec.accessModes ?? [], capacity };
    await api.ask('PATCH', `${pathOf(claim)}/status`, { status });
  }

  async function letGo({ metadata, ...claim }: Claim): Promise<void> {
    const finalizers = (metadata.finalizers ?? []).filter((each) => each !== IN_USE);
    await api.ask('PATCH', pathOf({ metadata, ...claim }), { metadata: { finalizers } });
  }

  function diskOf(key: string): string {
    const folder = folders.get(key);
    if (folder === undefined || !existsSync(folder)) throw new Error(`no pod has used the claim ${key}`);
    return folder;
  }

  return {
    async settle(claims, pods) {
      for (const claim of claims) {
        const isUsed = pods.some(isUsedBy(claim));
        if (claim.metadata.deletionTimestamp === undefined) {
          if (isUsed || claim.status?.phase === 'Bound') await bind(claim);
        } else if (!isUsed) await letGo(claim);
      }
      const uids = new Set(claims.map(({ metadata }) => metadata.uid));
      for (const [key, folder] of folders) {
        if (uids.has(folder.slice(home.length + 1))) continue;
        folders.delete(key);
        await rm(folder, { recursive: true, force: true });
      }
    },
    folderOf: (namespace, name) => folders.get(keyOf({ namespace, name })),
    diskOf,
    async lose(key) {
      const folder = diskOf(key);
      await rename(folder, `${folder}-lost-${++lost}`);
      await mkdir(folder);
    },
  };
}
