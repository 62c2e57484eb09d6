/** Nobody renewed anything in time: the CA has ended, nodes trust nothing else, and its key is replaced on top of it. */
import assert from 'node:assert/strict';
import { availableParallelism, loadavg } from 'node:os';
import { test } from 'node:test';
import { readNodeAnnotations } from '../../../src/pki/bundle.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import { PATIENCE, kafka, nodePool, startBed } from './fixture.ts';

/** Three nodes have to be up by then: a machine that others use, too, needs longer. */
const VALIDITY_MS = 40_000 * Math.min(6, Math.max(1, loadavg()[0]! / (2 * availableParallelism())));
const NODES = [0, 1, 2].map((id) => `late-dual-${id}`);
const CONFIG = {
  'default.replication.factor': 3,
  'min.insync.replicas': 2,
  'offsets.topic.replication.factor': 3,
  'offsets.topic.num.partitions': 1,
  'group.initial.rebalance.delay.ms': 0,
};

test('a CA ends while nodes trust it alone: they are restarted one at a time, and nothing is lost', async (context) => {
  const nodes = ['a', 'b', 'c'].map((name) => ({ name }));
  // Nothing is due until it is too late.
  const operator = { certificateTimes: { validityMs: VALIDITY_MS, renewalMs: 1000 } };
  await using bed = await startBed({ nodes, operator });
  // Nobody answers a broker that wants to leave in good order.
  const template = { pod: { terminationGracePeriodSeconds: 10 } };
  await bed.apply(kafka('late', { config: CONFIG }), nodePool('late', 'dual', { replicas: 3, template }));
  await bed.untilReady('late');
  const target = {
    bootstrap: 'late-kafka-bootstrap.default.svc:9092',
    topic: 't',
    hostsFile: bed.runner.hostsFile,
    timeoutMs: 300_000,
  };
  const records = Array.from({ length: 100 }, (_, i) => ({ key: `k${i}`, value: `v${i}` }));
  await produce('java', { ...target, records });
  const pods = () => Promise.all(NODES.map((name) => bed.get('Pod', name)));
  const first = await pods();
  const ends = first.map((pod) => readNodeAnnotations(pod!.metadata.annotations ?? {}).until!.getTime());
  const end = Math.max(...ends);
  context.diagnostic(`up ${end - Date.now()} ms before the end, of ${VALIDITY_MS} ms`);
  assert.ok(end > Date.now(), 'this machine took longer for the start than certificates live');

  const usual = { validityMs: 24 * 3_600_000, renewalMs: 3_600_000 };
  await bed.restartOperator({ certificateTimes: usual }, async () => {
    await waitFor('the end of all certificates', async () => Date.now() > end, PATIENCE);
    await bed.plane.kubectl(['annotate', 'secret', 'late-cluster-ca', 'strimzi.io/force-replace=true']);
  });
  const isOver = async () =>
    (await pods()).every((pod, at) => pod && pod.metadata.uid !== first[at]!.metadata.uid);
  await waitFor('all nodes were restarted', isOver, PATIENCE);
  await bed.untilReady('late');
  context.diagnostic(`ready again ${Date.now() - end} ms after the end`);
  assert.deepEqual(await consume('java', { ...target, count: 100 }), records);
});
