/** One Kafka over three real API servers, each with its own pods and its own pod-set controller; one of them is cut off and comes back. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { STRETCH_RIGHTS } from '../../../src/control/install/rbac.ts';
import { rulesOf } from '../../../src/control/kernel/rights.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { VERSION } from '../../../src/ops/version.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import type { OwnControlPlane } from '../../support/control-plane.ts';
import type { ClusterSetNames } from '../../support/pods/runner.ts';
import { rightsOf } from '../control/audit.ts';
import { adminOf, runOperator } from '../control/harness.ts';
import { PATIENCE, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';
import { joinSecret, startPlane, startRemote, stopRemote } from './remote.ts';
import type { RemoteBed } from './remote.ts';

const REMOTES = ['east', 'west'] as const;
type RemoteName = (typeof REMOTES)[number];

/** What these tests do not come to. */
const isForRareCases = (right: string) =>
  // Whatever it makes, a stranger may have changed beyond repair by apply.
  (right.startsWith('update ') && !right.startsWith('update kafkaanchors.')) ||
  // Of a node that goes while the Kafka stays.
  /^delete (?!kafkaanchors\.|pods$)/.test(right) ||
  // Told of certificates that it has loaded while it runs.
  right === 'patch pods';

const stretchedKafka = (
  config: Record<string, string | number> = {},
  annotations: Record<string, string> = {},
): AnyObject => {
  const one = kafka('events', { config: { 'min.insync.replicas': 1, 'default.replication.factor': 3, 'offsets.topic.replication.factor': 3, 'offsets.topic.num.partitions': 1, ...config } }); // prettier-ignore
  return {
    ...one,
    metadata: {
      ...one.metadata,
      annotations: { 'strimzi.io/cross-cluster-type': 'isthmus', ...annotations },
    },
  };
};

