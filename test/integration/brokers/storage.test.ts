/** Volumes that are to become larger, where their class lets them and where it does not; and nodes that are to have more of them, or fewer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { required } from '../../../src/kafka/admin/answer.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import { PATIENCE, asking, entity, kafka, nodePool, startBed } from './fixture.ts';
import { untilReason } from './shop.ts';

const storageClass = (name: string, allowVolumeExpansion: boolean) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name },
  provisioner: 'example.com/disks',
  allowVolumeExpansion,
});

const pool = (name: string, size: string, roles: string[]) =>
  nodePool('one', name, { roles, storage: { type: 'persistent-claim', size, class: name } });

interface Claim {
  spec: { resources: { requests: { storage: string } } };
  status?: { capacity?: { storage?: string } };
}

test('a volume grows where its class can; where it cannot, that is said, and taking it back heals', async () => {
  await using bed = await startBed({ nodes: [{ name: 'a' }, { name: 'b' }] });
  const elastic = (size: string) => pool('elastic', size, ['controller', 'broker']);
  const fixed = (size: string) => pool('fixed', size, ['broker']);
  await bed.apply(
    storageClass('elastic', true),
    storageClass('fixed', false),
    kafka('one'),
    elastic('1Gi'),
    fixed('1Gi'),
  );
  await bed.untilReady('one');
  const sizes = async (name: string) => {
    const { spec, status } = (await bed.get('PersistentVolumeClaim', name)) as unknown as Claim;
    return [spec.resources.requests.storage, status?.capacity?.storage];
  };
  const pods = () => Promise.all(['one-elastic-0', 'one-fixed-1'].map((name) => bed.podUid(name)));
  const before = await pods();

  await bed.apply(elastic('2Gi'), fixed('2Gi'));
  const hasGrown = async () => (await sizes('data-one-elastic-0')).join() === '2Gi,2Gi';
  await waitFor('the volume to grow', hasGrown, PATIENCE);
  const isDenied = async () => (await bed.condition('one', 'Ready'))?.reason === 'Denied';
  await waitFor('the refusal to be told', isDenied, PATIENCE);
  const { message = '', status } = (await bed.condition('one', 'Ready')) ?? {};
  assert.equal(status, 'False');
  assert.match(message, /data-one-fixed-1.*only dynamically provisioned pvc can be resized/);
  assert.deepEqual(await sizes('data-one-fixed-1'), ['1Gi', '1Gi']);

  await bed.apply(fixed('1Gi'));
  const isReady = async () => (await bed.condition('one', 'Ready'))?.reason === 'Ready';
  await waitFor('it to be ready again', isReady, PATIENCE);
  assert.deepEqual(await sizes('data-one-fixed-1'), ['1Gi', '1Gi']);
  assert.deepEqual(await sizes('data-one-elastic-0'), ['2Gi', '2Gi']);
  assert.deepEqual(await pods(), before, 'nothing is restarted for it');
});

test('a jbod gets one more volume and keeps its records, and none is taken away from it', async () => {
  await using bed = await startBed({ nodes: [{ name: 'a' }] });
  const jbod = (...ids: number[]) => {
    const volumes = ids.map((id) => ({ id, type: 'persistent-claim', size: '1Gi', ...(id === 0 && { kraftMetadata: 'shared' }) })); // prettier-ignore
    return nodePool('one', 'dual', { storage: { type: 'jbod', volumes } });
  };
  const target = {
    bootstrap: 'one-kafka-bootstrap.default.svc:9092',
    topic: 'numbers',
    hostsFile: bed.runner.hostsFile,
    timeoutMs: 300_000,
  };
  const topic = entity('KafkaTopic', 'numbers', 'one', { partitions: 4, replicas: 1 });
  const records = Array.from({ length: 20 }, (_, index) => ({ key: `k${index}`, value: `v${index}` }));
  const written = new Set(records.map(({ value }) => value));
  const kept = async () => {
    const read = await consume('java', { ...target, count: records.length });
    return new Set(read.map(({ value }) => value));
  };
  /** How many log dirs have partitions of the topic, of how many. */
  const spread = () =>
    asking(bed, ['one-dual-0'], async (admin) => {
      const dirs = required(await admin.logDirs(0));
      const isHere = ({ topic: name }: { topic: string }) => name === 'numbers';
      return [dirs.filter(({ replicas }) => replicas.some(isHere)).length, dirs.length];
    });
  await bed.apply(kafka('one', {}, { entityOperator: { topicOperator: {} } }), jbod(0, 1), topic);
  await bed.untilReady('one');
  await untilReason(bed, 'KafkaTopic', 'numbers');
  await produce('java', { ...target, records });
  assert.deepEqual(await spread(), [2, 2]);

  await bed.apply(jbod(0, 1, 2));
  // It is restarted for that, and cannot be asked meanwhile.
  const hasThree = async () => (await spread().catch(() => []))[1] === 3;
  await waitFor('the node to run with three volumes', hasThree, PATIENCE);
  await bed.untilReady('one');
  assert.deepEqual(await kept(), written);
  const uid = await bed.podUid('one-dual-0');

  await bed.apply(jbod(0, 2));
  const isRefused = async () => (await bed.condition('one', 'Accepted'))?.reason === 'ChangeNotPossible';
  await waitFor('the removal to be refused', isRefused, PATIENCE);
  assert.match((await bed.condition('one', 'Accepted'))?.message ?? '', /volume data-1 cannot be removed/);
  assert.deepEqual(await kept(), written);
  assert.equal(await bed.podUid('one-dual-0'), uid, 'nothing is restarted for it');
  await bed.apply(jbod(0, 1, 2));
  await bed.untilReady('one');
});
