/**
 * Controllers that come and go (KIP-853) with real Kafka: a second one joins, loses its disk, has the whole cluster to itself, and in the end
 * is no broker any more.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { required } from '../../../src/kafka/admin/answer.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import { PATIENCE, annotated, asking, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const PODS = ['events-first-0', 'events-second-1', 'events-brokers-2'];
const DYNAMIC = { 'isthmus.dev/quorum': 'dynamic' };

describe('a Kafka whose controllers come and go', () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed({ nodes: [{ name: 'a' }, { name: 'b' }] });
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const records = Array.from({ length: 100 }, (_, n) => ({ key: `k${n}`, value: `v${n}` }));
  const target = () => ({
    bootstrap: 'events-kafka-bootstrap.default.svc:9092',
    topic: 't',
    hostsFile: bed.runner.hostsFile,
    timeoutMs: 300_000,
  });
  /** The ids of voters, each with that of its disk; nothing while nobody answers. */
  const voters = () =>
    asking(bed, PODS, async (admin) => {
      const { voters: all } = required(await admin.quorum());
      return new Map(all.map(({ id, directoryId }) => [id, directoryId]));
    }).catch(() => new Map<number, string>());
  /** Asked again and again: brokers restart, and who leads changes. */
  const untilVoters = async (...ids: number[]) => {
    let seen = new Map<number, string>();
    const isSo = async () => {
      seen = await voters();
      return [...seen.keys()].toSorted((a, b) => a - b).join() === ids.join();
    };
    await waitFor(`the voters are ${ids.join()}`, isSo, PATIENCE);
    return seen;
  };

  test('begins with those that it was made with', async () => {
    await bed.apply(annotated(kafka('events'), DYNAMIC), nodePool('events', 'first'));
    await bed.untilReady('events');
    await untilVoters(0);
    await produce('java', { ...target(), records });
  });

  test('has one more vote as soon as it has caught up, also after it has lost its disk', async () => {
    await bed.apply(nodePool('events', 'second'));
    const before = await untilVoters(0, 1);
    await bed.untilReady('events');
    const { code, stderr } = await bed.plane.kubectl(['annotate', 'pod', PODS[1]!, 'strimzi.io/delete-pod-and-pvc=true']); // prettier-ignore
    assert.equal(code, 0, stderr);
    const hasOther = async () => {
      const directory = (await voters()).get(1);
      return directory !== undefined && directory !== before.get(1);
    };
    await waitFor('the controller votes with another disk', hasOther, PATIENCE);
    await bed.untilReady('events');
  });

  test('gives the vote of one that goes to the others, though the operator is replaced meanwhile, and loses nothing', async () => {
    await bed.apply(nodePool('events', 'first', { replicas: 0 }));
    await bed.restartOperator();
    const isGone = async () => (await bed.podUid(PODS[0]!)) === undefined;
    await waitFor('the first node is gone', isGone, PATIENCE);
    await untilVoters(1);
    await bed.untilReady('events');
    assert.deepEqual(await consume('java', { ...target(), count: 100 }), records);
  });

  test('may have its last one be a controller only, which votes with the disk that it has', async () => {
    const before = await untilVoters(1);
    const brokers = nodePool('events', 'brokers', { roles: ['broker'] });
    await bed.apply(
      annotated(brokers, { 'strimzi.io/next-node-ids': '[2]' }),
      nodePool('events', 'second', { roles: ['controller'] }),
    );
    const isController = async () =>
      (await bed.get('Pod', PODS[1]!))?.metadata.labels?.['strimzi.io/broker-role'] === 'false';
    await waitFor('it is a controller only', isController, PATIENCE);
    await bed.untilReady('events');
    assert.deepEqual(await untilVoters(1), before);
    assert.deepEqual(await consume('java', { ...target(), count: 100 }), records);
  });

  test('stays so: what was chosen when it was made cannot be changed', async () => {
    await bed.apply(annotated(kafka('events'), { 'isthmus.dev/quorum': 'static' }));
    const isRefused = async () => (await bed.condition('events', 'Accepted'))?.reason === 'ChangeNotPossible';
    await waitFor('the change is refused', isRefused, PATIENCE);
    await untilVoters(1);
  });
});
