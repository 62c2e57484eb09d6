import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { REFUSED } from '../../../src/control/brokers/start-script.ts';
import { isAlive, waitFor } from '../../../src/store/embedded/process.ts';
import { consume, produce } from '../../support/clients.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { REFERENCES } from '../../support/images/small.ts';
import { startPodRunner } from '../../support/pods/runner.ts';
import type { PodRunner } from '../../support/pods/runner.ts';
import { workspace } from '../../support/workspace.ts';
import { BOOTSTRAP, CLAIM, NAMESPACE, POD, RACK, brokerPod, configMap, surroundings } from './pods.ts';

const PATIENCE = { timeoutMs: 600_000, everyMs: 200 };

interface ContainerStatus {
  ready: boolean;
  restartCount: number;
  state: { running?: object; waiting?: { reason: string; message?: string } };
  lastState: { terminated?: { exitCode: number; message?: string } };
}

interface SeenPod {
  metadata: { uid: string };
  spec: { nodeName?: string };
  status: {
    phase: string;
    podIP?: string;
    hostIP?: string;
    conditions?: { type: string; status: string; message?: string }[];
    containerStatuses?: ContainerStatus[];
  };
}

describe('the pod runner', () => {
  let plane: ControlPlane;
  let runner: PodRunner;
  before(async () => {
    plane = await startControlPlane();
    const nodes = [
      { name: 'a', zone: 'z1' },
      { name: 'b', zone: 'z2' },
    ];
    runner = await startPodRunner(plane, { nodes });
  });
  after(async () => {
    await runner?.stop();
    await plane?.stop();
  });

  async function kubectl(args: readonly string[], stdin?: string): Promise<string> {
    const { code, stdout, stderr } = await plane.kubectl(
      ['-n', NAMESPACE, ...args],
      stdin === undefined ? {} : { stdin },
    );
    assert.equal(code, 0, stderr);
    return stdout;
  }
  const apply = (...objects: object[]) =>
    kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  async function seen(name: string): Promise<SeenPod | undefined> {
    const text = await kubectl(['get', 'pod', name, '--ignore-not-found', '-o', 'json']);
    return text === '' ? undefined : (JSON.parse(text) as SeenPod);
  }
  const condition = (pod: SeenPod, type: string) => pod.status.conditions?.find((each) => each.type === type);
  const until = (name: string, what: string, is: (pod: SeenPod) => unknown) =>
    waitFor(
      `${name}: ${what}`,
      async () => {
        const pod = await seen(name);
        return pod && is(pod) ? pod : undefined;
      },
      PATIENCE,
    );
  const untilReady = (name: string) =>
    until(name, 'ready', (pod) => condition(pod, 'Ready')?.status === 'True');
  const logs = (name: string) => runner.logsOf(`${NAMESPACE}/${name}`);
  const untilLogged = (name: string, text: string) =>
    waitFor(`${name}: log has ${text}`, async () => (await logs(name)).includes(text), PATIENCE);

  test('a broker pod becomes a Kafka that clients find by name, ends cleanly, comes back, and tells of a lost disk', async () => {
    await apply(...(await surroundings()), brokerPod());
    await untilLogged(POD, `Waiting for the annotation ${RACK}`);
    const waiting = await until(POD, 'running', ({ status }) => status.phase === 'Running');
    assert.equal(condition(waiting, 'Ready')?.status, 'False');
    assert.equal(waiting.status.podIP, runner.addressOf(`${NAMESPACE}/${POD}`));
    assert.equal(
      waiting.status.hostIP,
      runner.nodes.find(({ name }) => name === waiting.spec.nodeName)?.internal,
    );
    assert.equal(await kubectl(['get', 'pvc', CLAIM, '-o', 'jsonpath={.status.phase}']), 'Bound');
    await kubectl(['annotate', 'pod', POD, `${RACK}=z1`]);
    await untilReady(POD);
    assert.match(await logs(POD), /broker\.rack = z1/);

    const target = {
      bootstrap: BOOTSTRAP,
      topic: 'numbers',
      hostsFile: runner.hostsFile,
      timeoutMs: 300_000,
    };
    const records = Array.from({ length: 100 }, (_, n) => ({ key: `k${n}`, value: `v${n}` }));
    await produce('java', { ...target, records });
    assert.deepEqual(await consume('java', { ...target, count: 100 }), records);
    const [host = '', port = ''] = BOOTSTRAP.split(':');
    const socket = createConnection({ host, port: Number(port), lookup: runner.lookup });
    await once(socket, 'connect');
    socket.destroy();

    await apply(configMap(false));
    await kubectl(['delete', 'pod', POD, '--wait=true', '--timeout=300s']);
    assert.match(await logs(POD), /controlled shutdown.*\n(.*\n)*.*shut down completed/i);
    assert.equal(runner.addressOf(`${NAMESPACE}/${POD}`), undefined);
    await apply(brokerPod());
    await kubectl(['annotate', 'pod', POD, `${RACK}=z1`]);
    const again = await untilReady(POD);
    assert.notEqual(again.status.podIP, waiting.status.podIP, 'a new pod has a new address');
    assert.deepEqual(await consume('java', { ...target, count: 100 }), records);

    await runner.loseDisk(`${NAMESPACE}/${CLAIM}`);
    await kubectl(['delete', 'pod', POD, '--grace-period=0', '--force']);
    await apply(brokerPod());
    await kubectl(['annotate', 'pod', POD, `${RACK}=z1`]);
    const lost = await until(
      POD,
      'started again',
      (pod) => (pod.status.containerStatuses?.[0]?.restartCount ?? 0) > 0,
    );
    const { terminated } = lost.status.containerStatuses![0]!.lastState;
    assert.equal(terminated?.exitCode, REFUSED);
    assert.match(terminated?.message ?? '', /^DiskLost: .*kafka-log0 has no data/);
    assert.equal(condition(lost, 'Ready')?.status, 'False');
    await kubectl(['delete', 'pod', POD, '--wait=true', '--timeout=300s']);
    await kubectl(['delete', 'pvc', CLAIM, '--wait=true', '--timeout=60s']);
  });

  const SHELL =
    'cat /shared/made; trap "exit 0" TERM; while :; do touch /shared/$(cat /config/name); sleep 0.2; done';
  const small = (name: string, spec: object = {}, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 20,
      initContainers: [
        {
          name: 'make',
          image: REFERENCES.busybox,
          command: ['sh', '-c', 'echo "made on $NODE by $(id -u) in $(hostname)" > /shared/made'],
          env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
          volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
        },
      ],
      containers: [
        {
          name: 'main',
          image: REFERENCES.busybox,
          command: ['sh', '-c', SHELL],
          readinessProbe: {
            exec: { command: ['test', '-e', '/shared/second'] },
            periodSeconds: 1,
            timeoutSeconds: 30,
          },
          volumeMounts: [
            { name: 'shared', mountPath: '/shared' },
            { name: 'config', mountPath: '/config' },
          ],
          ...more,
        },
      ],
      volumes: [
        { name: 'shared', emptyDir: {} },
        { name: 'config', configMap: { name: 'names' } },
      ],
      ...spec,
    },
  });
  const names = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'names', namespace: NAMESPACE },
    data: { name },
  });

  test('init containers run first, files change while a container runs, and probes look inside', async () => {
    await apply(small('probed', { nodeSelector: { 'topology.kubernetes.io/zone': 'z2' } }));
    const lacking = await until('probed', 'bound', ({ status }) => status.containerStatuses);
    assert.equal(lacking.status.phase, 'Pending');
    assert.equal(lacking.spec.nodeName, 'b');
    await apply(names('first'));
    await untilLogged('probed', 'made on b by 0 in probed');
    const running = await until('probed', 'running', ({ status }) => status.phase === 'Running');
    assert.equal(condition(running, 'Ready')?.status, 'False');
    await apply(names('second'));
    await untilReady('probed');
    await kubectl(['delete', 'pod', 'probed', '--wait=true', '--timeout=300s']);
  });

  test('a container that fails is started again, and says how it failed', async () => {
    await apply(names('second'));
    const command = ['sh', '-c', 'echo because > /dev/termination-log; exit 3'];
    await apply(small('failing', {}, { command }));
    const failed = await until(
      'failing',
      'failed',
      ({ status }) => (status.containerStatuses?.[0]?.restartCount ?? 0) > 1,
    );
    const { terminated } = failed.status.containerStatuses![0]!.lastState;
    assert.equal(terminated?.exitCode, 3);
    assert.equal(terminated?.message, 'because\n');
    await kubectl(['delete', 'pod', 'failing', '--wait=true', '--timeout=300s']);
  });

  test('what the runner cannot do it says', async () => {
    await apply(small('odd', {}, { image: 'example.test/none:1' }));
    const odd = await until(
      'odd',
      'waiting',
      ({ status }) => status.containerStatuses?.[0]?.state.waiting?.message,
    );
    assert.match(odd.status.containerStatuses![0]!.state.waiting!.message!, /no image example\.test\/none:1/);
    assert.equal(odd.status.containerStatuses![0]!.state.waiting!.reason, 'ImagePullBackOff');
    await apply(small('hooked', {}, { lifecycle: { preStop: { exec: { command: ['true'] } } } }));
    const hooked = await until(
      'hooked',
      'refused',
      ({ status }) => status.containerStatuses?.[0]?.state.waiting?.reason === 'CreateContainerConfigError',
    );
    assert.match(hooked.status.containerStatuses![0]!.state.waiting!.message!, /knows no lifecycle/);
    await kubectl(['delete', 'pod', 'odd', 'hooked', '--wait=true', '--timeout=300s']);
  });

  test('nodes are cordoned, lost and found', async () => {
    await apply(names('second'));
    await runner.cordon('a');
    await runner.cordon('b');
    await apply(small('moving'));
    const waiting = await until(
      'moving',
      'unschedulable',
      (pod) => condition(pod, 'PodScheduled')?.status === 'False',
    );
    assert.match(
      condition(waiting, 'PodScheduled')?.message ?? '',
      /^0\/2 nodes are available: 2 tainted or cordoned/,
    );
    await runner.cordon('b', false);
    await untilReady('moving');
    await runner.killNode('b');
    const lost = await until('moving', 'not ready', (pod) => condition(pod, 'Ready')?.status === 'False');
    assert.equal(runner.addressOf(`${NAMESPACE}/moving`), undefined);
    await kubectl(['delete', 'pod', 'moving', '--wait=false']);
    assert.equal((await seen('moving'))?.metadata.uid, lost.metadata.uid, 'nobody is there to take it away');
    await runner.reviveNode('b');
    await waitFor('the end of the pod', async () => (await seen('moving')) === undefined, PATIENCE);
    await apply(small('moving'));
    const before = await untilReady('moving');
    await runner.killNode('b');
    await until('moving', 'not ready', (pod) => condition(pod, 'Ready')?.status === 'False');
    await runner.reviveNode('b');
    const after = await untilReady('moving');
    assert.equal(after.metadata.uid, before.metadata.uid);
    assert.equal(after.status.containerStatuses?.[0]?.restartCount, 1);
    await runner.cordon('a', false);
    await kubectl(['delete', 'pod', 'moving', '--wait=true', '--timeout=300s']);
  });
});

test('containers end with the process that started them, however it ends', async () => {
  const child = spawn(process.execPath, [`${import.meta.dirname}/container-parent.ts`, workspace('parent')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [mark] = (await once(child.stdout, 'data')) as [Buffer];
  const processes = async () => {
    const ids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
    const lines = await Promise.all(
      ids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    return ids.filter((pid, i) => lines[i]!.includes(mark.toString().trim()) && isAlive(pid));
  };
  assert.ok(await waitFor('the container', async () => (await processes()).length > 0, PATIENCE));
  child.kill('SIGKILL');
  await waitFor('the end of the container', async () => (await processes()).length === 0, PATIENCE);
});
