/**
 * One round, to be run on the machine outside: the first argument is what to do, as JSON. Prints samples as one line of JSON.
 * Rounds are processes of their own, and what Node takes to start is over before anything is measured.
 */
import { consume, describeTopic, discover, measureLatency, produce } from '../proxy/load.ts';
import type { Target } from '../proxy/wire.ts';
import type { LatencySample, LoadRound, LoadSample, PathName } from './figures.ts';
import { busyDuring, quietInterval } from './machine.ts';

/** Where a path begins. The brokers behind all of them have the same topics. */
export interface Path extends Target {
  name: PathName;
  /** The port that clients ask first, if that is another: a proxy learns by their questions where its brokers are. */
  bootstrapPort?: number;
}

/** In the order of the paths. */
export type Round = { paths: Path[] } & (
  | { do: 'fill'; bytes: number }
  | { do: 'load'; bytes: number }
  | { do: 'latency'; seconds: number }
);

export const TOPICS = { sink: 'sink', source: 'source', latency: 'latency' } as const;
const RECORD_BYTES = 1024;
/** Until the code of this process is compiled. */
const WARM_BYTES = 20e6;
const QUIET_MS = 1000;

async function begin({ host, port, bootstrapPort = port }: Path): Promise<void> {
  await discover({ host, port: bootstrapPort });
}

async function carry(path: Path, direction: LoadSample['direction'], bytes: number) {
  if (direction === 'produce') return produce(path, TOPICS.sink, RECORD_BYTES, bytes);
  return consume(path, await describeTopic(path, TOPICS.source), bytes);
}

async function loadRound(paths: readonly Path[], bytes: number): Promise<LoadRound> {
  const round: LoadRound = { loads: [], quiet: [] };
  for (const direction of ['produce', 'consume'] as const) {
    await carry(paths[0]!, direction, WARM_BYTES);
    for (const path of paths) {
      await begin(path);
      round.quiet.push(await quietInterval(QUIET_MS));
      const { result, busySeconds } = await busyDuring(() => carry(path, direction, bytes));
      const { bytes: carried, seconds } = result;
      round.loads.push({ path: path.name, direction, gigabytes: carried / 1e9, seconds, busySeconds });
    }
    round.quiet.push(await quietInterval(QUIET_MS));
  }
  return round;
}

async function latencyRound(paths: readonly Path[], seconds: number): Promise<LatencySample[]> {
  const samples: LatencySample[] = [];
  await measureLatency(paths[0]!, await describeTopic(paths[0]!, TOPICS.latency), 0.5);
  for (const path of paths) {
    await begin(path);
    const latency = await measureLatency(path, await describeTopic(path, TOPICS.latency), seconds);
    samples.push({ path: path.name, ...latency });
  }
  return samples;
}

async function play(round: Round): Promise<unknown> {
  const { paths } = round;
  if (round.do === 'load') return loadRound(paths, round.bytes);
  if (round.do === 'latency') return latencyRound(paths, round.seconds);
  for (const path of paths) await produce(path, TOPICS.source, RECORD_BYTES, round.bytes);
  return {};
}

if (import.meta.main)
  process.stdout.write(`${JSON.stringify(await play(JSON.parse(process.argv[2]!) as Round))}\n`);
