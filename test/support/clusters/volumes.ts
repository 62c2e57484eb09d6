/**
 * A provisioner of volumes, for tests: it gives each claim of the default storage class a folder on the node that the
 * scheduler chose, as a `local` volume, and takes folder and volume back when the claim is gone. It runs in the test's
 * own process and looks every half second.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ControlPlane } from './control-plane.ts';
import type { Node } from './node.ts';

const PROVISIONER = 'testbed.isthmus/folder';
const STORAGE_CLASS = 'standard';
const VOLUMES = '/api/v1/persistentvolumes';
const PERIOD_MS = 500;

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

async function list<T>(controlPlane: ControlPlane, path: string): Promise<T[]> {
  const answer = await controlPlane.ask('GET', path);
  return answer?.status === 200 ? (JSON.parse(answer.text) as { items: T[] }).items : [];
}

const folderOf = (node: Node, volume: string) => join(node.libraryFolder, 'volumes', volume);

async function provide(controlPlane: ControlPlane, nodes: readonly Node[]): Promise<void> {
  for (const claim of await list<Claim>(controlPlane, '/api/v1/persistentvolumeclaims')) {
    const chosen = claim.metadata.annotations?.['volume.kubernetes.io/selected-node'];
    const node = nodes.find(({ name }) => name === chosen);
    if (claim.status.phase !== 'Pending' || claim.spec.storageClassName !== STORAGE_CLASS || !node) continue;
    await mkdir(folderOf(node, `pvc-${claim.metadata.uid}`), { recursive: true });
    await controlPlane.ask('POST', VOLUMES, volumeFor(claim, node.name));
  }
}

async function takeBack(controlPlane: ControlPlane, nodes: readonly Node[]): Promise<void> {
  for (const { metadata, status } of await list<Volume>(controlPlane, VOLUMES)) {
    const node = nodes.find(({ name }) => name === metadata.annotations?.['testbed.isthmus/node']);
    if (status.phase !== 'Released' || !node) continue;
    await controlPlane.ask('DELETE', `${VOLUMES}/${metadata.name}`);
    await rm(folderOf(node, metadata.name), { recursive: true, force: true });
  }
}

/** Provides volumes until it is stopped. */
export function startProvisioner(
  controlPlane: ControlPlane,
  nodes: readonly Node[],
): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const loop = (async () => {
    while (!stopped.signal.aborted) {
      await provide(controlPlane, nodes);
      await takeBack(controlPlane, nodes);
      await delay(PERIOD_MS, undefined, { signal: stopped.signal }).catch(() => {});
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await loop;
    },
  };
}
