/**
 * Stands in for Redpanda, which cannot be had here: Apache Kafka, run by what a `redpanda.yaml` says, and as much of Redpanda's admin API
 * as the operator asks. It runs in the pods of tests as `/usr/bin/rpk`. What the file lacks, or what the stand-in does not know, ends it.
 *
 * Other than Redpanda: the first three of the seed servers, or the first alone, have Kafka's controllers, at the port after that of their RPC; brokers talk to each
 * other in Kafka's own protocol at the RPC port; `0.0.0.0` is the pod's own address, since pods share the machine's network.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parse } from 'yaml';
import { openAdmin } from '../../../src/kafka/admin/admin.ts';
import type { Admin } from '../../../src/kafka/admin/admin.ts';
import { clusterIdOf, propertiesOf } from './properties.ts';
import type { NodeFile } from './properties.ts';

const CONFIG = '/etc/redpanda/redpanda.yaml';
const BOOTSTRAP = '/etc/redpanda/.bootstrap.yaml';
const PROPERTIES = '/tmp/server.properties';
const FLAGS = /^--(check|default-log-level|smp|memory|reserve-memory|overprovisioned|kernel-page-cache)=\S+$/;

function fail(message: string): never {
  try {
    writeFileSync('/dev/termination-log', message);
  } catch {
    // Told below all the same.
  }
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** What runs now. */
let running: ChildProcess | undefined;

/** Peers come back at other addresses, so that names are not remembered for long. */
const NAMES = '-Dsun.net.inetaddr.ttl=5';

function java(args: readonly string[]): ChildProcess {
  const heap = (process.env['KAFKA_HEAP_OPTS'] ?? '').split(' ').filter(Boolean);
  running = spawn('java', [...heap, NAMES, '-cp', '/opt/kafka/libs/*', ...args], { stdio: 'inherit' });
  return running;
}

const ended = (child: ChildProcess) =>
  new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 137)));

/** What Redpanda says of the health of its cluster, from what Kafka says of its brokers and partitions. */
async function healthOf(admin: Admin): Promise<object> {
  const { value } = await admin.cluster();
  if (!value) throw new Error('the brokers cannot be listed');
  const lists = { leaderless: [] as string[], lagging: [] as string[] };
  for await (const page of admin.topics()) {
    if (!page.value) throw new Error('the topics cannot be listed');
    for (const { name, partitions } of page.value)
      for (const { index, leader, replicas, isr } of partitions) {
        if (leader < 0) lists.leaderless.push(`kafka/${name}/${index}`);
        if (isr.length < replicas.length) lists.lagging.push(`kafka/${name}/${index}`);
      }
  }
  const down = value.nodes.filter(({ fenced }) => fenced).map(({ id }) => id);
  return {
    is_healthy: down.length + lists.leaderless.length + lists.lagging.length === 0,
    unhealthy_reasons: [],
    controller_id: value.controllerId,
    all_nodes: value.nodes.map(({ id }) => id),
    nodes_down: down,
    leaderless_partitions: lists.leaderless,
    under_replicated_partitions: lists.lagging,
  };
}

async function isServing(admin: Admin, id: number): Promise<boolean> {
  const { value } = await admin.cluster();
  return value?.nodes.some((node) => node.id === id && !node.fenced) ?? false;
}

function serveAdminApi(admin: Admin, { redpanda }: NodeFile, podIP: string): void {
  const answers: Record<string, () => Promise<object | undefined>> = {
    '/v1/status/ready': async () =>
      (await isServing(admin, redpanda.node_id)) ? { status: 'ready' } : undefined,
    '/v1/cluster/health_overview': () => healthOf(admin),
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''] ?? (async () => undefined);
    answer().then(
      (body) => response.writeHead(body ? 200 : 503).end(JSON.stringify(body ?? {})),
      () => response.writeHead(503).end(),
    );
  });
  for (const { port } of redpanda.admin) server.listen(port, podIP);
}

async function start(): Promise<void> {
  const [command, verb, ...flags] = process.argv.slice(2);
  if (command !== 'redpanda' || verb !== 'start') fail(`rpk: unknown command ${command} ${verb}`);
  const unknown = flags.filter((flag) => !FLAGS.test(flag));
  if (unknown.length > 0) fail(`rpk: unknown flags ${unknown.join(' ')}`);
  const podIP = process.env['POD_IP'] ?? fail('POD_IP is not set');
  const file = parse(readFileSync(CONFIG, 'utf8')) as NodeFile;
  const { properties, pem } = propertiesOf(file, parse(readFileSync(BOOTSTRAP, 'utf8')) as object, podIP);
  for (const [path, parts] of pem)
    writeFileSync(path, parts.map((part) => readFileSync(part, 'utf8')).join('\n'), { mode: 0o600 });
  writeFileSync(PROPERTIES, [...properties].map(([key, value]) => `${key}=${value}\n`).join(''));
  if (!existsSync(`${properties.get('log.dirs')}/meta.properties`)) {
    const format = ['kafka.tools.StorageTool', 'format', `-t=${clusterIdOf(file)}`, `-c=${PROPERTIES}`];
    const code = await ended(java(format));
    if (code !== 0) fail(`the data directory cannot be formatted (${code})`);
  }
  const kafka = java(['kafka.Kafka', PROPERTIES]);
  const { port } = file.redpanda.rpc_server;
  // Asked at its own address alone: what it knows is what it says.
  const admin = openAdmin({
    bootstrap: [{ host: podIP, port }],
    addressOf: () => ({ host: podIP, port }),
    requestTimeoutMs: 4000,
    callTimeoutMs: 4000,
  });
  serveAdminApi(admin, file, podIP);
  process.exit(await ended(kafka));
}

// The first process of a container gets no signal that it has not asked for.
process.on('SIGTERM', () => (running ? running.kill('SIGTERM') : process.exit(143)));
start().catch((error: unknown) => fail(String(error)));