const CORE = { group: '', version: 'v1' };
const KINDS = [
  { ...CORE, kind: 'Pod' },
  { ...CORE, kind: 'Secret' },
  { ...CORE, kind: 'ConfigMap' },
  { ...CORE, kind: 'Service' },
  { ...CORE, kind: 'ServiceAccount' },
  { group: 'core.strimzi.io', version: 'v1', kind: 'StrimziPodSet' },
  { group: 'isthmus.dev', version: 'v1alpha1', kind: 'KafkaAnchor' },
  { group: 'multicluster.x-k8s.io', version: 'v1beta1', kind: 'ServiceExport' },
  { group: 'networking.k8s.io', version: 'v1', kind: 'NetworkPolicy' },
  { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' },
];
const OF_KAFKA = { namespace: 'default', labelSelector: 'strimzi.io/cluster=events' };

suite('a Kafka over three API servers', { timeout: 1_800_000 }, () => {
  let bed: Bed;
  let central: OwnControlPlane;
  const remotes = new Map<RemoteName, RemoteBed>();
  const names: ClusterSetNames = new Map();
  const operator = {
    targets: { central: 'hub', remotes: [], isStretching: true, networkPolicies: true },
    // Long enough for the time in which kubelets bring a changed Secret to be short.
    certificateTimes: { validityMs: 365 * 86_400_000, renewalMs: 60_000 },
  };
  /** Planes of former centrals. */
  const former: OwnControlPlane[] = [];
  before(async () => {
    const starts = REMOTES.map(async (name) => [name, await startRemote(name, names)] as const);
    central = await startPlane();
    const clusterSet = { id: 'hub', names };
    bed = await startBed({ plane: central, nodes: [{ name: 'node-hub' }], clusterSet, operator });
    for (const [name, remote] of await Promise.all(starts)) remotes.set(name, remote);
    await bed.apply(...REMOTES.map((name) => joinSecret(name, remotes.get(name)!.kubeconfig)));
  });
  after(async () => {
    await bed?.close();
    for (const remote of remotes.values()) await stopRemote(remote);
    await Promise.all([central, ...former].map((plane) => plane?.stop()));
  });

  const podsIn = async (client: Client) =>
    (await client.list({ ...CORE, kind: 'Pod' }, OF_KAFKA)).items.map(({ metadata }) => metadata);
  const configIn = async (client: Client, node: string) => {
    const found = await client.get({ ...CORE, kind: 'ConfigMap' }, { namespace: 'default', name: node });
    return ((found?.['data'] ?? {}) as Record<string, string>)['server.config'] ?? '';
  };

  test('comes up, and takes what clients send by names of the whole set', async () => {
    await bed.apply(
      stretchedKafka(),
      nodePool('events', 'hub'),
      ...REMOTES.map((cluster) => nodePool('events', cluster, { cluster })),
    );
    await bed.untilReady('events');
    for (const { client } of remotes.values()) {
      assert.equal((await podsIn(client)).length, 1);
      const { items } = await client.list({ ...CORE, kind: 'Secret' }, OF_KAFKA);
      assert.ok(items.every(({ metadata }) => metadata.labels?.['isthmus.dev/authority'] === undefined));
      assert.ok(!items.some((secret) => Object.keys(secret['data'] ?? {}).includes('ca.key')));
    }
    const bootstrap = 'events-kafka-bootstrap.default.svc.clusterset.local:9092';
    const target = { bootstrap, topic: 't', hostsFile: bed.runner.hostsFile, timeoutMs: 300_000 };
    await produce('java', { ...target, records });
    assert.deepEqual(await consume('java', { ...target, count: 100 }), records);
    type Told = { name: string; controllerVersion?: string };
    const told = async () => ((await bed.get('KafkaAnchor', 'events'))?.['status'] as { targets?: Told[] } | undefined)?.targets ?? []; // prettier-ignore
    const isSaid = ({ name, controllerVersion }: Told) => name === 'hub' || controllerVersion === VERSION;
    await waitFor('versions of pod-set controllers', async () => (await told()).every(isSaid), PATIENCE);
    assert.equal((await told()).length, 3);
  });
  const records = Array.from({ length: 100 }, (_, n) => ({ key: `k${n}`, value: `v${n}` }));

  test('a cluster that is silently cut holds up no other, and takes part again when it is back', async () => {
    const { plane, client: east } = remotes.get('east')!;
    const { client: west } = remotes.get('west')!;
    const before = new Map<Client, string | undefined>();
    for (const client of [bed.client, east, west]) before.set(client, (await podsIn(client))[0]?.uid);
    plane.pause();
    await waitFor(
      'the cut is told',
      async () => (await bed.condition('events', 'Ready'))?.reason === 'ClusterUnreachable',
      PATIENCE,
    );
    assert.equal((await bed.condition('events', 'Ready'))?.status, 'True');
    await bed.apply(stretchedKafka({ 'queued.max.requests': 400 }));
    const appliedAt = performance.now();
    const isChanged = async (client: Client, node: string) =>
      (await configIn(client, node)).includes('queued.max.requests=400');
    await waitFor('the others are changed', async () => (await isChanged(west, 'events-west-2')) && isChanged(bed.client, 'events-hub-1'), PATIENCE); // prettier-ignore
    const tookMs = Math.round(performance.now() - appliedAt);
    console.log(`a change reached the others after ${tookMs} ms`);
    assert.ok(tookMs < 5000, `a change reached the others after ${tookMs} ms only`);
    await waitFor(
      'no node is restarted meanwhile, and that is told',
      async () => (await bed.condition('events', 'Ready'))?.reason === 'RollBlocked',
      PATIENCE,
    );
    for (const client of [bed.client, west]) assert.equal((await podsIn(client))[0]?.uid, before.get(client));
    plane.resume();
    await bed.untilReady('events');
    assert.ok(await isChanged(east, 'events-east-0'));
    for (const [client, uid] of before) assert.notEqual((await podsIn(client))[0]?.uid, uid);
  });

  type Anchored = { clusterId: string; epoch: number };
  const anchorIn = async (client: Client) => {
    const kind = { group: 'isthmus.dev', version: 'v1alpha1', kind: 'KafkaAnchor' };
    return (await client.get(kind, { namespace: 'default', name: 'events' }))?.['spec'] as Anchored;
  };

  const adopt = async (...args: string[]) => {
    const written = { out: '', err: '' };
    const flags = ['--kubeconfig', central.kubeconfig, '-n', 'default', '--isthmus-namespace', 'default'];
    const code = await runProgram(['adopt', 'events', ...args, ...flags], {
      out: (text) => void (written.out += text),
      err: (text) => void (written.err += text),
      exitCode: 0,
    });
    return { code, ...written };
  };

  test('a new central cluster takes it over from the others, though it has neither anchor nor keys, and replaces what was lost', async () => {
    const { client: east } = remotes.get('east')!;
    const { clusterId, epoch } = await anchorIn(east);
    const uid = (await podsIn(east))[0]?.uid;
    // With all that it had: its node of Kafka, too.
    await bed.close();
    former.push(central);
    central = await startPlane();
    const clusterSet = { id: 'hub', names };
    bed = await startBed({ plane: central, nodes: [{ name: 'node-hub' }], clusterSet, operator });
    await bed.apply(...REMOTES.map((name) => joinSecret(name, remotes.get(name)!.kubeconfig)));
    await bed.apply(stretchedKafka(), nodePool('events', 'hub'), ...REMOTES.map((cluster) => nodePool('events', cluster, { cluster }))); // prettier-ignore
    await waitFor('it says how to take it over', async () => (await bed.condition('events', 'Accepted'))?.message.includes(`isthmus.dev/adopt=${clusterId}`), PATIENCE); // prettier-ignore
    assert.equal(await bed.get('KafkaAnchor', 'events'), undefined);
    const planned = await adopt('--dry-run');
    assert.match(planned.out, new RegExp(`nothing was done; next: Kafka events \\(${clusterId}\\) is taken over: 3 nodes, known from east, west`)); // prettier-ignore
    assert.equal((await bed.get('Kafka', 'events'))?.metadata.annotations?.['isthmus.dev/adopt'], undefined);
    const began = performance.now();
    const begun = await adopt();
    assert.equal(begun.code, 0, begun.err);
    assert.match(begun.out, /is being taken over by the operator/);
    const after = () => `${((performance.now() - began) / 1000).toFixed(0)} s`;
    await waitFor('the others know', async () => (await anchorIn(east)).epoch === epoch + 1, PATIENCE);
    assert.equal((await podsIn(east))[0]?.uid, uid, 'it runs on');
    await waitFor('its own node has a certificate', async () => (await bed.podUid('events-hub-1')) !== undefined, PATIENCE); // prettier-ignore
    console.log(`taken over, and the lost node back after ${after()}`);
    const lost = async () => (await bed.condition('events', 'Ready'))?.message.includes('DiskLost');
    await waitFor('its disk is missed', lost, PATIENCE);
    const { code, stderr } = await central.kubectl(['annotate', 'pod', 'events-hub-1', 'strimzi.io/delete-pod-and-pvc=true']); // prettier-ignore
    assert.equal(code, 0, stderr);
    await bed.untilReady('events');
    console.log(`all keys replaced, everything restarted with them, after ${after()}`);
    assert.match((await adopt('--wait')).out, /is run from here, and all of its keys are new/);
    for (const { client } of remotes.values()) assert.equal((await anchorIn(client)).clusterId, clusterId);
    assert.notEqual((await podsIn(east))[0]?.uid, uid);
    const target = { bootstrap: 'events-kafka-bootstrap.default.svc.clusterset.local:9092', topic: 't', hostsFile: bed.runner.hostsFile, timeoutMs: 300_000 }; // prettier-ignore
    assert.deepEqual(await consume('java', { ...target, count: 100 }), records);
  });

  test('the former central, should it come back, has lost it, and changes nothing anywhere', async () => {
    const [plane] = former as [OwnControlPlane];
    const { client: east } = remotes.get('east')!;
    const seen = async () => [(await podsIn(east)).map(({ uid }) => uid), await anchorIn(east)];
    const before = await seen();
    const client = adminOf(plane);
    const again = await runOperator(plane, { roads: ['kafka'], ...operator });
    try {
      const type = { group: 'kafka.strimzi.io', version: 'v1', kind: 'Kafka' };
      const isLost = async () =>
        JSON.stringify((await client.get(type, { namespace: 'default', name: 'events' }))?.['status'] ?? {}).includes('RunByAnother'); // prettier-ignore
      await waitFor('it says that another has it', isLost, PATIENCE);
      assert.deepEqual(await seen(), before);
    } finally {
      await again.stop();
      await client.close();
    }
  });

  test('deleted, it leaves nothing but disks, and in the central cluster the anchor by which a Kafka of this name finds them', async () => {
    const { code, stderr } = await central.kubectl(['delete', 'kafka', 'events', '--wait=false']);
    assert.equal(code, 0, stderr);
    await waitFor(
      'the Kafka is gone',
      async () => (await bed.get('Kafka', 'events')) === undefined,
      PATIENCE,
    );
    for (const client of [bed.client, ...[...remotes.values()].map((remote) => remote.client)]) {
      const kept = client === bed.client ? ['KafkaAnchor events'] : [];
      const left = async () => {
        const lists = KINDS.map(async (kind) => (await client.list(kind, OF_KAFKA)).items.map(({ metadata }) => `${kind.kind} ${metadata.name}`)); // prettier-ignore
        return (await Promise.all(lists)).flat();
      };
      await waitFor('all else is gone', async () => (await left()).join() === kept.join(), PATIENCE).catch(
        async (error) => assert.fail(`${String(error)}: ${(await left()).join()}`),
      );
      const claims = await client.list({ ...CORE, kind: 'PersistentVolumeClaim' }, OF_KAFKA);
      assert.equal(claims.items.length, 1);
    }
  });

  test('all of this took the rights of a joined cluster, no others, and all of them', async () => {
    const granted = [...rightsOf(rulesOf(STRETCH_RIGHTS))];
    const audits = [...remotes.values()].map(({ audit }) => audit);
    const idle = () => {
      const used = new Set(audits.flatMap((audit) => [...audit.used()]));
      return granted.filter((right) => !used.has(right) && !isForRareCases(right));
    };
    // The server answers first, and writes the log then.
    await waitFor('the log', async () => idle().length === 0, { timeoutMs: 30_000 }).catch(() => {});
    assert.deepEqual(idle(), []);
    assert.deepEqual(audits.flatMap((audit) => audit.refused()), []); // prettier-ignore
  });
});
