/** The nodes that the pod runner plays: made as a kubelet makes its own, kept alive, and taken away. */
import type { Api } from '../clusters/api.ts';
import { mustAnswer } from './answer.ts';

/** What is asked for of a node. */
export interface NodeRequest {
  name: string;
  zone?: string;
  region?: string;
  labels?: Record<string, string>;
}

export interface RunnerNode extends NodeRequest {
  /** InternalIP and ExternalIP: addresses of this machine, at which host ports of pods are found. */
  internal: string;
  external: string;
  /** Further ExternalIPs. */
  more: string[];
}

/** A lease of a node ends after 40 s, so that its state is told more often. */
export const HEARTBEAT_MS = 10_000;

const UNREACHABLE = ['NoSchedule', 'NoExecute'].map((effect) => ({
  key: 'node.kubernetes.io/unreachable',
  effect,
}));

function nodeObject({ name, zone, region, labels }: RunnerNode): object {
  const place = {
    ...(zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone }),
    ...(region === undefined ? {} : { 'topology.kubernetes.io/region': region }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', ...place, ...labels },
    },
  };
}

function nodeStatus({ name, internal, external, more }: RunnerNode, ready: 'True' | 'Unknown'): object {
  const now = new Date().toISOString();
  const reason = ready === 'True' ? 'KubeletReady' : 'NodeStatusUnknown';
  const resources = { cpu: '64', memory: '256Gi', pods: '110', 'ephemeral-storage': '1Ti' };
  return {
    capacity: resources,
    allocatable: resources,
    conditions: [{ type: 'Ready', status: ready, reason, lastHeartbeatTime: now, lastTransitionTime: now }],
    addresses: [
      { type: 'InternalIP', address: internal },
      ...[external, ...more].map((address) => ({ type: 'ExternalIP', address })),
      { type: 'Hostname', address: name },
    ],
  };
}

const pathOf = ({ name }: NodeRequest) => `/api/v1/nodes/${name}`;

/** Says that the node is well. */
export async function beat(api: Api, node: RunnerNode): Promise<void> {
  await api.ask('PATCH', `${pathOf(node)}/status`, { status: nodeStatus(node, 'True') });
}

/** Makes the node. What its admission adds until somebody has seen it ready goes at once: nobody else would take it off. */
export async function register(api: Api, node: RunnerNode): Promise<void> {
  mustAnswer(await api.ask('POST', '/api/v1/nodes', nodeObject(node)), `node ${node.name}`);
  await revive(api, node);
}

/** What the controller manager does when a node has been silent for too long, done at once. */
export async function declareLost(api: Api, node: RunnerNode): Promise<void> {
  const lost = await api.ask('PATCH', `${pathOf(node)}/status`, { status: nodeStatus(node, 'Unknown') });
  mustAnswer(lost, `node ${node.name}`);
  mustAnswer(await api.ask('PATCH', pathOf(node), { spec: { taints: UNREACHABLE } }), `node ${node.name}`);
}

/** The node is well, and takes pods. */
export async function revive(api: Api, node: RunnerNode): Promise<void> {
  mustAnswer(
    await api.ask('PATCH', `${pathOf(node)}/status`, { status: nodeStatus(node, 'True') }),
    `node ${node.name}`,
  );
  mustAnswer(await api.ask('PATCH', pathOf(node), { spec: { taints: null } }), `node ${node.name}`);
}

/** Lets no more pods come, or lets them again. */
export async function setUnschedulable(api: Api, node: RunnerNode, unschedulable: boolean): Promise<void> {
  mustAnswer(await api.ask('PATCH', pathOf(node), { spec: { unschedulable } }), `node ${node.name}`);
}
