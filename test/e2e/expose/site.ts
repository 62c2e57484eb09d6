/** A cluster whose brokers are exposed, and the machine outside from which they are looked at. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { waitFor } from '../../../src/store/embedded/process.ts';
import type { Finding } from '../../../src/probe/findings.ts';
import type { ProbedCluster } from '../../../src/probe/probed.ts';
import { javaConfig } from '../../support/clients/java.ts';
import { hasCondition } from '../../support/clusters/cluster.ts';
import type { Cluster, KubeObject } from '../../support/clusters/cluster.ts';
import type { Clusters } from '../../support/clusters/clusters.ts';
import type { Node } from '../../support/clusters/node.ts';
import { ensureNodeTools } from '../../support/install/node-tools.ts';
import { kafkaToolCommand } from '../../support/kafka/tools.ts';
import type { KafkaTool } from '../../support/kafka/tools.ts';

export const where = { namespace: 'kafka' };
export const PATIENCE = { timeoutMs: 600_000, everyMs: 500 };
const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');

export type Probe = ProbedCluster & { findings: Finding[] };
export type Pod = KubeObject & { spec: { nodeName?: string } };
export type Kafka = KubeObject & {
  spec: { kafka: { listeners: object[] } };
  status?: { listeners?: { name: string; bootstrapServers?: string }[] };
};

/** What clients trust, and who they are where that is asked. */
export interface Identity {
  ca: string;
  cert?: string;
  key?: string;
}

export interface Site {
  clusters: Clusters;
  cluster: Cluster;
}

/** Counts from when it is made. */
export function stopwatch(): () => string {
  const began = performance.now();
  return () => `${((performance.now() - began) / 1000).toFixed(1)} s`;
}

/** Writes what a key of a Secret holds to a file, and returns its path. */
export async function fileOf({ clusters, cluster }: Site, secret: string, key: string): Promise<string> {
  type Secret = KubeObject & { data?: Record<string, string> };
  const found = await cluster.waitFor<Secret>(
    `secret/${secret}`,
    ({ data }) => data?.[key] !== undefined,
    where,
  );
  const path = join(clusters.logs, `${secret}-${key}`);
  await writeFile(path, Buffer.from(found.data![key]!, 'base64'), { mode: 0o600 });
  return path;
}

/** What `isthmus probe` says on the machine outside. */
export async function probe({ clusters }: Site, bootstrap: string, who: Identity): Promise<Probe> {
  const flags = Object.entries(who).flatMap(([flag, file]: [string, string]) => [`--${flag}`, file]);
  const command = [process.execPath, MAIN, 'probe', bootstrap, ...flags, '-o', 'json'];
  const { stdout, stderr } = await clusters.outside.run(command, { timeoutMs: 120_000 });
  assert.ok(stdout.startsWith('{'), stderr);
  return JSON.parse(stdout) as Probe;
}

/** Waits until a client outside gets to all of so many brokers. */
export async function untilReached(
  site: Site,
  bootstrap: string,
  who: Identity,
  brokers: number,
): Promise<Probe> {
  let last: Probe | undefined;
  const isReached = async () => {
    last = await probe(site, bootstrap, who);
    return last.brokers.length === brokers && last.findings.length === 0 ? last : undefined;
  };
  return waitFor('every broker to be reached', isReached, PATIENCE).catch((error: unknown) =>
    assert.fail(`${String(error)}: ${JSON.stringify(last?.findings)}`),
  );
}

/** Waits until a client outside meets what is looked for: one probe may come to nobody who tells of the brokers. */
export async function untilFound(
  site: Site,
  bootstrap: string,
  who: Identity,
  isIt: (found: Finding) => boolean,
): Promise<void> {
  let last: Probe | undefined;
  const isFound = async () => {
    last = await probe(site, bootstrap, who);
    return last.findings.some(isIt);
  };
  const soon = { ...PATIENCE, timeoutMs: 180_000 }; // writers wait meanwhile, and not for ever
  await waitFor('the probe outside to tell of it', isFound, soon).catch((error: unknown) =>
    assert.fail(`${String(error)}: ${JSON.stringify(last)}`),
  );
}

/** Waits until a Kafka is ready as it is now, and returns it. */
export function settled({ cluster }: Site, name: string): Promise<Kafka> {
  const isSettled = (kafka: Kafka) => {
    const { observedGeneration } = (kafka.status ?? {}) as { observedGeneration?: number };
    return hasCondition('Ready')(kafka) && observedGeneration === kafka.metadata.generation;
  };
  return cluster.waitFor<Kafka>(`kafka/${name}`, isSettled, { ...where, ...PATIENCE });
}

/** Where clients of a listener begin. */
export const bootstrapOf = ({ status }: Kafka, listener: string): string =>
  status?.listeners?.find(({ name }) => name === listener)?.bootstrapServers ?? '';

/** Waits until a condition of the Kafka says that something is wrong, in these words. */
export async function untilSaid({ cluster }: Site, type: string, words: RegExp): Promise<void> {
  const isSaid = ({ status }: Kafka) =>
    status?.conditions?.some(
      (each) => each.type === type && each.status === 'False' && words.test(each.message ?? ''),
    ) ?? false;
  await cluster.waitFor('kafka/events', isSaid, { ...where, ...PATIENCE });
}

