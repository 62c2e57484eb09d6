import type { Api } from '../clusters/api.ts';
import { nodeFor } from './schedule.ts';
import type { Node, Pod } from './types.ts';

/** Binds pods that have no node yet, one after the other, each seeing those before it; says of the others why they wait. */
export async function bindPods(api: Api, pods: readonly Pod[], nodes: readonly Node[]): Promise<void> {
  const placed = pods.filter(({ spec }) => spec.nodeName);
  const isPending = ({ spec, metadata }: Pod) =>
    !spec.nodeName && metadata.deletionTimestamp === undefined && (spec.schedulingGates ?? []).length === 0;
  for (const pod of pods.filter(isPending)) {
    const { namespace, name } = pod.metadata;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    const found = nodeFor(pod, nodes, placed);
    if ('node' in found) {
      const target = { kind: 'Node', name: found.node };
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target };
      await api.ask('POST', `${path}/binding`, binding);
      placed.push({ ...pod, spec: { ...pod.spec, nodeName: found.node } });
    } else if (pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message !== found.why) {
      const waits = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: found.why };
      await api.ask('PATCH', `${path}/status`, { status: { conditions: [waits] } });
    }
  }
}
