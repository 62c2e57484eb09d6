/** One control plane with an audit log about the operator, stand-ins for nodes, and the operator as a process of its own. */
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createCluster } from '../../src/kube/cluster.ts';
import type { Cluster } from '../../src/kube/cluster.ts';
import { connectionOf, parseKubeconfig } from '../../src/kube/http/kubeconfig.ts';
import { createLog } from '../../src/ops/log.ts';
import { reservePorts } from '../../src/store/embedded/ports.ts';
import { startServer, waitFor } from '../../src/store/embedded/process.ts';
import type { Finished, Server } from '../../src/store/embedded/process.ts';
import { createAudit } from '../../test/integration/control/audit.ts';
import { apply } from '../../test/integration/control/harness.ts';
import { startControlPlaneWithCrds } from '../../test/support/control-plane.ts';
import type { ControlPlane } from '../../test/support/control-plane.ts';
import { startPodRunner } from '../../test/support/pods/runner.ts';
import type { PodRunner } from '../../test/support/pods/runner.ts';
import { cpuSeconds } from '../proxy/usage.ts';
import { sumOf } from './accounts.ts';
import { NAME } from './cluster.ts';

export interface Bed extends AsyncDisposable {
  runner: PodRunner;
  /** With caches, so that looking costs the API server next to nothing. */
  cluster: Cluster;
  apply(objects: readonly object[]): Promise<void>;
  kubectl(...args: string[]): Promise<Finished>;
  /** Starts the operator, and waits until it leads. */
  startOperator(): Promise<void>;
  stopOperator(): Promise<void>;
  /** A number of its metrics, summed over its label sets. */
  metric(name: string): Promise<number>;
  /** What it has written, each as `resource namespace/name`. The Lease, by which it stays the leader, is told apart. */
  writes(): { objects: string[]; leases: number };
  /** Processor time that the operator has taken, in seconds. */
  cpu(): number;
  /** Takes away all that the cluster under test is made of, disks included. */
  clear(): Promise<void>;
}

const USER = 'operator-under-test';
const ROOT = resolve(import.meta.dirname, '../..');
const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection'];
/** What a busy machine may take for anything. */
export const PATIENCE = { timeoutMs: 900_000, everyMs: 100 };

export async function startBed(): Promise<Bed> {
  await using stack = new AsyncDisposableStack();
  const audit = createAudit(USER);
  const plane = stack.use(await startControlPlaneWithCrds({ apiServerArgs: audit.args }));
  const runner = stack.use(await startPodRunner(plane, { nodes: ['a', 'b', 'c'].map((name) => ({ name })) }));
  const connection = connectionOf(parseKubeconfig(plane.kubeconfigText, 'bench'));
  const cluster = createCluster({ name: 'bench', connection, log: createLog('silent') });
  stack.defer(() => cluster.stop());
  const operator = await operatorOf(plane);
  stack.use(operator);
  const owned = stack.move();
  const kubectl = (...args: string[]) => requireDone(plane, args);
  return {
    runner,
    cluster,
    kubectl,
    apply: (objects) => apply(plane, ...objects),
    startOperator: operator.start,
    stopOperator: operator.stop,
    metric: operator.metric,
    cpu: operator.cpu,
    writes() {
      const all = WRITES.flatMap((verb) => audit.objects(verb));
      const objects = all.filter((object) => !object.startsWith('leases '));
      return { objects, leases: all.length - objects.length };
    },
    clear: () => clear(kubectl),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function requireDone(plane: ControlPlane, args: readonly string[]): Promise<Finished> {
  const done = await plane.kubectl(args);
  if (done.code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${done.stderr}`);
  return done;
}

async function operatorOf(plane: ControlPlane) {
  const ports = await reservePorts(1);
  const [port = 0] = ports.numbers;
  const kubeconfig = await plane.userKubeconfig(USER, ['system:masters']);
  let running: Server | undefined;
  let started = 0;
  const metric = async (name: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close' } });
    return sumOf(await response.text(), name);
  };
  const stop = async () => {
    await running?.stop('SIGTERM');
    running = undefined;
  };
  return {
    metric,
    stop,
    cpu: () => (running ? cpuSeconds(running.pid) : 0),
    start: async () => {
      const where = ['--kubeconfig', kubeconfig, '--namespace', 'default'];
      const management = ['--management-host', '127.0.0.1', '--management-port', String(port)];
      const args = [
        join(ROOT, 'src/main.ts'),
        'operator',
        '--roads',
        'kafka,pod-sets',
        ...where,
        ...management,
      ];
      const logFile = join(plane.directory, `operator-${++started}.log`);
      running = startServer(`operator-${started}`, process.execPath, args, { logFile });
      const leads = async () => (await metric('isthmus_operator_leader').catch(() => 0)) === 1;
      await waitFor('the operator leads', leads, PATIENCE);
      await delay(CACHES_MS);
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await ports.release();
    },
  };
}

/** It has listed what there is by then; what is measured is how it works, and not how it starts. */
const CACHES_MS = 3000;

/** Those of which there is one only, by name; everything else has the label. */
const NAMED = ['kafkas', 'kafkaanchors'];
const LABELLED =
  'kafkanodepools,strimzipodsets,pods,persistentvolumeclaims,services,configmaps,secrets,serviceaccounts,poddisruptionbudgets,networkpolicies';

async function clear(kubectl: Bed['kubectl']): Promise<void> {
  const now = ['--ignore-not-found', '--wait=false'];
  for (const kind of NAMED) await kubectl('delete', kind, NAME, ...now);
  const selector = `strimzi.io/cluster=${NAME}`;
  await kubectl('delete', LABELLED, '-l', selector, '--force', '--grace-period=0', ...now);
  const isGone = async () => {
    const { stdout } = await kubectl('get', LABELLED, '-l', selector, '-o', 'name');
    return stdout.trim() === '';
  };
  await waitFor('everything of before is gone', isGone, { ...PATIENCE, everyMs: 1000 });
}
