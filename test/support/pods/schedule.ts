/** Where a pod goes: as much of the scheduler as broker pods ask of it. Pure. */
import { holds } from './types.ts';
import type { LabelSelector, Node, Pod, Requirement } from './types.ts';

type Labels = Readonly<Record<string, string>> | undefined;

function meets(labels: Labels, { key, operator, values = [] }: Requirement): boolean {
  const value = labels?.[key];
  if (operator === 'In') return value !== undefined && values.includes(value);
  if (operator === 'NotIn') return value === undefined || !values.includes(value);
  if (operator === 'Exists') return value !== undefined;
  if (operator === 'DoesNotExist') return value === undefined;
  throw new Error(`the pod runner knows no operator ${operator}`);
}

function matches(labels: Labels, { matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  const equal = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  return [...equal, ...matchExpressions].every((requirement) => meets(labels, requirement));
}

function tolerates({ spec }: Pod, taint: { key: string; value?: string; effect: string }): boolean {
  return (spec.tolerations ?? []).some(
    ({ key, operator = 'Equal', value = '', effect }) =>
      (effect === undefined || effect === '' || effect === taint.effect) &&
      (key === undefined || key === '' ? operator === 'Exists' : key === taint.key) &&
      (operator === 'Exists' || value === (taint.value ?? '')),
  );
}

function refusedByTaint(pod: Pod, { spec = {} }: Node): boolean {
  const hard = (spec.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule');
  return spec.unschedulable === true || hard.some((taint) => !tolerates(pod, taint));
}

function wantsNode({ spec }: Pod, { metadata }: Node): boolean {
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const isChosen = !terms || terms.some((term) => matches(metadata.labels, term));
  return isChosen && matches(metadata.labels, { matchLabels: spec.nodeSelector ?? {} });
}

/** Whether a pod that one of them wants to be apart from is in the same place. */
function isTooClose(pod: Pod, node: Node, others: readonly Pod[], nodes: readonly Node[]): boolean {
  const rules = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return rules.some(({ labelSelector, topologyKey }) => {
    const here = node.metadata.labels?.[topologyKey];
    const place = nodes.filter(({ metadata }) => metadata.labels?.[topologyKey] === here);
    const names = new Set(place.map(({ metadata }) => metadata.name));
    return others.some(
      ({ metadata, spec }) =>
        metadata.namespace === pod.metadata.namespace &&
        names.has(spec.nodeName ?? '') &&
        labelSelector !== undefined &&
        matches(metadata.labels, labelSelector),
    );
  });
}

const hostPortsOf = ({ spec }: Pod) =>
  spec.containers.flatMap(({ ports = [] }) => ports.flatMap(({ hostPort }) => hostPort ?? []));

function isTaken(pod: Pod, node: Node, others: readonly Pod[]): boolean {
  const wanted = hostPortsOf(pod);
  return others
    .filter(({ spec }) => spec.nodeName === node.metadata.name)
    .some((other) => hostPortsOf(other).some((port) => wanted.includes(port)));
}

/** The node for a pod, the emptiest of those that will do; or why there is none. */
export function nodeFor(
  pod: Pod,
  nodes: readonly Node[],
  placed: readonly Pod[],
): { node: string } | { why: string } {
  const reasons = new Map<string, number>();
  const refuse = (why: string) => void reasons.set(why, (reasons.get(why) ?? 0) + 1);
  const fit = nodes.filter((node) => {
    if (!holds(node.status?.conditions, 'Ready')) refuse('not ready');
    else if (refusedByTaint(pod, node)) refuse('tainted or cordoned');
    else if (!wantsNode(pod, node)) refuse("didn't match node selector or affinity");
    else if (isTooClose(pod, node, placed, nodes)) refuse("didn't match pod anti-affinity rules");
    else if (isTaken(pod, node, placed)) refuse("node(s) didn't have free ports for the requested pod ports");
    else return true;
    return false;
  });
  const load = ({ metadata }: Node) => placed.filter(({ spec }) => spec.nodeName === metadata.name).length;
  const [best] = fit.toSorted((a, b) => load(a) - load(b) || (a.metadata.name < b.metadata.name ? -1 : 1));
  if (best) return { node: best.metadata.name };
  const counted = [...reasons].map(([why, count]) => `${count} ${why}`).join(', ');
  return { why: `0/${nodes.length} nodes are available: ${counted}.` };
}
