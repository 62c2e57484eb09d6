/** Three clusters that share services, each with the DNS server installed as its own manifests have it. */
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster } from '../../support/clusters/cluster.ts';
import { IMAGES } from '../../support/images/images.ts';
import { run, waitFor } from '../../../src/store/embedded/process.ts';
import { client } from '../testbed/pods.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
export const NAMESPACE = 'isthmus-system';
export const DNS = 'isthmus-dns';
/** How long anybody may remember an answer. */
export const TTL_SECONDS = 2;
/** Where a pod of the server listens; its Service makes it 53. */
const POD_PORT = 5353;
const ZONES = ['example.test', 'clusterset.local'];
const where = { namespace: NAMESPACE };

/** How one cluster is set up. */
export interface Setup {
  cluster: Cluster;
  replicas: number;
  /** How the others are reached from here, and how they reach it. */
  reach: 'pods' | 'nodes';
  /** Clusters that are reached in another way, by name. */
  exceptions?: Readonly<Record<string, 'pods' | 'nodes'>>;
}

/** What `isthmus dns manifests` prints for a cluster. */
async function manifests({ cluster, replicas, reach }: Setup, directory: string): Promise<string> {
  const file = join(directory, `${cluster.name}-dns.yaml`);
  const zones = ZONES.map((name) => ({ name, ttl: TTL_SECONDS, negativeTtl: 1 }));
  const kubernetes = { clusterId: cluster.name, import: true, reach, delegation: true };
  await writeFile(file, stringify({ listen: ['[::]:53'], zones, kubernetes }));
  const program = [join(ROOT, 'src/main.ts'), 'dns', 'manifests', '--config', file];
  const options = ['--image', IMAGES.isthmus, '--replicas', String(replicas)];
  const { code, stdout, stderr } = await run(process.execPath, [...program, ...options]);
  assert.equal(code, 0, stderr);
  return stdout;
}

/** A kubeconfig with the account that the manifests have for other clusters. */
async function readerKubeconfig(cluster: Cluster): Promise<string> {
  const { controlPlane } = cluster;
  const token = await cluster.kubectl(
    'create',
    'token',
    `${DNS}-reader`,
    `--namespace=${NAMESPACE}`,
    '--duration=24h',
  );
  const authority = Buffer.from(controlPlane.authority.certPem).toString('base64');
  const server = { server: controlPlane.url, 'certificate-authority-data': authority };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'it', cluster: server }],
    users: [{ name: 'reader', user: { token: token.trim() } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'reader' } }],
    'current-context': 'it',
  });
}

function joinSecret(name: string, kubeconfig: string, reach: string | undefined): object {
  const prefix = 'connectivity.tanzu.vmware.com';
  const annotations = reach === undefined ? {} : { [`${prefix}/reach`]: reach };
  const labels = { [`${prefix}/cluster-name`]: name };
  const metadata = { name, namespace: NAMESPACE, labels, annotations };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { kubeconfig } };
}

/** Installs the server in each cluster, joins each with the others, and waits until all of them answer. */
export async function install(setups: readonly Setup[], directory: string): Promise<void> {
  const crds = ['serviceexports', 'serviceimports'].map((kind) =>
    join(ROOT, `deploy/crds/${kind}.multicluster.x-k8s.io.yaml`),
  );
  const kinds = (await Promise.all(crds.map((file) => readFile(file, 'utf8')))).join('\n---\n');
  const kubeconfigs = await Promise.all(
    setups.map(async (setup) => {
      const { cluster } = setup;
      await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
      await cluster.apply(kinds);
      await cluster.apply(await manifests(setup, directory));
      await cluster.apply(client);
      return { name: cluster.name, text: await readerKubeconfig(cluster) };
    }),
  );
  await Promise.all(
    setups.map(async ({ cluster, exceptions }) => {
      const others = kubeconfigs.filter(({ name }) => name !== cluster.name);
      await cluster.apply(others.map(({ name, text }) => joinSecret(name, text, exceptions?.[name])));
      await cluster.rolledOut(`deployment/${DNS}`, where);
      await cluster.waitFor('pod/client', hasCondition('Ready'));
    }),
  );
}

/** Whether a pod is answered by our server: it gets the version of the specification. */
export async function isAnswered(cluster: Cluster): Promise<boolean> {
  const question = ['nslookup', '-type=txt', 'dns-version.clusterset.local.'];
  return (await cluster.exec('client', question)).stdout.includes('1.0.0');
}

/** What a pod is told about a name: the addresses, or `NXDOMAIN`; nothing if nobody answers, asked thrice as resolvers do. */
export async function lookup(cluster: Cluster, name: string): Promise<string> {
  for (let tries = 1; ; tries++) {
    const { stdout, stderr } = await cluster.exec('client', ['nslookup', '-type=a', `${name}.`]);
    const text = stdout + stderr;
    if (text.includes('NXDOMAIN')) return 'NXDOMAIN';
    const addresses = [...text.matchAll(/^Name:.*\nAddress: (\S+)/gm)].map(([, address]) => address);
    if (addresses.length > 0 || tries === 3) return addresses.join();
  }
}

/** Asks (a server, if there is a third argument) until what is said matches; for a minute, and says then what was said last. */
const UNTIL = `
end=$(($(date +%s) + 60))
while [ $(date +%s) -lt $end ]; do
  said=$(nslookup -type=a $1. $3 2>&1 | tr '\\n' ' ')
  echo "$said" | grep -q "$2" && exit 0
  usleep 100000
done
echo "$said"; exit 1`;

/** What pods are told about a service of some cluster. */
export const SERVED = 'Name:.*Address: 10[.]96[.]';

/**
 * Waits until a pod is told this about a name (a pattern), and returns when that was. The pod itself asks again and
 * again: how long kubectl takes to start on a busy machine says nothing about our servers.
 */
export async function until(cluster: Cluster, name: string, answer: string, server = ''): Promise<number> {
  const command = ['sh', '-c', UNTIL, 'sh', name, answer, server];
  let last = '';
  const isSo = async () => {
    const { code, stdout, stderr } = await cluster.exec('client', command);
    last = stdout + stderr;
    return code === 0;
  };
  const what = `${name} in ${cluster.name}`;
  await waitFor(what, isSo, { timeoutMs: 240_000 }).catch((cause: unknown) => {
    throw new Error(`${what} is ${last}, not ${answer}`, { cause });
  });
  return performance.now();
}

/** Waits until each of the cluster's own servers is of this answer: they learn of a change each for itself. */
export async function untilAll(cluster: Cluster, name: string, answer: string): Promise<void> {
  const path = '--output=jsonpath={.items[*].status.podIP}';
  const servers = await cluster.kubectl('get', 'pods', `--namespace=${NAMESPACE}`, path);
  const ask = (server: string) => until(cluster, name, answer, `${server}:${POD_PORT}`);
  await Promise.all(servers.split(' ').map(ask));
}

/** What a pod gets from a web server, or undefined if it gets nothing within three seconds. */
export async function page(cluster: Cluster, host: string): Promise<string | undefined> {
  const { code, stdout } = await cluster.exec('client', [
    'timeout',
    '3',
    'wget',
    '-q',
    '-O-',
    `http://${host}/`,
  ]);
  return code === 0 ? stdout.trim() : undefined;
}

/** The processes of a pod's program, as this machine numbers them; not that which only keeps the pod's network. */
export function processesOf(podUid: string): number[] {
  const read = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8');
    } catch {
      return ''; // it has ended meanwhile
    }
  };
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => read(pid, 'cgroup').includes(podUid) && read(pid, 'cmdline').includes('dns.yaml'))
    .map(Number);
}
