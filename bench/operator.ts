/**
 * The operator with a thousand virtual clusters over twenty proxies, on a real API server: how long until all is as it should
 * be, what that costs, how soon one change is in the configuration, and that a restart with nothing to do writes nothing.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Cache } from '../src/kube/cache/cache.ts';
import { createCluster } from '../src/kube/cluster.ts';
import type { Cluster } from '../src/kube/cluster.ts';
import { connectionOf, parseKubeconfig } from '../src/kube/http/kubeconfig.ts';
import type { AnyObject } from '../src/kube/object.ts';
import { createLog } from '../src/ops/log.ts';
import type { ControlPlane } from '../test/support/control-plane.ts';
import { startControlPlane } from '../test/support/control-plane.ts';
import { createAuthority } from '../test/support/pki.ts';
import { reservePorts } from '../src/store/embedded/ports.ts';
import { residentMegabytes, startServer, waitFor } from '../src/store/embedded/process.ts';
import type { Server } from '../src/store/embedded/process.ts';
import { TARGETS, clusterName, makeWorld, namespaceOf, proxyName } from './operator/snapshot.ts';
import type { Size } from './operator/snapshot.ts';
import type { BenchOptions, BenchResult } from './main.ts';
import { cpuSeconds } from './proxy/usage.ts';

const root = resolve(import.meta.dirname, '..');
const VIRTUAL_CLUSTER = { group: 'kroxylicious.io', version: 'v1alpha1', kind: 'VirtualKafkaCluster' };
const AT_ONCE = 16;

export async function run({ quick, log }: BenchOptions): Promise<BenchResult> {
  const size: Size = quick ? { proxies: 10, clustersEach: 20 } : { proxies: 20, clustersEach: 50 };
  await using plane = await startControlPlane();
  await applyCrds(plane);
  const connection = connectionOf(parseKubeconfig(plane.kubeconfigText, 'bench'));
  const cluster = createCluster({ name: 'bench', connection, log: createLog('silent') });
  const ports = await reservePorts(1);
  try {
    const authority = await createAuthority('bench');
    const objects = await makeWorld(size, authority);
    log(`creating ${objects.length} resources`);
    await create(cluster, objects);
    const figures = await measure(plane, cluster, size, ports.numbers[0]!, { quick, log, parts: [] });
    return { ratios: {}, figures: { virtual_clusters: size.proxies * size.clustersEach, ...figures } };
  } finally {
    await cluster.stop();
    await ports.release();
  }
}

async function applyCrds(plane: ControlPlane): Promise<void> {
  const applied = await plane.kubectl(['apply', '--server-side', '-f', join(root, 'deploy/crds')]);
  assert.equal(applied.code, 0, applied.stderr);
  const wait = ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all'];
  const served = await plane.kubectl(wait);
  assert.equal(served.code, 0, served.stderr);
}

async function create({ client }: Cluster, objects: readonly AnyObject[]): Promise<void> {
  const namespaces = objects.filter(({ kind }) => kind === 'Namespace');
  for (const one of namespaces) await client.create(one);
  const waiting = objects.filter(({ kind }) => kind !== 'Namespace');
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await client.create(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

function startOperator(plane: ControlPlane, port: number, number: number): Server {
  const flags = ['--roads', 'proxy', '--kubeconfig', plane.kubeconfig, '--namespace', 'default'];
  const management = ['--management-host', '127.0.0.1', '--management-port', String(port)];
  const args = [join(root, 'src/main.ts'), 'operator', ...flags, ...management];
  return startServer(`operator-${number}`, process.execPath, args, {
    logFile: join(plane.directory, `operator-${number}.log`),
  });
}

async function measure(
  plane: ControlPlane,
  cluster: Cluster,
  size: Size,
  port: number,
  { quick, log }: BenchOptions,
): Promise<Record<string, number>> {
  const clusters = cluster.cache<WithStatus>({ type: VIRTUAL_CLUSTER });
  const labelSelector = 'kroxylicious.io/proxy';
  const secrets = cluster.cache({ type: { group: '', version: 'v1', kind: 'Secret' }, labelSelector });
  await Promise.all([clusters.synced, secrets.synced]);

  const started = performance.now();
  let operator = startOperator(plane, port, 1);
  try {
    await waitFor('all virtual clusters to be planned', async () => clusters.list().every(isPlanned), {
      timeoutMs: 600_000,
      everyMs: 50,
    });
    const converge = (performance.now() - started) / 1000;
    const cpu = cpuSeconds(operator.pid);
    const requests = await metric(port, 'isthmus_operator_api_requests_total');
    log(`converged in ${converge.toFixed(1)} s with ${cpu.toFixed(1)} s of CPU and ${requests} requests`);
    await settled(port);

    const times = await changes(cluster, secrets, size, quick ? 40 : 200);
    log(
      `changes: median ${percentile(times, 0.5).toFixed(0)} ms, p99 ${percentile(times, 0.99).toFixed(0)} ms`,
    );
    await settled(port);
    const rss = await residentMegabytes(operator.pid);

    await operator.stop('SIGTERM');
    log('others fill the cluster with ConfigMaps of 1 MiB');
    await create(cluster, foreignConfigMaps(quick ? 100 : 500));
    const restarted = performance.now();
    operator = startOperator(plane, port, 2);
    await waitFor(
      'the restarted operator to have looked at everything',
      async () => (await metric(port, 'isthmus_controller_reconciles_total').catch(() => 0)) >= size.proxies,
      { timeoutMs: 120_000, everyMs: 100 },
    );
    const restart = (performance.now() - restarted) / 1000;
    await settled(port);
    const foreign = peakMegabytes(operator.pid);
    return {
      converge_s: round(converge),
      cpu_s: round(cpu),
      rss_mb: Math.round(rss),
      rss_mb_foreign_peak: Math.round(foreign),
      api_requests: requests,
      change_to_config_p50_ms: Math.round(percentile(times, 0.5)),
      change_to_config_p99_ms: Math.round(percentile(times, 0.99)),
      writes_on_idle_restart: await metric(port, 'isthmus_road_writes_total'),
      idle_restart_s: round(restart),
    };
  } finally {
    await operator.stop('SIGTERM');
  }
}

/** What nobody refers to must cost next to nothing, however much of it there is. */
function foreignConfigMaps(count: number): AnyObject[] {
  const data = { text: 'x'.repeat(1_000_000) };
  return Array.from({ length: count }, (_, i) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `foreign-${i}`, namespace: 'default' },
    data,
  }));
}

