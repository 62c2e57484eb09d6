/**
 * The benchmark itself, to be run in a network namespace with nothing else in it. The first argument is our program.
 * Prints one line of JSON.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startKafka } from '../../test/support/kafka.ts';
import type { Server } from '../../src/store/embedded/process.ts';
import { workspace } from '../../test/support/workspace.ts';
import { prepareNetwork } from '../support/namespace.ts';
import { figuresOf, loadName, ratiosOf } from './figures.ts';
import type { LatencySample, LoadSample, RecordSize, Samples } from './figures.ts';
import { consume, describeTopic, measureLatency, openIdle, PARTITIONS, produce } from './load.ts';
import type { Topic } from './load.ts';
import { allPeers, brokerThrough, startPeer } from './peers.ts';
import type { Channel, Peer } from './peers.ts';
import { cpuSeconds, residentBytes } from './usage.ts';
import type { Wire } from './wire.ts';

interface Plan {
  /** Carried each way before anything counts: the JVM compiles what it runs, and only then is what it will be. */
  warmBytes: number;
  /** The first rounds do not count either. */
  warmRounds: number;
  rounds: number;
  starts: number;
  loadBytes: Record<RecordSize, number>;
  /** Short and many: a moment in which the machine is busy with something else spoils one of them, not the figure. */
  latencyRounds: number;
  latencySeconds: number;
  idleConnections: number;
  /** Whether the direct connection is put under load too. It has no CPU figure, only a rate. */
  directLoad: boolean;
  /** No further round is begun when so much time has passed. */
  roundsUntilSeconds: number;
}

const FULL: Plan = {
  warmBytes: 1000e6,
  warmRounds: 1,
  rounds: 5,
  starts: 5,
  loadBytes: { '1k': 240e6, '100b': 160e6 },
  latencyRounds: 15,
  latencySeconds: 3,
  idleConnections: 5000,
  directLoad: true,
  roundsUntilSeconds: Infinity,
};
const QUICK: Plan = {
  warmBytes: 250e6,
  warmRounds: 0,
  rounds: 2,
  starts: 2,
  loadBytes: { '1k': 80e6, '100b': 60e6 },
  latencyRounds: 10,
  latencySeconds: 1,
  idleConnections: 5000,
  directLoad: false,
  roundsUntilSeconds: 85,
};

const SIZES: Record<RecordSize, number> = { '1k': 1024, '100b': 100 };

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A running peer; the direct connection has no process. */
interface Running {
  peer: Peer;
  server: Server | undefined;
}

interface Topics {
  sink: string;
  latency: Topic;
  source: Record<RecordSize, Topic>;
}

/** Old segments go quickly: the runs write more than anyone should have to keep. */
const BROKER = {
  'log.segment.bytes': 67_108_864,
  'log.retention.bytes': 134_217_728,
  'log.retention.check.interval.ms': 5000,
  'log.segment.delete.delay.ms': 1000,
  'max.connections': 20_000,
};

async function prepareTopics(
  direct: Peer,
  create: (name: string, partitions: number) => Promise<void>,
): Promise<Topics> {
  await create('sink', PARTITIONS);
  await create('latency', 1);
  const source = {} as Record<RecordSize, Topic>;
  for (const size of ['1k', '100b'] as const) {
    await create(`source-${size}`, PARTITIONS);
    await produce(direct.bootstrap.plain, `source-${size}`, SIZES[size], 12e6);
    source[size] = await describeTopic(direct.bootstrap.plain, `source-${size}`);
  }
  return { sink: 'sink', latency: await describeTopic(direct.bootstrap.plain, 'latency'), source };
}

async function measureLoad(
  { peer, server }: Running,
  load: Pick<LoadSample, 'channel' | 'direction' | 'size'>,
  topics: Topics,
  bytes: number,
): Promise<LoadSample> {
  const target = await brokerThrough(peer, load.channel);
  const before = server ? cpuSeconds(server.pid) : 0;
  const carried =
    load.direction === 'produce'
      ? await produce(target, topics.sink, SIZES[load.size], bytes)
      : await consume(target, topics.source[load.size], bytes);
  const cpu = server ? cpuSeconds(server.pid) - before : 0;
  return {
    peer: peer.name,
    ...load,
    gigabytes: carried.bytes / 1e9,
    seconds: carried.seconds,
    cpuSeconds: cpu,
  };
}

function loads(): Pick<LoadSample, 'channel' | 'direction' | 'size'>[] {
  return (['plain', 'tls'] as const satisfies Channel[]).flatMap((channel) =>
    (['1k', '100b'] as const).flatMap((size) =>
      (['produce', 'consume'] as const).map((direction) => ({ channel, direction, size })),
    ),
  );
}

