/**
 * What it costs to reach a broker from outside: through its host port, straight at its pod, through a NodePort with a hop, and through our
 * proxy, rounds interleaved, in a real cluster in network namespaces of its own. And whether the internal listener notices that its broker is exposed.
 */
import { join } from 'node:path';
import { startClusters } from '../test/support/clusters/clusters.ts';
import type { Clusters } from '../test/support/clusters/clusters.ts';
import { figuresOf, ratiosOf } from './expose/figures.ts';
import type { LatencySample, LoadRound, Samples } from './expose/figures.ts';
import type { Path, Round } from './expose/round.ts';
import { buildSite } from './expose/site.ts';
import type { BenchOptions, BenchResult } from './main.ts';

interface Plan {
  /** Carried to and from each broker before anything counts, the same for both: their JVMs compile what they run. */
  warmBytes: number;
  /** Carried by each path after that, for whatever else is on it. */
  pathBytes: number;
  loadRounds: number;
  loadBytes: number;
  latencyRounds: number;
  latencySeconds: number;
}

const FULL: Plan = {
  warmBytes: 1.5e9,
  pathBytes: 100e6,
  loadRounds: 7,
  loadBytes: 300e6,
  latencyRounds: 15,
  latencySeconds: 2,
};
const QUICK: Plan = {
  warmBytes: 300e6,
  pathBytes: 30e6,
  loadRounds: 2,
  loadBytes: 100e6,
  latencyRounds: 5,
  latencySeconds: 1,
};

/** What consumers read again and again: it stays in memory. */
const SOURCE_BYTES = 12e6;
const ROUND = join(import.meta.dirname, 'expose/round.ts');

type Player = (round: Round) => Promise<unknown>;

function playerOf({ outside }: Clusters): Player {
  return async (round) => {
    const command = [process.execPath, ROUND, JSON.stringify(round)];
    const { code, stdout, stderr } = await outside.run(command, { timeoutMs: 900_000 });
    if (code !== 0) throw new Error(`a round failed: ${stderr}`);
    return JSON.parse(stdout) as unknown;
  };
}

/** Nobody is always first, or always right behind the same one: every other round goes backwards. */
function inTurn(paths: readonly Path[], round: number): Path[] {
  const turned = paths.map((_, i) => paths[(i + round) % paths.length]!);
  return round % 2 === 0 ? turned : turned.toReversed();
}

async function measure(play: Player, paths: Path[], plan: Plan, log: BenchOptions['log']): Promise<Samples> {
  const samples: Samples = { loads: [], latencies: [] };
  const brokers = paths.filter(({ name }) => name.startsWith('internal'));
  await play({ do: 'fill', paths: brokers, bytes: SOURCE_BYTES });
  log('warming up');
  await play({ do: 'load', paths: brokers, bytes: plan.warmBytes });
  await play({ do: 'load', paths, bytes: plan.pathBytes });
  for (let round = 0; round < plan.loadRounds; round++) {
    const load: Round = { do: 'load', paths: inTurn(paths, round), bytes: plan.loadBytes };
    samples.loads.push((await play(load)) as LoadRound);
    const { quiet, loads } = samples.loads.at(-1)!;
    const seconds = loads.map((each) => `${each.path} ${each.busySeconds.toFixed(2)}`);
    log(`load ${round + 1} of ${plan.loadRounds}, CPU-s: ${seconds.join(', ')}; quiet: ${quiet.map((cores) => cores.toFixed(2)).join(' ')}`); // prettier-ignore
  }
  for (let round = 0; round < plan.latencyRounds; round++) {
    const latency: Round = { do: 'latency', paths: inTurn(paths, round), seconds: plan.latencySeconds };
    samples.latencies.push((await play(latency)) as LatencySample[]);
    const line = samples.latencies.at(-1)!.map((each) => `${each.path} ${each.p50.toFixed(1)}/${each.p99.toFixed(1)}`); // prettier-ignore
    log(`latency ${round + 1} of ${plan.latencyRounds}, p50/p99 ms: ${line.join(', ')}`);
  }
  return samples;
}

/** Runs the benchmark. Needs root, as everything that makes clusters does. */
export async function run({ quick, log }: BenchOptions): Promise<BenchResult> {
  log('starting a cluster of two nodes');
  await using clusters = await startClusters(1, { nodes: 2, routed: true, images: ['isthmus', 'kafka'] });
  log('starting two brokers, one of them exposed, and the proxy');
  const paths = await buildSite(clusters);
  const samples = await measure(playerOf(clusters), paths, quick ? QUICK : FULL, log);
  return { ratios: ratiosOf(samples), figures: figuresOf(samples) };
}
