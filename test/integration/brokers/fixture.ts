/** Kafka clusters that the operator runs, on a real API server, with real Kafka in the pods (see test/support/pods). */
import assert from 'node:assert/strict';
import type { Operator, OperatorOptions } from '../../../src/control/operator.ts';
import { openAdmin } from '../../../src/kafka/admin/admin.ts';
import type { Admin } from '../../../src/kafka/admin/admin.ts';
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

/** The same resource with more annotations. */
export const annotated = (object: AnyObject, annotations: Record<string, string>): AnyObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
});

const GROUPS: Record<string, [group: string, version: string]> = {
  Kafka: ['kafka.strimzi.io', 'v1'],
  KafkaNodePool: ['kafka.strimzi.io', 'v1'],
  KafkaTopic: ['kafka.strimzi.io', 'v1'],
  KafkaUser: ['kafka.strimzi.io', 'v1'],
  KafkaAnchor: ['isthmus.dev', 'v1alpha1'],
  RedpandaAnchor: ['isthmus.dev', 'v1alpha1'],
  StrimziPodSet: ['core.strimzi.io', 'v1'],
  Cluster: ['redpanda.vectorized.io', 'v1alpha1'],
  StatefulSet: ['apps', 'v1'],
  PodDisruptionBudget: ['policy', 'v1'],
  Certificate: ['cert-manager.io', 'v1'],
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
  /**
   * Ends the operator and starts another, with other options if there are any; what is done meanwhile, nobody sees. Comes back when
   * the new one has looked at every cluster, and done what it would do at the first look.
   */
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

export type StrimziApi = 'v1' | 'v1beta2';

/** The same resource in the version of Strimzi's kinds that is served. */
export const inVersion = (version: StrimziApi, object: AnyObject): AnyObject => ({
  ...object,
  apiVersion: object.apiVersion.replace(/\.strimzi\.io\/v1\w*$/, `.strimzi.io/${version}`),
});

export interface BedOptions extends PodRunnerOptions {
  /** Another API server than the usual one, with the CRDs. */
  plane?: ControlPlane;
  /** How the operator is run. */
  operator?: Partial<OperatorOptions>;
  /** The version of Strimzi's kinds that the API server serves; v1 if left out. */
  strimziVersion?: StrimziApi;
}

/** The status is written last, so one that is put right shows that all before it is done. */
async function forgetLooks(client: Client): Promise<() => Promise<boolean>> {
  const clusters = await Promise.all(
    ['Kafka', 'Cluster'].map(async (kind) => {
      const [group, version] = GROUPS[kind]!;
      const type = { group, version, kind };
      return (await client.list(type, { namespace: 'default' })).items.map(({ metadata }) => ({
        type,
        metadata,
      }));
    }),
  );
  const all = clusters.flat();
  for (const { type, metadata } of all)
    await client.mergePatch(type, metadata, { status: { observedGeneration: 0 } }, { subresource: 'status' });
  const isLookedAt = async ({ type, metadata }: (typeof all)[number]) => {
    const found = await client.get(type, metadata);
    const { observedGeneration } = (found?.['status'] ?? {}) as { observedGeneration?: number };
    return observedGeneration === found?.metadata.generation;
  };
  return async () => (await Promise.all(all.map(isLookedAt))).every(Boolean);
}

export async function startBed(options: BedOptions): Promise<Bed> {
  const { strimziVersion = 'v1' } = options;
  const plane = options.plane ?? (await startControlPlaneWithCrds());
  const runner = await startPodRunner(plane, options);
  const client = adminOf(plane);
  const run = (more: Partial<OperatorOptions> = {}) =>
    // Pods of the runner have addresses of loopback.
    runOperator(plane, {
      roads: ['kafka', 'pod-sets'],
      probeNetworks: ['127.0.0.0/8', '::1'],
      ...options.operator,
      ...more,
    });
  let operator = await run();
  const get = (kind: string, name: string) => {
    const [group, usual] = GROUPS[kind] ?? ['', 'v1'];
    const version = group.endsWith('strimzi.io') ? strimziVersion : usual;
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
      const areLookedAt = await forgetLooks(client);
      operator = await run(more);
      await waitFor('every cluster to be looked at', areLookedAt, PATIENCE);
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

/** Asks Kafka at the listener without TLS; `pods` are those of its brokers, by id. */
export async function asking<T>(
  { runner }: Bed,
  pods: readonly string[],
  question: (admin: Admin) => Promise<T>,
): Promise<T> {
  const hosts = pods.map((name) => runner.addressOf(`default/${name}`));
  const bootstrap = hosts.flatMap((host) => (host === undefined ? [] : [{ host, port: 9092 }]));
  const admin = openAdmin({ bootstrap, addressOf: (id) => ({ host: hosts[id] ?? '', port: 9092 }) });
  try {
    return await question(admin);
  } finally {
    admin.close();
  }
}