async function loadRound(
  peers: readonly Running[],
  topics: Topics,
  plan: Plan,
  samples: Samples,
): Promise<void> {
  for (const load of loads()) {
    const line: string[] = [];
    for (const each of peers) {
      if (!each.server && !plan.directLoad) continue;
      const sample = await measureLoad(each, load, topics, plan.loadBytes[load.size]);
      samples.loads.push(sample);
      const { server } = each;
      if (server)
        samples.memory.push({ peer: each.peer.name, when: 'load', bytes: residentBytes(server.pid) });
      line.push(`${each.peer.name} ${(sample.cpuSeconds / sample.gigabytes).toFixed(2)}`);
    }
    log(`  ${loadName(load).padEnd(16)} CPU-s/GB: ${line.join(', ')}`);
  }
}

/** Nobody is always first, or always right behind the same one. */
const inTurn = (running: readonly Running[], round: number): Running[] =>
  running.map((_, i) => running[(i + round) % running.length]!);

/** All peers in each round, one right after the other. */
async function measureLatencies(
  running: readonly Running[],
  topic: Topic,
  { latencyRounds, latencySeconds }: Plan,
): Promise<LatencySample[]> {
  const samples: LatencySample[] = [];
  log(`latency, ${latencyRounds} rounds`);
  for (let round = 0; round < latencyRounds; round++) {
    const line: string[] = [];
    for (const { peer } of inTurn(running, round)) {
      const latency = await measureLatency(await brokerThrough(peer, 'plain'), topic, latencySeconds);
      samples.push({ peer: peer.name, round, ...latency });
      line.push(`${peer.name} ${latency.p50.toFixed(1)}/${latency.p99.toFixed(1)}`);
    }
    log(`  p50/p99 ms: ${line.join(', ')}`);
  }
  return samples;
}

const emptySamples = (): Samples => ({
  loads: [],
  latencies: [],
  starts: [],
  memory: [],
  bytesPerIdleConnection: {},
});

/** Starts a peer as often as the plan says; the last one stays. */
async function startRepeatedly(peer: Peer, topic: string, plan: Plan, samples: Samples): Promise<Running> {
  let server: Server | undefined;
  for (let i = 0; i < plan.starts && peer.start; i++) {
    await server?.stop('SIGKILL');
    const started = (await startPeer(peer, topic))!;
    server = started.server;
    samples.starts.push({ peer: peer.name, seconds: started.seconds });
  }
  await delay(1000); // what it does after its first record is not idleness yet
  if (server) samples.memory.push({ peer: peer.name, when: 'idle', bytes: residentBytes(server.pid) });
  return { peer, server };
}

async function warmUp(each: Running, topics: Topics, { warmBytes }: Plan): Promise<void> {
  if (!each.peer.rewrites) return;
  log(`warming up ${each.peer.name}`);
  for (const load of loads().filter(({ size }) => size === '1k')) {
    await measureLoad(each, load, topics, warmBytes);
  }
}

async function measureIdle({ peer, server }: Running, plan: Plan, samples: Samples): Promise<void> {
  if (!server) return;
  const target = await brokerThrough(peer, 'plain');
  let wires: Wire[] = [];
  const before = residentBytes(server.pid);
  try {
    wires = await openIdle(target, plan.idleConnections);
    await delay(2000);
    const bytes = Math.round((residentBytes(server.pid) - before) / plan.idleConnections);
    samples.bytesPerIdleConnection[peer.name] = bytes;
    log(`  ${peer.name}: ${bytes} bytes per idle connection`);
  } finally {
    for (const wire of wires) wire.close();
  }
}

async function main(plan: Plan, program: string): Promise<void> {
  await prepareNetwork();
  log('starting the broker and the peers');
  await using kafka = await startKafka({ heapMb: 512, properties: BROKER });
  const peers = await allPeers({ kafka, directory: workspace('proxies'), program });
  const create = async (name: string, partitions: number) => {
    const where = ['--bootstrap-server', kafka.bootstrap.plaintext, '--create', '--topic', name];
    const { code, stderr } = await kafka.tool('kafka-topics', [...where, '--partitions', String(partitions)]);
    if (code !== 0) throw new Error(stderr);
  };
  const topics = await prepareTopics(peers[0]!, create);

  const counted = emptySamples();
  const running: Running[] = [];
  for (const peer of peers) running.push(await startRepeatedly(peer, topics.sink, plan, counted));
  for (const each of running) await warmUp(each, topics, plan);
  for (let round = 0; round < plan.warmRounds + plan.rounds; round++) {
    if (round > plan.warmRounds && process.uptime() > plan.roundsUntilSeconds) break;
    const warm = round >= plan.warmRounds;
    log(`round ${round + 1} of ${plan.warmRounds + plan.rounds}${warm ? '' : ' (warming up)'}`);
    await loadRound(inTurn(running, round), topics, plan, warm ? counted : emptySamples());
  }
  counted.latencies = await measureLatencies(running, topics.latency, plan);
  log('idle connections');
  for (const each of running) await measureIdle(each, plan, counted);
  for (const { server } of running) await server?.stop('SIGKILL');
  process.stdout.write(`${JSON.stringify({ ratios: ratiosOf(counted), figures: figuresOf(counted) })}\n`);
}

await main(process.argv.includes('--quick') ? QUICK : FULL, process.argv[2]!);
