/** Volumes that are to become larger: where their class lets them, and where it does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { PATIENCE, kafka, nodePool, startBed } from './fixture.ts';

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
