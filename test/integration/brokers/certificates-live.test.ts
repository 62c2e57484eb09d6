/** The key of the cluster CA is replaced while clients write, and while a user connects anew all the time: three nodes, real TLS. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { requireTaken } from '../../../src/control/brokers/look/presented.ts';
import { messageOf } from '../../../src/ops/errors.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume } from '../../support/clients.ts';
import { startLoad } from '../../support/kafka/load.ts';
import type { Load } from '../../support/kafka/load.ts';
import { PATIENCE, entity, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const REPLICATED = {
  'default.replication.factor': 3,
  'min.insync.replicas': 2,
  'offsets.topic.replication.factor': 3,
  'offsets.topic.num.partitions': 1,
  'group.initial.rebalance.delay.ms': 0,
};
const LISTENERS = [
  { name: 'plain', port: 9092, type: 'internal', tls: false },
  { name: 'tls', port: 9093, type: 'internal', tls: true, authentication: { type: 'tls' } },
];
const NODES = [0, 1, 2].map((id) => `live-dual-${id}`);
const BOOTSTRAP = 'live-kafka-bootstrap.default.svc';

describe('certificates of a cluster under load', () => {
  let bed: Bed;
  /** How long this machine takes for three nodes. */
  let paceMs = 0;
  const loads: Load[] = [];
  const over = new AbortController();
  before(async () => {
    bed = await startBed({ nodes: ['a', 'b', 'c'].map((name) => ({ name })) });
  });
  after(async () => {
    over.abort();
    for (const load of loads) await load.stop();
    await bed?.[Symbol.asyncDispose]();
  });

  const load = async (topic: string): Promise<Load> => {
    const target = { bootstrap: `${BOOTSTRAP}:9092`, topic, hostsFile: bed.runner.hostsFile };
    const started = await startLoad(target);
    loads.push(started);
    await started.flows();
    return started;
  };
  const nothingIsLost = async (one: Load, topic: string) => {
    await one.flows();
    await one.stop();
    const { acknowledged, failed } = await one.seen();
    assert.deepEqual(failed, []);
    const target = { bootstrap: `${BOOTSTRAP}:9092`, topic, hostsFile: bed.runner.hostsFile };
    const all = await consume('java', { ...target, count: acknowledged.length, timeoutMs: 300_000 });
    const kept = new Set(all.map(({ value }) => value));
    assert.deepEqual(
      acknowledged.filter((value) => !kept.has(value)),
      [],
    );
  };
  const uids = () => Promise.all(NODES.map((name) => bed.podUid(name)));
  const asAlice = async (node: string) => ({
    host: bed.runner.addressOf(`default/${node}`)!,
    port: 9093,
    tls: {
      ca: await bed.secret('live-trustbundle', 'cluster-ca.crt'),
      servername: BOOTSTRAP,
      cert: await bed.secret('alice', 'user.crt'),
      key: await bed.secret('alice', 'user.key'),
    },
  });
  const heldBy = async (node: string) => new X509Certificate(await bed.secret(node, `${node}.crt`));

  /** Connects anew all the time with what the Secrets have; a node that is being restarted is passed over. Tells of the longest silence. */
  function startReconnecting() {
    const own = new AbortController();
    const ended = AbortSignal.any([own.signal, over.signal]);
    let [last, longestMs, problem] = [Date.now(), 0, ''];
    const running = (async () => {
      while (!ended.aborted) {
        for (const node of NODES)
          try {
            await requireTaken(await asAlice(node));
            longestMs = Math.max(longestMs, Date.now() - last);
            last = Date.now();
          } catch (error) {
            problem = messageOf(error);
          }
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    })();
    return async () => {
      own.abort();
      await running;
      return { longestMs: Math.max(longestMs, Date.now() - last), problem };
    };
  }

  test('three nodes start', async () => {
    const begun = Date.now();
    await bed.apply(
      kafka('live', { config: REPLICATED, listeners: LISTENERS }, { entityOperator: { userOperator: {} } }),
      nodePool('live', 'dual', { replicas: 3 }),
      entity('KafkaUser', 'alice', 'live', { authentication: { type: 'tls' } }),
    );
    await bed.untilReady('live');
    paceMs = Date.now() - begun;
    await waitFor(
      'alice has a certificate',
      async () => (await bed.secret('alice', 'user.crt')) !== '',
      PATIENCE,
    );
  });

  test('the key of the cluster CA is replaced while clients write', async (context) => {
    const writing = await load('replaced');
    const finish = startReconnecting();
    const [before, first] = [await uids(), await heldBy(NODES[0]!)];
    await bed.plane.kubectl(['annotate', 'secret', 'live-cluster-ca', '--overwrite', 'strimzi.io/force-replace=true']); // prettier-ignore
    const isReplaced = async () => {
      const bundle = await bed.secret('live-trustbundle', 'cluster-ca.crt');
      const held = await Promise.all(NODES.map(heldBy));
      const isNew = held.every(({ issuer }) => issuer !== first.issuer);
      return isNew && bundle.split('BEGIN').length === 2;
    };
    // Three times all nodes are restarted.
    await waitFor('only the new key is left', isReplaced, { ...PATIENCE, timeoutMs: 600_000 + 30 * paceMs });
    await bed.untilReady('live');
    const after = await uids();
    assert.ok(
      after.every((uid, index) => uid !== before[index]),
      'all were restarted',
    );
    const { longestMs, problem } = await finish();
    context.diagnostic(
      `started in ${paceMs} ms; longest time without a connection of a user: ${longestMs} ms (${problem})`,
    );
    assert.ok(longestMs < paceMs, problem);
    await nothingIsLost(writing, 'replaced');
  });
});
