/**
 * A provisioner of volumes, for tests: it gives each claim of the default storage class a folder on the node that the
 * scheduler chose, as a `local` volume, and takes folder and volume back when the claim is gone. It runs in the test's
 * own process and looks every half second.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startLoop } from './api.ts';
import type { Api, Loop } from './api.ts';
import type { Node } from './node.ts';

const PROVISIONER = 'testbed.isthmus/folder';
const STORAGE_CLASS = 'standard';
const VOLUMES = '/api/v1/persistentvolumes';

interface Claim {
  metadata: { name: string; namespace: string; uid: string; annotations?: Record<string, string> };
  spec: { storageClassName?: string; accessModes: string[]; resources: { requests: { storage: string } } };
  status: { phase: string };
}

interface Volume {
  metadata: { name: string; annotations?: Record<string, string> };
  spec: { local?: { path: string }; nodeAffinity?: unknown };
  status: { phase: string };
}

/** The storage class that claims get when they name none. */
export const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: {
    name: STORAGE_CLASS,
    annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
  },
  provisioner: PROVISIONER,
  volumeBindingMode: 'WaitForFirstConsumer',
  reclaimPolicy: 'Delete',
};

/** The volume for a claim that has been promised to a node. */
export function volumeFor({ metadata, spec }: Claim, node: string): object {
  const { name, namespace, uid } = metadata;
  const expression = { key: 'kubernetes.io/hostname', operator: 'In', values: [node] };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: `pvc-${uid}`,
      // Tells the controller manager that someone else deletes what is behind the volume.
      annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER, 'testbed.isthmus/node': node },
    },
    spec: {
      capacity: { storage: spec.resources.requests.storage },
      accessModes: spec.accessModes,
      storageClassName: STORAGE_CLASS,
      persistentVolumeReclaimPolicy: 'Delete',
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
      local: { path: `/var/lib/volumes/pvc-${uid}` },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } },
    },
  };
}

const folderOf = (node: Node, volume: string) => join(node.libraryFolder, 'volumes', volume);

async function provide(api: Api, nodes: readonly Node[]): Promise<void> {
  for (const claim of (await api.list<Claim>('/api/v1/persistentvolumeclaims')) ?? []) {
    const chosen = claim.metadata.annotations?.['volume.kubernetes.io/selected-node'];
    const node = nodes.find(({ name }) => name === chosen);
    if (claim.status.phase !== 'Pending' || claim.spec.storageClassName !== STORAGE_CLASS || !node) continue;
    await mkdir(folderOf(node, `pvc-${claim.metadata.uid}`), { recursive: true });
    await api.ask('POST', VOLUMES, volumeFor(claim, node.name));
  }
}

async function takeBack(api: Api, nodes: readonly Node[]): Promise<void> {
  for (const { metadata, status } of (await api.list<Volume>(VOLUMES)) ?? []) {
    const node = nodes.find(({ name }) => name === metadata.annotations?.['testbed.isthmus/node']);
    if (status.phase !== 'Released' || !node) continue;
    await api.ask('DELETE', `${VOLUMES}/${metadata.name}`);
    await rm(folderOf(node, metadata.name), { recursive: true, force: true });
  }
}

/** Provides volumes until it is stopped. */
export function startProvisioner(api: Api, nodes: readonly Node[]): Loop {
  return startLoop(async () => {
    await provide(api, nodes);
    await takeBack(api, nodes);
  });
}
