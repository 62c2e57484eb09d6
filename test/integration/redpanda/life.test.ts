/** The life of a Redpanda cluster of three brokers: made, rolled one at a time with the operator lost on the way, grown, and misled. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openAdmin } from '../../../src/kafka/admin/admin.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import { createAuthority } from '../../support/pki.ts';
import type { Authority } from '../../support/pki.ts';
import { PATIENCE } from '../brokers/fixture.ts';
import type { Bed } from '../brokers/fixture.ts';
import { cluster, podUids, startPlane, startRedpandaBed, untilQuiescent, untilRefused } from './fixture.ts';

const hostOf = (ordinal: number) => `panda-${ordinal}.panda.default.svc.cluster.local`;
const PLAIN = { port: 9092 };
const SECURE = { name: 'secure', port: 9192, tls: { enabled: true, nodeSecretRef: { name: 'panda-tls' } } };

describe('the life of a Redpanda cluster', () => {
  let bed: Bed;
  let authority: Authority;
  before(async () => {
    authority = await createAuthority('clients of panda');
    bed = await startRedpandaBed(await startPlane());
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const target = () => ({
    bootstrap: 'panda-cluster.default.svc:9092',
    topic: 'numbers',
    hostsFile: bed.runner.hostsFile,
    timeoutMs: 300_000,
  });
  const records = Array.from({ length: 100 }, (_, n) => ({ key: `k${n}`, value: `v${n}` }));
  const keysOf = (all: readonly { key: string | null }[]) => all.map(({ key }) => key ?? '').toSorted();
  const nothingIsLost = async () =>
    assert.deepEqual(keysOf(await consume('java', { ...target(), count: records.length })), keysOf(records));
  const panda = (spec: object = {}, configuration: object = {}) =>
    cluster('panda', { replicas: 3, ...spec }, configuration);

  test('three brokers become a cluster that takes replicated records', async () => {
    await bed.apply(panda());
    const { replicas, readyReplicas, nodes } = await untilQuiescent(bed, 'panda');
    assert.deepEqual({ replicas, readyReplicas }, { replicas: 3, readyReplicas: 3 });
    assert.deepEqual(
      nodes?.internal,
      [0, 1, 2].map((ordinal) => `${hostOf(ordinal)}:9092`),
    );
    for (const ordinal of [0, 1, 2])
      assert.ok(await bed.get('PersistentVolumeClaim', `datadir-panda-${ordinal}`));
    await produce('java', { ...target(), records });
    await nothingIsLost();
  });

  test('its pods are told about their nodes', async () => {
    const isTold = async () => {
      const annotations = (await bed.get('Pod', 'panda-0'))?.metadata.annotations ?? {};
      return annotations['isthmus.dev/node-address'] !== undefined && annotations['isthmus.dev/node-zone'];
    };
    assert.match(await waitFor('the pod is told', isTold, PATIENCE), /^zone-[a-d]$/);
  });

  test('another configuration restarts the brokers, one at a time, also when the operator is lost on the way', async () => {
    const { certPem, keyPem } = await authority.issue({ commonName: 'panda', dns: [0, 1, 2, 3].map(hostOf) });
    const data = { 'tls.crt': btoa(certPem), 'tls.key': btoa(keyPem) };
    await bed.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'panda-tls', namespace: 'default' }, data }); // prettier-ignore
    const old = await podUids(bed, 'panda', 3);
    let mostDown = 0;
    const over = new AbortController();
    const watching = (async () => {
      while (!over.signal.aborted) {
        mostDown = Math.max(mostDown, 3 - (await readyPods()));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })();
    const changed = async () => (await podUids(bed, 'panda', 3)).filter((uid, n) => uid !== undefined && uid !== old[n]); // prettier-ignore
    try {
      await bed.apply(panda({}, { kafkaApi: [PLAIN, SECURE] }));
      await waitFor('a broker was restarted', async () => (await changed()).length > 0, PATIENCE);
      await bed.restartOperator();
      await waitFor('all brokers were restarted', async () => (await changed()).length === 3, PATIENCE);
      await untilQuiescent(bed, 'panda');
    } finally {
      over.abort();
      await watching;
    }
    assert.equal(mostDown, 1);
    await nothingIsLost();
  });

  async function readyPods(): Promise<number> {
    const pods = await Promise.all([0, 1, 2].map((ordinal) => bed.get('Pod', `panda-${ordinal}`)));
    const isReady = (pod: unknown) => {
      const { status } = (pod ?? {}) as { status?: { conditions?: { type: string; status: string }[] } };
      return (status?.conditions ?? []).some((one) => one.type === 'Ready' && one.status === 'True');
    };
    return pods.filter(isReady).length;
  }

  /** Brokers as a client of the TLS listener finds them. */
  async function brokersByTls(): Promise<number[]> {
    const addressOf = (id: number) => ({ host: bed.runner.addressOf(`default/panda-${id}`)!, port: 9192, servername: hostOf(id) }); // prettier-ignore
    const admin = openAdmin({ bootstrap: [addressOf(0)], addressOf, tls: { ca: authority.certPem } });
    try {
      const { value } = await admin.cluster();
      return (value?.nodes ?? []).filter(({ fenced }) => !fenced).map(({ id }) => id).toSorted((a, b) => a - b); // prettier-ignore
    } finally {
      admin.close();
    }
  }

  test('a listener with TLS shows the certificate of its Secret', async () => {
    assert.deepEqual(await brokersByTls(), [0, 1, 2]);
  });

  test('another broker joins, and no other is restarted', async () => {
    const before = await podUids(bed, 'panda', 3);
    await bed.apply(panda({ replicas: 4 }, { kafkaApi: [PLAIN, SECURE] }));
    const { readyReplicas } = await untilQuiescent(bed, 'panda');
    assert.equal(readyReplicas, 4);
    assert.deepEqual(await podUids(bed, 'panda', 3), before);
    const hasJoined = async () => (await brokersByTls()).length === 4;
    await waitFor('the broker has joined', hasJoined, PATIENCE);
  });

  test('what cannot be is refused by its field, and the brokers run on', async () => {
    const before = await podUids(bed, 'panda', 4);
    const kafkaApi = [PLAIN, SECURE];
    await bed.apply(panda({ replicas: 3 }, { kafkaApi }));
    const shrunk = await untilRefused(bed, 'panda');
    assert.match(`${shrunk.reason} ${shrunk.message}`, /^ChangeNotPossible spec\.replicas: .*go back to 4/);
    await bed.apply(panda({ replicas: 4, storage: { capacity: '2Gi' } }, { kafkaApi }));
    assert.match((await untilRefused(bed, 'panda')).message, /^spec\.storage\.capacity: .*go back to 1Gi/);
    assert.deepEqual(await podUids(bed, 'panda', 4), before);
    const adminApi = [{}, { external: { enabled: true } }];
    await bed.apply(panda({ replicas: 4 }, { kafkaApi, adminApi }));
    const { conditions = [] } = await untilQuiescent(bed, 'panda');
    const quiescent = conditions.find(({ type }) => type === 'OperatorQuiescent');
    assert.match(quiescent?.message ?? '', /external connectivity of adminApi has no effect/);
    assert.deepEqual(await podUids(bed, 'panda', 4), before);
    await nothingIsLost();
  });
});
