/**
 * Redpanda clusters that the operator runs, on a real API server with the real controller of StatefulSets; in the pods is a stand-in for
 * Redpanda, since that cannot be had (see test/support/redpanda).
 */
import assert from 'node:assert/strict';
import type { AnyObject } from '../../../src/kube/object.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import type { ControlPlane, ControlPlaneOptions } from '../../support/control-plane.ts';
import { REDPANDA_IMAGE, redpandaImage } from '../../support/redpanda/image.ts';
import { PATIENCE, startBed } from '../brokers/fixture.ts';
import type { Bed, BedOptions } from '../brokers/fixture.ts';

export const VERSION = 'v25.2.1';

export const cluster = (name: string, spec: object, configuration: object = {}): AnyObject => ({
  apiVersion: 'redpanda.vectorized.io/v1alpha1',
  kind: 'Cluster',
  metadata: { name, namespace: 'default', annotations: { 'isthmus.dev/managed': 'true' } },
  spec: {
    image: REDPANDA_IMAGE,
    version: VERSION,
    storage: { capacity: '1Gi' },
    resources: { requests: { cpu: '100m', memory: '512Mi' } },
    configuration: { autoCreateTopics: true, groupTopicPartitions: 1, ...configuration },
    ...spec,
  },
});

/** Not all controllers: the one of volumes would contend with the pod runner, which binds claims itself. */
export const startPlane = (options: ControlPlaneOptions = {}): Promise<ControlPlane> =>
  startControlPlaneWithCrds({
    controllerManager: [
      'statefulset-controller',
      'garbage-collector-controller',
      'serviceaccount-controller',
    ],
    ...options,
  });

export async function startRedpandaBed(plane: ControlPlane, options: Partial<BedOptions> = {}): Promise<Bed> {
  return startBed({
    plane,
    nodes: ['a', 'b', 'c', 'd'].map((name) => ({ name, zone: `zone-${name}` })),
    images: [await redpandaImage(VERSION)],
    ...options,
    operator: { roads: ['redpanda', 'pod-sets'], ...options.operator },
  });
}

export interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
}

export interface ClusterStatus {
  observedGeneration?: number;
  replicas?: number;
  readyReplicas?: number;
  nodes?: {
    internal?: string[];
    external?: string[];
    externalBootstrap?: { ingress?: { hostname?: string }[] };
  };
  conditions?: Condition[];
}

const statusOf = (found: AnyObject | undefined) => (found?.['status'] ?? {}) as ClusterStatus;

/** Waits until a Cluster says of the spec that it has now that this condition is as wanted. */
export async function untilCondition(
  bed: Bed,
  name: string,
  type: 'ClusterConfigured' | 'OperatorQuiescent',
  isWanted: (condition: Condition) => boolean,
): Promise<ClusterStatus> {
  let last: unknown;
  const look = async () => {
    const found = await bed.get('Cluster', name);
    const status = statusOf(found);
    const condition = status.conditions?.find((one) => one.type === type);
    last = status.conditions;
    const isCurrent = found !== undefined && status.observedGeneration === found.metadata.generation;
    return isCurrent && condition && isWanted(condition) ? status : undefined;
  };
  return waitFor(`${type} of ${name}`, look, PATIENCE).catch((error: unknown) =>
    assert.fail(`${String(error)}: ${JSON.stringify(last)}`),
  );
}

/** Waits until nothing is left to be done. */
export const untilQuiescent = (bed: Bed, name: string): Promise<ClusterStatus> =>
  untilCondition(
    bed,
    name,
    'OperatorQuiescent',
    ({ status, reason }) => status === 'True' && reason !== 'Rolling',
  );

/** What the condition says once the spec is refused. */
export async function untilRefused(bed: Bed, name: string): Promise<Condition> {
  const { conditions = [] } = await untilCondition(bed, name, 'ClusterConfigured', ({ status }) => status === 'False'); // prettier-ignore
  return conditions.find(({ type }) => type === 'ClusterConfigured')!;
}

export const podUids = (bed: Bed, name: string, count: number): Promise<(string | undefined)[]> =>
  Promise.all(Array.from({ length: count }, (_, ordinal) => bed.podUid(`${name}-${ordinal}`)));
