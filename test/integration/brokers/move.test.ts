/** A whole Kafka is moved to another Kubernetes cluster by `isthmus move pool`, while a client writes to it: brokers, partitions and the vote. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume } from '../../support/clients.ts';
import type { OwnControlPlane } from '../../support/control-plane.ts';
import { longestStallMs } from '../../support/kafka/acknowledgements.ts';
import { startLoad } from '../../support/kafka/load.ts';
import type { Load } from '../../support/kafka/load.ts';
import type { ClusterSetNames } from '../../support/pods/runner.ts';
import { PATIENCE, annotated, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';
import { joinSecret, startPlane, startRemote, stopRemote } from './remote.ts';
import type { RemoteBed } from './remote.ts';

const STRETCHED = { 'strimzi.io/cross-cluster-type': 'isthmus', 'isthmus.dev/quorum': 'dynamic' };
const POD = { group: '', version: 'v1', kind: 'Pod' };
const OF_KAFKA = { namespace: 'default', labelSelector: 'strimzi.io/cluster=events' };

suite('a node pool that is moved to another cluster', { timeout: 1_800_000 }, () => {
  let bed: Bed;
  let central: OwnControlPlane;
  let east: RemoteBed;
  let load: Load | undefined;
  const names: ClusterSetNames = new Map();
  before(async () => {
    const starting = startRemote('east', names);
    central = await startPlane();
    const operator = { targets: { central: 'hub', remotes: [], isStretching: true, networkPolicies: true } };
    const clusterSet = { id: 'hub', names };
    bed = await startBed({ plane: central, nodes: [{ name: 'node-hub' }], clusterSet, operator });
    east = await starting;
    await bed.apply(joinSecret('east', east.kubeconfig));
    await bed.apply(annotated(kafka('events'), STRETCHED), nodePool('events', 'hub'));
    await bed.untilReady('events');
  });
  after(async () => {
    await load?.stop();
    await bed?.close();
    if (east) await stopRemote(east);
    await central?.stop();
  });

  const move = async (...args: string[]) => {
    let out = '';
    let err = '';
    const terminal = { out: (text: string) => void (out += text), err: (text: string) => void (err += text), exitCode: 0 as const }; // prettier-ignore
    const flags = ['--kubeconfig', central.kubeconfig, '-n', 'default'];
    const code = await runProgram(['move', 'pool', ...args, ...flags], terminal);
    return { code, out, err };
  };
  const podsIn = async (client: Bed['client']) =>
    (await client.list(POD, OF_KAFKA)).items.map(({ metadata }) => metadata.name);

  test('is refused where it cannot be, and nothing of it is left', async () => {
    const unknown = await move('hub', '--to', 'nowhere');
    assert.equal(unknown.code, 1);
    assert.match(unknown.err, /cannot be moved: UnknownCluster: .*no cluster "nowhere" was joined/);
    assert.equal(await bed.get('KafkaNodePool', 'hub-nowhere'), undefined);
    const missing = await move('hubb', '--to', 'east');
    assert.match(missing.err, /there is no KafkaNodePool hubb here/);
    await bed.untilReady('events');
  });

  test('is there, with all that it had, and clients have gone on', async () => {
    const bootstrap = 'events-kafka-bootstrap.default.svc.clusterset.local:9092';
    const target = { bootstrap, topic: 'numbers', hostsFile: bed.runner.hostsFile, timeoutMs: 300_000 };
    load = await startLoad(target);
    await load.flows();
    const began = performance.now();
    const begun = await move('hub', '--to', 'east');
    assert.equal(begun.code, 0, begun.err);
    assert.match(begun.out, /is being moved by the operator/);
    await bed.restartOperator();
    const { code, out, err } = await move('hub', '--to', 'east', '--wait');
    assert.equal(code, 0, err);
    assert.match(out, /KafkaNodePool hub is moved: its nodes are those of hub-east, in east/);
    console.log(`moved after ${((performance.now() - began) / 1000).toFixed(0)} s:\n${begun.err}${err}`);
    await waitFor(
      'nothing is left in the first',
      async () => (await podsIn(bed.client)).length === 0,
      PATIENCE,
    );
    assert.deepEqual(await podsIn(east.client), ['events-hub-east-1']);
    assert.equal(await bed.get('KafkaNodePool', 'hub'), undefined);
    await load.flows();
    await load.stop();
    const { acknowledged, failed } = await load.seen();
    load = undefined;
    console.log(
      `${acknowledged.length} records acknowledged, longest stall ${longestStallMs(acknowledged)} ms`,
    );
    assert.deepEqual(failed, []);
    const read = await consume('java', { ...target, count: acknowledged.length });
    const values = new Set(read.map(({ value }) => value));
    assert.deepEqual(acknowledged.filter(({ value }) => !values.has(value)), []); // prettier-ignore
    await bed.untilReady('events');
    assert.equal((await move('hub', '--to', 'east')).code, 0, 'run again, it says so again');
  });
});
