/** Sets of pods on a real API server. There is no kubelet and no scheduler, so the tests play them: they bind pods and write their statuses. */
import assert from 'node:assert/strict';
import type { Client } from '../../../src/kube/http/client.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import type { Pod } from '../../../src/control/pod-sets/pod.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { apply, get, patchStatus } from '../control/harness.ts';

export const MANAGED = { 'app.kubernetes.io/managed-by': 'isthmus' };

/** A pod as a set lists it. */
export const listed = (name: string, cluster: string, revision = 'r1', spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    labels: { 'strimzi.io/cluster': cluster, 'strimzi.io/pool-name': 'p' },
    annotations: { 'strimzi.io/revision': revision },
  },
  spec: { containers: [{ name: 'kafka', image: 'apache/kafka:4.3.1' }], ...spec },
});

export interface SetOptions {
  apiVersion?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  namespace?: string;
}

/** The set `<cluster>-p` with these pods. */
export const podSet = (cluster: string, pods: object[], options: SetOptions = {}) => ({
  apiVersion: options.apiVersion ?? 'core.strimzi.io/v1',
  kind: 'StrimziPodSet',
  metadata: {
    name: `${cluster}-p`,
    namespace: options.namespace ?? 'default',
    labels: { 'strimzi.io/cluster': cluster, ...MANAGED, ...options.labels },
    annotations: options.annotations ?? {},
  },
  spec: { selector: { matchLabels: { 'strimzi.io/cluster': cluster, 'strimzi.io/pool-name': 'p' } }, pods },
});

export const anchor = (cluster: string, epoch: number) => ({
  apiVersion: 'isthmus.dev/v1alpha1',
  kind: 'KafkaAnchor',
  metadata: { name: cluster, namespace: 'default' },
  spec: {
    clusterId: 'MkU3OEVBNTcwNTJENDM2Qg',
    epoch,
    holder: 'central',
    kafka: { name: cluster, uid: '7f3c0a52-51d3-4e0c-9a43-8b1f0c2d9e11' },
  },
});

export async function podOf(client: Client, name: string, namespace = 'default'): Promise<Pod | undefined> {
  return get(client, 'Pod', name, namespace);
}

/** Waits for a pod, other than the one with this uid. */
export function newPod(client: Client, name: string, otherThan?: string): Promise<Pod> {
  return waitFor(`pod ${name}`, async () => {
    const pod = await podOf(client, name);
    return pod && pod.metadata.uid !== otherThan ? pod : undefined;
  });
}

/** Makes a node, or changes it. */
export async function putNode(
  plane: ControlPlane,
  client: Client,
  name: string,
  { zone, address }: { zone: string; address: string },
): Promise<void> {
  const labels = { 'topology.kubernetes.io/zone': zone, 'example.com/rack': `rack-${zone}` };
  await apply(plane, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
  const status = { addresses: [{ type: 'InternalIP', address }] };
  const type = { group: '', version: 'v1', kind: 'Node' };
  await client.mergePatch(type, { name }, { status }, { subresource: 'status' });
}

/** Does what a scheduler and a kubelet do: the pod runs on the node, and is ready. */
export async function runPod(client: Client, name: string, node: string): Promise<void> {
  await newPod(client, name);
  const binding = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name },
    target: { kind: 'Node', name: node },
  };
  await client.post(`/api/v1/namespaces/default/pods/${name}/binding`, binding);
  await patchStatus(client, 'Pod', name, {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
  });
}

/** What a kubelet does last with a pod that is being deleted. */
export async function removePod(plane: ControlPlane, name: string): Promise<void> {
  const args = ['delete', 'pod', name, '--force', '--grace-period=0', '--ignore-not-found'];
  const { code, stderr } = await plane.kubectl(args);
  assert.equal(code, 0, stderr);
}

export const statusOf = async (client: Client, name: string) =>
  (await get(client, 'StrimziPodSet', name))?.status;

export async function eventsAbout(client: Client, name: string): Promise<string[]> {
  const type = { group: 'events.k8s.io', version: 'v1', kind: 'Event' };
  const { items } = await client.list(type, { namespace: 'default' });
  const all = items as (AnyObject & {
    regarding: { kind: string; name: string };
    note: string;
    reason: string;
  })[];
  return all
    .filter(({ regarding }) => regarding.kind === 'StrimziPodSet' && regarding.name === name)
    .map(({ reason, note }) => `${reason}: ${note}`)
    .toSorted();
}
