/** Kafka clusters that the operator runs, on a real API server, with real Kafka in the pods (see test/support/pods). */
import assert from 'node:assert/strict';
import type { Operator, OperatorOptions } from '../../../src/control/operator.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { startPodRunner } from '../../support/pods/runner.ts';
import type { PodRunner, PodRunnerOptions } from '../../support/pods/runner.ts';
import { adminOf, apply, runOperator } from '../control/harness.ts';

/** Formatting, starting and electing on a machine that others use, too. */
export const PATIENCE = { timeoutMs: 600_000, everyMs: 250 };

export const kafka = (name: string, broker: object = {}, rest: object = {}): AnyObject => ({
  apiVersion: 'kafka.strimzi.io/v1',
  kind: 'Kafka',
  metadata: { name, namespace: 'default', annotations: { 'isthmus.dev/managed': 'true' } },
  spec: {
    kafka: {
      listeners: [
        { name: 'plain', port: 9092, type: 'internal', tls: false },
        { name: 'tls', port: 9093, type: 'internal', tls: true, authentication: { type: 'tls' } },
      ],
      config: {
        'offsets.topic.replication.factor': 1,
        'offsets.topic.num.partitions': 1,
        'transaction.state.log.replication.factor': 1,
        'transaction.state.log.min.isr': 1,
        'group.initial.rebalance.delay.ms': 0,
      },
      ...broker,
    },
    ...rest,
  },
});

export const nodePool = (cluster: string, name: string, spec: object = {}): AnyObject => ({
  apiVersion: 'kafka.strimzi.io/v1',
  kind: 'KafkaNodePool',
  metadata: { name, namespace: 'default', labels: { 'strimzi.io/cluster': cluster } },
  spec: {
    replicas: 1,
    roles: ['controller', 'broker'],
    storage: { type: 'persistent-claim', size: '1Gi' },
    jvmOptions: { '-Xmx': '256m' },
    ...spec,
  },
});

/** A KafkaTopic or KafkaUser of a cluster. */
export const entity = (kind: string, name: string, cluster: string, spec: object): AnyObject => ({
  apiVersion: 'kafka.strimzi.io/v1',
  kind,
  metadata: { name, namespace: 'default', labels: { 'strimzi.io/cluster': cluster } },
  spec,
});

const GROUPS: Record<string, [group: string, version: string]> = {
  Kafka: ['kafka.strimzi.io', 'v1'],
  KafkaNodePool: ['kafka.strimzi.io', 'v1'],
  KafkaTopic: ['kafka.strimzi.io', 'v1'],
  KafkaUser: ['kafka.strimzi.io', 'v1'],
  KafkaAnchor: ['isthmus.dev', 'v1alpha1'],
  StrimziPodSet: ['core.strimzi.io', 'v1'],
  Cluster: ['redpanda.vectorized.io', 'v1alpha1'],
  StatefulSet: ['apps', 'v1'],
  PodDisruptionBudget: ['policy', 'v1'],
};

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
}

export interface Bed extends AsyncDisposable {
  plane: ControlPlane;
  client: Client;
  runner: PodRunner;
  operator: Operator;
  apply(...objects: object[]): Promise<void>;
  get(kind: string, name: string): Promise<AnyObject | undefined>;
  condition(kafka: string, type: string): Promise<Condition | undefined>;
  /** Waits until a Kafka says that it is ready, for the spec that it has now. */
  untilReady(kafka: string): Promise<AnyObject>;
  podUid(name: string): Promise<string | undefined>;
  /** Ends the operator and starts another, with other options if there are any; what is done meanwhile, nobody sees. */
  restartOperator(options?: Partial<OperatorOptions>, meanwhile?: () => Promise<void>): Promise<void>;
  /** Gives a Service's load balancer an address, as a cloud does once the Service is there. */
  giveAddress(service: string, ip: string): Promise<void>;
  /** What a Secret's key holds; empty where there is none. */
  secretBytes(name: string, key: string): Promise<Buffer>;
  /** The same as text. */
  secret(name: string, key: string): Promise<string>;
  /** Ends everything but the API server. */
  close(): Promise<void>;
}

export interface BedOptions extends PodRunnerOptions {
  /** Another API server than the usual one, with the CRDs. */
  plane?: ControlPlane;
  /** How the operator is run. */
  operator?: Partial<OperatorOptions>;
}

export async function startBed(options: BedOptions): Promise<Bed> {
  const plane = options.plane ?? (await startControlPlaneWithCrds());
  const runner = await startPodRunner(plane, options);
  const client = adminOf(plane);
  const run = (more: Partial<OperatorOptions> = {}) =>
    // Pods of the runner have addresses of loopback.
    runOperator(plane, {
      roads: ['kafka', 'pod-sets'],
      probeNetworks: ['127.0.0.0/8'],
      ...options.operator,
      ...more,
    });
  let operator = await run();
  const get = (kind: string, name: string) => {
    const [group, version] = GROUPS[kind] ?? ['', 'v1'];
    return client.get({ group, version, kind }, { namespace: 'default', name });
  };
  const condition = async (name: string, type: string) => {
    const { conditions = [] } = ((await get('Kafka', name))?.['status'] ?? {}) as {
      conditions?: Condition[];
    };
    return conditions.find((one) => one.type === type);
  };
  const bed: Bed = {
    plane,
    client,
    runner,
    get operator() {
      return operator;
    },
    apply: (...objects) => apply(plane, ...objects),
    get,
    condition,
    async untilReady(name) {
      let last: Condition | undefined;
      const isReady = async () => {
        const found = await get('Kafka', name);
        last = await condition(name, 'Ready');
        const { observedGeneration } = (found?.['status'] ?? {}) as { observedGeneration?: number };
        const isCurrent = found !== undefined && observedGeneration === found.metadata.generation;
        return isCurrent && last?.status === 'True' && last.reason === 'Ready' ? found : undefined;
      };
      return waitFor(`Kafka ${name} is ready`, isReady, PATIENCE).catch((error: unknown) =>
        assert.fail(`${String(error)}: ${JSON.stringify(last)}`),
      );
    },
    podUid: async (name) => (await get('Pod', name))?.metadata.uid,
    async restartOperator(more, meanwhile) {
      await operator.stop();
      await meanwhile?.();
      operator = await run(more);
    },
    async giveAddress(service, ip) {
      const status = { loadBalancer: { ingress: [{ ip }] } };
      const args = [`service/${service}`, '--subresource=status', '--type=merge'];
      const isGiven = async () =>
        (await plane.kubectl(['patch', ...args, `--patch=${JSON.stringify({ status })}`])).code === 0;
      await waitFor(`Service ${service} is there`, isGiven, PATIENCE);
    },
    async secretBytes(name, key) {
      const { data = {} } = ((await get('Secret', name)) ?? {}) as { data?: Record<string, string> };
      return Buffer.from(data[key] ?? '', 'base64');
    },
    secret: async (name, key) => (await bed.secretBytes(name, key)).toString(),
    async close() {
      await operator.stop();
      await runner.stop();
      await client.close();
    },
    async [Symbol.asyncDispose]() {
      await bed.close();
      await plane.stop();
    },
  };
  return bed;
}
