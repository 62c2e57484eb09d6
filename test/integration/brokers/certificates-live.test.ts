/** The key of the cluster CA is replaced while clients write, and while a user connects anew all the time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { PATIENCE } from './fixture.ts';
import { NODES, startLiveCluster } from './live-cluster.ts';

test('the key of the cluster CA is replaced while clients write', async (context) => {
  await using cluster = await startLiveCluster();
  const { bed, paceMs } = cluster;
  const writing = await cluster.load('replaced', 9092);
  const finish = cluster.reconnect();
  const [before, first] = [await cluster.uids(), await cluster.heldBy(NODES[0]!)];
  await bed.plane.kubectl(['annotate', 'secret', 'live-cluster-ca', '--overwrite', 'strimzi.io/force-replace=true']); // prettier-ignore
  const isReplaced = async () => {
    const bundle = await bed.secret('live-trustbundle', 'cluster-ca.crt');
    const held = await Promise.all(NODES.map((node) => cluster.heldBy(node)));
    const isNew = held.every(({ issuer }) => issuer !== first.issuer);
    return isNew && bundle.split('BEGIN').length === 2;
  };
  // Three times all nodes are restarted.
  await waitFor('only the new key is left', isReplaced, { ...PATIENCE, timeoutMs: 600_000 + 30 * paceMs });
  await bed.untilReady('live');
  const after = await cluster.uids();
  assert.ok(
    after.every((uid, index) => uid !== before[index]),
    'all were restarted',
  );
  const { longestMs, problems } = await finish();
  const lines = problems.join('; ');
  context.diagnostic(`started in ${paceMs} ms; longest time without a connection of a user: ${longestMs} ms (${lines})`); // prettier-ignore
  assert.ok(longestMs < paceMs, lines);
  await cluster.nothingIsLost(writing, 'replaced');
});
