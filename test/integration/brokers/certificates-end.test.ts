/** Certificates pass their end while clients write, and while a user connects anew all the time. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';
import { PATIENCE } from './fixture.ts';
import { NODES, startLiveCluster } from './live-cluster.ts';

/** Three nodes are to be restarted within three eighths of that: a machine that others use, too, needs longer. */
const VALIDITY_MS = 210_000 * Math.min(2.5, Math.max(1, loadavg()[0]! / (4 * availableParallelism())));

test('certificates pass their end: brokers load new ones, nodes are restarted in time, and no client notices', async (context) => {
  const certificateTimes = { validityMs: VALIDITY_MS, renewalMs: VALIDITY_MS };
  await using cluster = await startLiveCluster({}, { certificateTimes });
  const { bed, paceMs } = cluster;
  const ca = join(workspace('trust'), 'ca.crt');
  await writeFile(ca, await bed.secret('live-cluster-ca-cert', 'ca.crt'));
  const writing = await cluster.load('ending', 9094, { ca });
  const finish = cluster.reconnect();
  const [uids, first] = [await cluster.uids(), await Promise.all(NODES.map((id) => cluster.heldBy(id)))];
  const end = Math.max(...first.map(({ validTo }) => Date.parse(validTo)));
  const isLoaded = async () => {
    const { fingerprint256 } = await cluster.heldBy(NODES[0]!);
    return fingerprint256 !== first[0]!.fingerprint256 && cluster.isPresented(NODES[0]!);
  };
  await waitFor('a broker presents a new certificate', isLoaded, PATIENCE);
  assert.equal(await bed.podUid(NODES[0]!), uids[0], 'without a restart');
  context.diagnostic(`loaded ${end - Date.now()} ms before the end, of ${VALIDITY_MS} ms`);
  // What a node was started with is what its connections between controllers go on with.
  const isOver = async () => {
    const pods = await Promise.all(NODES.map((name) => bed.get('Pod', name)));
    for (const { metadata } of pods.flatMap((pod) => pod ?? [])) {
      const until = metadata.annotations?.['isthmus.dev/server-cert-until'] ?? '';
      assert.ok(Date.parse(until) > Date.now(), `${metadata.name} runs on what ended at ${until}`);
    }
    return Date.now() > end && pods.every((pod, index) => pod && pod.metadata.uid !== uids[index]);
  };
  await waitFor('all nodes were restarted, and the first certificates have ended', isOver, PATIENCE);
  const { longestMs, problems } = await finish();
  const lines = problems.join('; ');
  context.diagnostic(`started in ${paceMs} ms; longest time without a connection of a user: ${longestMs} ms (${lines})`); // prettier-ignore
  assert.ok(longestMs < paceMs, lines);
  await cluster.nothingIsLost(writing, 'ending');
});
