/** Two replicas of `isthmus dns` as processes beside one real API server: a name stays with whom it is served for, whichever dies. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { dnsManifests } from '../../../src/control/discover/install.ts';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { startServer, waitFor } from '../../../src/store/embedded/process.ts';
import type { Server } from '../../../src/store/embedded/process.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { apply, asking, expectEvent, service } from './site.ts';
import type { Site } from './site.ts';

const MAIN = join(import.meta.dirname, '../../../src/main.ts');
const NAMESPACE = 'isthmus-system';
const PATIENT = { timeoutMs: 180_000, everyMs: 200 };
const [OLD, YOUNG] = ['10.96.7.81', '10.96.7.80'];

interface Replica {
  ask: Site['ask'];
  leads(): Promise<boolean>;
  stop(signal: NodeJS.Signals): Promise<void>;
}

suite('two replicas', () => {
  const ends = new AsyncDisposableStack();
  let plane: ControlPlane;
  let account: string;
  let started = 0;
  let leader: Replica;
  let follower: Replica;

  before(async () => {
    plane = ends.use(await startControlPlane());
    const options = { image: 'isthmus', replicas: 2, config: '', imports: undefined, reach: 'pods' as const };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    await apply(plane, namespace, ...dnsManifests({ namespace: NAMESPACE, ...options }));
    account = await plane.userKubeconfig(`system:serviceaccount:${NAMESPACE}:isthmus-dns`);
    await apply(plane, service('old', undefined, { clusterIP: OLD }));
    // Ages count in whole seconds.
    await delay(1100);
  });
  after(() => ends.disposeAsync());

  /** Starts one, and waits until it answers. */
  async function start(): Promise<Replica> {
    const ports = ends.use(await reservePorts(2));
    const [port = 0, managementPort = 0] = ports.numbers;
    const name = `replica-${++started}`;
    const config = join(plane.directory, `${name}.yaml`);
    const kubernetes = { clusterId: 'west', kubeconfig: account, secretsNamespace: NAMESPACE };
    const management = { host: '127.0.0.1', port: managementPort };
    const document = { listen: [`127.0.0.1:${port}`], zones: [{ name: 'xcc.test' }], management, kubernetes };
    await writeFile(config, stringify(document));
    const args = [MAIN, 'dns', '--config', config];
    const logFile = join(plane.directory, `${name}.log`);
    const server: Server = startServer(name, process.execPath, args, { logFile });
    ends.defer(() => server.stop());
    const get = async (path: string) => fetch(`http://127.0.0.1:${managementPort}/${path}`);
    const isReady = async () => (await get('readyz').catch(() => undefined))?.status === 200;
    const abort = () => (server.running ? undefined : `it ended; log: ${logFile}`);
    await waitFor(`${name} to be ready`, isReady, { ...PATIENT, abort });
    return {
      ask: asking(port),
      leads: async () => /^isthmus_dns_leader 1$/m.test(await (await get('metrics')).text()),
      stop: (signal) => server.stop(signal),
    };
  }

  const grants = async () => {
    const label = 'connectivity.tanzu.vmware.com/grants';
    const path = 'jsonpath={.items[*].data}';
    return (await plane.kubectl(['get', 'configmap', '-n', NAMESPACE, '-l', label, '-o', path])).stdout;
  };
  const untilGranted = (name: string, to: string) =>
    waitFor(
      `${name} to be granted to ${to}`,
      async () => new RegExp(`"${name}":"address \\S+ Service default/${to}"`).test(await grants()),
      PATIENT,
    );

  async function expectAll(replicas: readonly Replica[], name: string, address: string): Promise<void> {
    for (const { ask } of replicas)
      await waitFor(`${name} to be ${address}`, async () => String(await ask(name)) === address, PATIENT);
  }

  /** The one that leads, then the other. */
  async function inOrder(a: Replica, b: Replica): Promise<[Replica, Replica]> {
    return waitFor(
      'a leader',
      async () => ((await a.leads()) ? [a, b] : (await b.leads()) ? [b, a] : undefined),
      PATIENT,
    );
  }

  test('a name stays with whom it is served for, when either of them is replaced, and when the leader is killed', async () => {
    [leader, follower] = await inOrder(await start(), await start());
    await apply(plane, service('young', 'stable.xcc.test', { clusterIP: YOUNG }));
    await expectAll([leader, follower], 'stable.xcc.test', YOUNG);
    await untilGranted('stable.xcc.test', 'young');
    await apply(plane, service('old', 'stable.xcc.test', { clusterIP: OLD }));
    await expectEvent(plane, 'old', 'NameTaken');
    const isAsBefore = async (replicas: readonly Replica[], when: string) => {
      for (const { ask } of replicas) assert.deepEqual(await ask('stable.xcc.test'), [YOUNG], when);
    };
    await isAsBefore([leader, follower], 'before');

    await follower.stop('SIGTERM');
    follower = await start();
    await isAsBefore([leader, follower], 'the follower is a new one');

    await leader.stop('SIGTERM');
    [leader, follower] = await inOrder(follower, await start());
    await isAsBefore([leader, follower], 'the leader gave the lead to the other');

    await leader.stop('SIGKILL');
    await isAsBefore([follower], 'nobody leads');
    await apply(plane, service('late', 'late.xcc.test', { clusterIP: '10.96.7.82' }));
    await expectAll([follower], 'late.xcc.test', '10.96.7.82');
    [leader, follower] = await inOrder(follower, await start());
    await untilGranted('late.xcc.test', 'late');
    await untilGranted('stable.xcc.test', 'young');
    await isAsBefore([leader, follower], 'the leader was killed');
  });

  test('a name that is free goes to whom both of them give it', async () => {
    const { code, stderr } = await plane.kubectl(['delete', 'service', 'young']);
    assert.equal(code, 0, stderr);
    await expectAll([leader, follower], 'stable.xcc.test', OLD);
    await untilGranted('stable.xcc.test', 'old');
  });
});
