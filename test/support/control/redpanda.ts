/** Redpanda clusters as plans see them, for unit tests. */
import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { NOTHING_LEARNED } from '../../../src/control/kernel/reconcile.ts';
import { REVISION_ANNOTATION, ROLL_ANNOTATION } from '../../../src/control/redpanda/names.ts';
import type { Observed } from '../../../src/control/redpanda/observe.ts';
import { planRedpanda } from '../../../src/control/redpanda/plan.ts';
import { createHostIndex } from '../../../src/control/shared/host-index.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { parseAs } from '../../../src/resources/parse.ts';
import { redpandaCluster } from '../../../src/resources/redpanda/cluster.ts';

/** Nobody else has names, and nobody forbids any. */
export const OPEN_NAMES: Observed['names'] = {
  namePolicies: [],
  unreadablePolicies: [],
  namespaceLabels: {},
  others: [],
  published: () => createHostIndex(),
};

export const SETTINGS = { clusterDomain: 'cluster.local' };

export function observed(spec: object, rest: Partial<Observed> = {}): Observed {
  const document = {
    apiVersion: 'redpanda.vectorized.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'panda', namespace: 'n', uid: 'u', generation: 3 },
    spec: { version: 'v25.2.1', replicas: 3, ...spec },
  };
  const parsed = parseAs(redpandaCluster, document, { unknownFields: 'ignore' });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return {
    namespace: 'n',
    name: 'panda',
    cluster: parsed.resource,
    problem: undefined,
    generation: 3,
    statefulSet: undefined,
    pods: [],
    externalService: undefined,
    anchor: undefined,
    hasAnchors: true,
    otherHostPorts: new Set(),
    dnsEndpoint: undefined,
    dns: 'present',
    names: OPEN_NAMES,
    acted: undefined,
    now: Date.UTC(2026, 10, 1),
    ...rest,
  };
}

export const plan = (seen: Observed) => planRedpanda(seen, SETTINGS, NOTHING_LEARNED);
export const objectsFor = (spec: object, rest?: Partial<Observed>) =>
  plan(observed(spec, rest)).targets[0]?.objects ?? [];
export const find = (objects: readonly AnyObject[], kind: string, name = 'panda') =>
  objects.find((object) => object.kind === kind && object.metadata.name === name) as
    | (AnyObject & { data: Record<string, string>; spec: Record<string, unknown> })
    | undefined;

export const setOf = (spec: object, rest?: Partial<Observed>) => {
  const set = find(objectsFor(spec, rest), 'StatefulSet');
  assert.ok(set);
  return set;
};
export const revisionOf = (spec: object, rest?: Partial<Observed>) => {
  const { template } = setOf(spec, rest).spec as {
    template: { metadata: { annotations: Record<string, string> } };
  };
  return template.metadata.annotations[REVISION_ANNOTATION];
};

export interface NodeFile {
  redpanda: Record<string, unknown>;
  [section: string]: unknown;
}

export const fileOf = (spec: object, ordinal: number, rest?: Partial<Observed>) => {
  const text = find(objectsFor(spec, rest), 'ConfigMap', 'panda-base')?.data[`panda-${ordinal}.yaml`];
  return parse(text ?? '') as NodeFile;
};

export const conditionsOf = (seen: Observed) => {
  const { conditions } = plan(seen).statuses[0]!.status as {
    conditions: { type: string; status: string; reason: string; message: string }[];
  };
  return new Map(conditions.map((condition) => [condition.type, condition]));
};

/** As an API server has it, once brokers were ready. */
export const live = (spec: object, annotations: object = {}): AnyObject => {
  const set = setOf(spec);
  return { ...set, metadata: { ...set.metadata, uid: 's', annotations: { ...set.metadata.annotations, [ROLL_ANNOTATION]: '{"hasRun":true}', ...annotations } } }; // prettier-ignore
};
