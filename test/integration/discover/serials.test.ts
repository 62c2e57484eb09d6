/** Replicas of the DNS server and the serials of their zones: a real API server with the rights of the manifests. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { dnsManifests } from '../../../src/control/discover/install.ts';
import { openSerials } from '../../../src/control/discover/serials.ts';
import type { Serials } from '../../../src/control/discover/serials.ts';
import { createCluster } from '../../../src/kube/cluster.ts';
import { loadConnection } from '../../../src/kube/http/kubeconfig.ts';
import { createLog } from '../../../src/ops/log.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { readReply } from '../../support/dns/testing.ts';
import { askAll } from '../dns/ask.ts';
import { startOurs } from '../dns/server.ts';
import type { TestServer } from '../dns/server.ts';
import { apply } from './site.ts';

const NAMESPACE = 'isthmus-system';
const ZONE = 'example.test';
const log = createLog(process.env['ISTHMUS_LOG'] ? 'debug' : 'silent');
const PATIENT = { timeoutMs: 180_000, everyMs: 50 };

interface Replica extends AsyncDisposable {
  server: TestServer;
  serials: Serials;
  /** Serves this address. */
  put(address: string): void;
  serial(): Promise<number>;
}

suite('serials of zones', () => {
  let plane: ControlPlane;
  let account: string;

  before(async () => {
    plane = await startControlPlane();
    const options = { image: 'isthmus', replicas: 2, config: '', imports: false, tsig: false };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    await apply(plane, namespace, ...dnsManifests({ namespace: NAMESPACE, reach: 'pods', ...options }));
    account = await plane.userKubeconfig(`system:serviceaccount:${NAMESPACE}:isthmus-dns`);
  });
  after(() => plane?.stop());

  async function startReplica(): Promise<Replica> {
    const server = await startOurs({ zones: [{ name: ZONE }] }, { serials: 'given' });
    const cluster = createCluster({ name: 'local', connection: loadConnection({ file: account }), log });
    const serials = openSerials({ cluster, namespace: NAMESPACE, versions: server.versions, log });
    await serials.read;
    return {
      server,
      serials,
      put: (data) => void server.upsert('a', [{ name: `a.${ZONE}`, type: 'A', data }]),
      async serial() {
        const [bytes] = await askAll(server.port, [{ name: ZONE, type: 'SOA' }]);
        return Number(readReply(bytes!).answer[0]!.split(' ')[5]);
      },
      async [Symbol.asyncDispose]() {
        serials.stop();
        await cluster.stop();
        await server.close();
      },
    };
  }

  /** Writes them down as the leader does, until it is disposed of. */
  function lead({ serials }: Replica): AsyncDisposable {
    const over = new AbortController();
    const writing = serials.write(over.signal);
    return {
      async [Symbol.asyncDispose]() {
        over.abort();
        await writing;
      },
    };
  }

  async function untilSame(replicas: readonly Replica[], above: number): Promise<number> {
    let shown: number[] = [];
    await waitFor(
      `one serial above ${above}`,
      async () => {
        shown = await Promise.all(replicas.map((one) => one.serial()));
        for (const serial of shown) assert.ok(serial >= above, `${serial} is before ${above}`);
        return new Set(shown).size === 1 && shown[0]! > above;
      },
      PATIENT,
    );
    return shown[0]!;
  }

  test('are the same in all replicas, go on under another leader, and over restarts', async () => {
    await using one = await startReplica();
    await using two = await startReplica();
    for (const replica of [one, two]) replica.put('10.0.0.1');
    // What is written down is not before what replicas made from the time, when they did so.
    assert.equal(await one.serial(), await two.serial());
    const started = Math.floor(Date.now() / 1000) - 3600;
    let serial = 0;
    {
      await using stack = new AsyncDisposableStack();
      stack.use(lead(one));
      serial = await untilSame([one, two], 1);
      assert.ok(serial > started);
      for (const replica of [two, one]) replica.put('10.0.0.2');
      serial = await untilSame([one, two], serial);
    }
    await using stack = new AsyncDisposableStack();
    stack.use(lead(two));
    for (const replica of [one, two]) replica.put('10.0.0.3');
    serial = await untilSame([one, two], serial);
    await using restarted = await startReplica();
    assert.equal(await restarted.serial(), serial, 'before it has any records');
    restarted.put('10.0.0.3');
    for (const replica of [one, two, restarted]) replica.put('10.0.0.4');
    await untilSame([one, two, restarted], serial);
  });
});
