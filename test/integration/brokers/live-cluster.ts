/** Three nodes with TLS that are written to all the time, and a user that connects anew all the time, while certificates change. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { presentedAt, requireTaken } from '../../../src/control/brokers/look/presented.ts';
import type { OperatorOptions } from '../../../src/control/operator.ts';
import { messageOf } from '../../../src/ops/errors.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume } from '../../support/clients.ts';
import type { Target } from '../../support/clients/types.ts';
import { startLoad } from '../../support/kafka/load.ts';
import type { Load } from '../../support/kafka/load.ts';
import type { Security } from '../../support/kafka/security.ts';
import { PATIENCE, entity, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

export const NODES = [0, 1, 2].map((id) => `live-dual-${id}`);
const BOOTSTRAP = 'live-kafka-bootstrap.default.svc';
const BROKER = {
  config: {
    'default.replication.factor': 3,
    'min.insync.replicas': 2,
    'offsets.topic.replication.factor': 3,
    'offsets.topic.num.partitions': 1,
    'group.initial.rebalance.delay.ms': 0,
  },
  listeners: [
    { name: 'plain', port: 9092, type: 'internal', tls: false },
    { name: 'tls', port: 9093, type: 'internal', tls: true, authentication: { type: 'tls' } },
    { name: 'open', port: 9094, type: 'internal', tls: true },
  ],
};

/** What became of a user that connected anew all the time. */
export interface Reconnected {
  /** The longest time in which it had no connection to any node. */
  longestMs: number;
  /** What it was told where it had none, each once; nodes that are being restarted are part of it. */
  problems: string[];
}

export interface LiveCluster extends AsyncDisposable {
  bed: Bed;
  /** How long this machine took for three nodes. */
  paceMs: number;
  uids(): Promise<(string | undefined)[]>;
  /** The certificate in the Secret of a node. */
  heldBy(node: string): Promise<X509Certificate>;
  /** Whether a node presents what its Secret has to whoever connects. */
  isPresented(node: string): Promise<boolean>;
  /** Writes to a topic until the end, by one of the listeners. */
  load(topic: string, port: number, security?: Security): Promise<Load>;
  /** Ends a load: all that was acknowledged is there. */
  nothingIsLost(load: Load, topic: string): Promise<void>;
  /** Connects as the user alice with what her Secret has then, to one node after the other, until the function is called that it returns. */
  reconnect(): () => Promise<Reconnected>;
}

/** Starts it, with what else its Kafka has to say, and an operator that is run so. */
export async function startLiveCluster(
  spec: object = {},
  operator: Partial<OperatorOptions> = {},
): Promise<LiveCluster> {
  await using stack = new AsyncDisposableStack();
  const nodes = ['a', 'b', 'c'].map((name) => ({ name }));
  const bed = stack.use(await startBed({ nodes, operator }));
  const over = new AbortController();
  const begun = Date.now();
  await bed.apply(
    kafka('live', BROKER, { entityOperator: { userOperator: {} }, ...spec }),
    nodePool('live', 'dual', { replicas: 3 }),
    entity('KafkaUser', 'alice', 'live', { authentication: { type: 'tls' } }),
  );
  await bed.untilReady('live');
  const paceMs = Date.now() - begun;
  const hasCertificate = async () => (await bed.secret('alice', 'user.crt')) !== '';
  await waitFor('alice has a certificate', hasCertificate, PATIENCE);
  const target = (topic: string, port: number): Target => ({
    bootstrap: `${BOOTSTRAP}:${port}`,
    topic,
    hostsFile: bed.runner.hostsFile,
  });
  const owned = stack.move();
  return {
    bed,
    paceMs,
    uids: () => Promise.all(NODES.map((name) => bed.podUid(name))),
    heldBy: async (node) => new X509Certificate(await bed.secret(node, `${node}.crt`)),
    async isPresented(node) {
      const shown = await presentedAt(await listenerOf(bed, node, 9094)).catch(() => '');
      return shown === new X509Certificate(await bed.secret(node, `${node}.crt`)).fingerprint256;
    },
    async load(topic, port, security = {}) {
      const load = await startLoad({ ...target(topic, port), security });
      owned.defer(() => load.stop());
      await load.flows();
      return load;
    },
    async nothingIsLost(load, topic) {
      await load.flows();
      await load.stop();
      const { acknowledged, failed } = await load.seen();
      assert.deepEqual(failed, []);
      const wanted = { ...target(topic, 9092), count: acknowledged.length, timeoutMs: 300_000 };
      const kept = new Set((await consume('java', wanted)).map(({ value }) => value));
      assert.deepEqual(
        acknowledged.filter(({ value }) => !kept.has(value)),
        [],
      );
    },
    reconnect: () => reconnect(bed, over.signal),
    async [Symbol.asyncDispose]() {
      over.abort();
      await owned.disposeAsync();
    },
  };
}

function reconnect(bed: Bed, over: AbortSignal): () => Promise<Reconnected> {
  const own = new AbortController();
  const ended = AbortSignal.any([own.signal, over]);
  const problems = new Set<string>();
  let [last, longestMs] = [Date.now(), 0];
  const running = (async () => {
    while (!ended.aborted) {
      for (const node of NODES)
        try {
          await requireTaken(await asAlice(bed, node));
          longestMs = Math.max(longestMs, Date.now() - last);
          last = Date.now();
        } catch (error) {
          problems.add(messageOf(error));
        }
      await delay(250);
    }
  })();
  return async () => {
    own.abort();
    await running;
    return { longestMs: Math.max(longestMs, Date.now() - last), problems: [...problems] };
  };
}

/** At a listener of a node, trusting what the Secret has. */
const listenerOf = async (bed: Bed, node: string, port: number) => ({
  host: bed.runner.addressOf(`default/${node}`)!,
  port,
  tls: { ca: await bed.secret('live-trustbundle', 'cluster-ca.crt'), servername: BOOTSTRAP },
});

async function asAlice(bed: Bed, node: string) {
  const { tls, ...at } = await listenerOf(bed, node, 9093);
  const [cert, key] = [await bed.secret('alice', 'user.crt'), await bed.secret('alice', 'user.key')];
  return { ...at, tls: { ...tls, cert, key } };
}