/** The node that a pod runs on. */
export async function nodeOf({ cluster }: Site, pod: string): Promise<Node> {
  const { spec } = (await cluster.get<Pod>(`pod/${pod}`, where)) ?? assert.fail(`there is no ${pod}`);
  return cluster.nodes.find(({ name }) => name === spec.nodeName) ?? assert.fail(`${pod} is nowhere`);
}

/** How kube-proxy of a node says that it works. */
export async function proxyMode(node: Node): Promise<string> {
  const script = `fetch('http://127.0.0.1:10249/proxyMode').then((answer) => answer.text()).then(console.log)`;
  return (await node.network.run([process.execPath, '-e', script])).stdout.trim();
}

/** Addresses at the other ends of the connections that clients outside have to a port. */
export async function peersOf({ clusters }: Site, port: string): Promise<string[]> {
  const filter = ['state', 'established', 'dport', '=', `:${port}`];
  const { code, stdout, stderr } = await clusters.outside.run(['ss', '-Htn', ...filter]);
  assert.equal(code, 0, stderr);
  const peers = stdout.split('\n').flatMap((line) => line.trim().split(/\s+/)[3]?.split(':')[0] ?? []);
  return [...new Set(peers)].toSorted();
}

/** Whose connections a broker has at a port, as addresses that the kernel of its pod knows. */
export async function clientsOf({ cluster }: Site, pod: string, port: number): Promise<string[]> {
  const { stdout } = await cluster.exec(pod, ['cat', '/proc/net/tcp', '/proc/net/tcp6'], {
    ...where,
    container: 'kafka',
  });
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const ESTABLISHED = '01';
  const line = new RegExp(`:${hex} [0-9A-F]*([0-9A-F]{8}):[0-9A-F]{4} ${ESTABLISHED} `, 'g');
  const addresses = [...stdout.matchAll(line)].map(([, address = '']) =>
    Buffer.from(address, 'hex').toReversed().join('.'),
  );
  return [...new Set(addresses)].toSorted();
}

/** Drops what comes to a port of the node from elsewhere. Returns what opens it again. */
export async function closeFirewall(node: Node, port: string): Promise<() => Promise<unknown>> {
  const { nft, env } = await ensureNodeTools();
  const load = (rules: string) => node.network.run([nft, '-f', '-'], { stdin: rules, env });
  await load(`
table ip firewall {
  chain closed {
    type filter hook prerouting priority raw
    iifname "eth0" tcp dport ${port} drop
  }
}
`);
  return () => load('delete table ip firewall');
}

/** Writes lines with Java's console tools on the machine outside, and returns what they read from the beginning. */
export async function exchangeByJava(
  { clusters }: Site,
  bootstrap: string,
  security: Record<string, string>,
  topic: string,
  lines: readonly string[],
): Promise<string[]> {
  // The console producer's own limits are those of an idle machine.
  const patience = {
    acks: 'all',
    retries: 1000,
    'request.timeout.ms': 60_000,
    'delivery.timeout.ms': 180_000,
  };
  const config = await javaConfig({ ...security, ...patience });
  const tool = async (name: KafkaTool, more: readonly string[], stdin?: string) => {
    const args = ['--bootstrap-server', bootstrap, '--command-config', config, '--topic', topic, ...more];
    const command = await kafkaToolCommand(name, args);
    const { code, stdout, stderr } = await clusters.outside.run(command, { stdin, timeoutMs: 240_000 });
    // The console producer logs a record that it could not send, and still ends with 0.
    assert.ok(code === 0 && !stderr.includes(' ERROR '), `${name} (${code}): ${stderr}`);
    return stdout;
  };
  await tool('kafka-console-producer', [], lines.map((line) => `${line}\n`).join(''));
  const end = ['--from-beginning', '--max-messages', String(lines.length), '--timeout-ms', '180000'];
  return (await tool('kafka-console-consumer', end)).split('\n').slice(0, -1);
}

/** The broker whose node the fewest others need, and never the one with the controller, whose disk is there: the one to lose. */
export async function leastNeeded(site: Site, ids: readonly number[]): Promise<{ id: number; node: Node }> {
  type Listed = { metadata: { name: string; namespace: string }; spec: { nodeName?: string } };
  const pods = (await site.cluster.controlPlane.api.list<Listed>('/api/v1/pods')) ?? [];
  const need = ({ metadata: { name, namespace } }: Listed) =>
    name.startsWith('events-control-') ? 1000 : namespace === where.namespace ? 0 : 1;
  const found = await Promise.all(
    ids.map(async (id) => {
      const node = await nodeOf(site, `events-brokers-${id}`);
      const there = pods.filter(({ spec }) => spec.nodeName === node.name);
      return { id, node, needed: there.reduce((sum, pod) => sum + need(pod), 0) };
    }),
  );
  return found.toSorted((a, b) => a.needed - b.needed)[0]!;
}