/** The most memory that a process has had. */
function peakMegabytes(pid: number): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

interface WithStatus extends AnyObject {
  status?: { conditions?: { type: string; status: string; reason: string }[] };
}

/** Accepted and resolved, and waiting for nothing but pods, which nobody runs here. */
function isPlanned({ status }: WithStatus): boolean {
  const find = (type: string) => status?.conditions?.find((one) => one.type === type);
  return find('ResolvedRefs')?.status === 'True' && find('Ready')?.reason === 'PodsNotReady';
}

/** Changes the target of one virtual cluster after the other, and waits each time until its proxy's configuration has it. */
async function changes(
  { client }: Cluster,
  secrets: Cache,
  { proxies, clustersEach }: Size,
  count: number,
): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const [proxy, number] = [(i * 7) % proxies, (i * 13) % clustersEach];
    const namespace = namespaceOf(proxy);
    const name = clusterName(proxy, number);
    const live = await client.get(VIRTUAL_CLUSTER, { namespace, name });
    const { targetCluster } = live!['spec'] as { targetCluster: { clusterRef: { name: string } } };
    const target = TARGETS.find((one) => one !== targetCluster.clusterRef.name)!;
    const seen = Promise.withResolvers<void>();
    const key = `${namespace}/${proxyName(proxy)}-config`;
    const end = secrets.subscribe((changed) => {
      if (changed === key && targetIn(secrets.get(key), name) === `${target}:9092`) seen.resolve();
    });
    const started = performance.now();
    const patch = { spec: { targetCluster: { clusterRef: { name: target } } } };
    await client.mergePatch(VIRTUAL_CLUSTER, { namespace, name }, patch);
    await seen.promise;
    times.push(performance.now() - started);
    end();
  }
  return times;
}

function targetIn(secret: AnyObject | undefined, cluster: string): string | undefined {
  const { 'proxy.yaml': text = '' } = (secret?.['data'] ?? {}) as Record<string, string>;
  const config = JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as {
    virtualClusters: { name: string; targetCluster: { bootstrapServers: string } }[];
  };
  return config.virtualClusters.find(({ name }) => name === cluster)?.targetCluster.bootstrapServers;
}

async function metric(port: number, name: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const lines = (await response.text()).split('\n').filter((line) => new RegExp(`^${name}[ {]`).test(line));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** Waits until nothing has been looked at for a while. */
async function settled(port: number): Promise<void> {
  let last = -1;
  await waitFor(
    'the operator to be at rest',
    async () => {
      const now = await metric(port, 'isthmus_controller_reconciles_total');
      const rests = now === last;
      last = now;
      return rests;
    },
    { timeoutMs: 60_000, everyMs: 2000 },
  );
}

function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0;
}

const round = (value: number) => Math.round(value * 10) / 10;
