import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeFor } from './schedule.ts';
import type { Node, Pod, PodSpec } from './types.ts';

const ready = { conditions: [{ type: 'Ready', status: 'True' }] };

const node = (name: string, zone: string, spec: Node['spec'] = {}): Node => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name, zone } },
  spec,
  status: ready,
});

const pod = (name: string, spec: Partial<PodSpec> = {}): Pod => ({
  metadata: { name, namespace: 'ns', uid: name, labels: { app: 'kafka' } },
  spec: { containers: [{ name: 'kafka', image: 'kafka' }], ...spec },
});

const NODES = [node('a', 'z1'), node('b', 'z2'), node('c', 'z3')];
const chosen = (wanted: Pod, nodes: readonly Node[] = NODES, placed: readonly Pod[] = []) => {
  const found = nodeFor(wanted, nodes, placed);
  return 'node' in found ? found.node : found.why;
};

test('a pod goes to the emptiest node', () => {
  assert.equal(chosen(pod('x')), 'a');
  assert.equal(chosen(pod('x'), NODES, [pod('1', { nodeName: 'a' }), pod('2', { nodeName: 'b' })]), 'c');
});

test('a pod goes only where it wants to', () => {
  assert.equal(chosen(pod('x', { nodeSelector: { zone: 'z2' } })), 'b');
  const affine = (operator: string, values: string[]) => {
    const nodeSelectorTerms = [{ matchExpressions: [{ key: 'zone', operator, values }] }];
    return pod('x', {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    });
  };
  assert.equal(chosen(affine('In', ['z3'])), 'c');
  assert.equal(chosen(affine('NotIn', ['z1', 'z2'])), 'c');
  assert.equal(
    chosen(affine('In', ['z9'])),
    "0/3 nodes are available: 3 didn't match node selector or affinity.",
  );
});

test('a pod keeps away from others of its kind, by host or by zone', () => {
  const apart = (topologyKey: string) => {
    const rule = { labelSelector: { matchLabels: { app: 'kafka' } }, topologyKey };
    return pod('x', {
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [rule] } },
    });
  };
  const placed = [pod('1', { nodeName: 'a' })];
  assert.equal(chosen(apart('kubernetes.io/hostname'), [node('a', 'z1'), node('b', 'z1')], placed), 'b');
  assert.match(chosen(apart('zone'), [node('a', 'z1'), node('b', 'z1')], placed), /anti-affinity/);
});

test('nodes that are cordoned, tainted, not ready or without a free host port take nobody', () => {
  assert.match(chosen(pod('x'), [node('a', 'z1', { unschedulable: true })]), /cordoned/);
  const tainted = [node('a', 'z1', { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] })];
  assert.match(chosen(pod('x'), tainted), /tainted/);
  assert.equal(chosen(pod('x', { tolerations: [{ key: 'k', operator: 'Exists' }] }), tainted), 'a');
  assert.match(chosen(pod('x', { tolerations: [{ key: 'k', value: 'w' }] }), tainted), /tainted/);
  assert.match(chosen(pod('x'), [{ ...node('a', 'z1'), status: {} }]), /not ready/);
  const ports = [{ containerPort: 9094, hostPort: 30_000 }];
  const bound = (name: string, nodeName?: string) =>
    pod(name, { containers: [{ name: 'kafka', image: 'kafka', ports }], ...(nodeName ? { nodeName } : {}) });
  assert.equal(chosen(bound('x'), NODES, [bound('1', 'a')]), 'b');
  assert.match(chosen(bound('x'), [NODES[0]!], [bound('1', 'a')]), /free ports for the requested pod ports/);
});
