/**
 * Our DNS server beside CoreDNS (`file` and `hosts`) and Knot (one worker), in one run, rounds interleaved: CPU for each
 * query, answers a second, latency at a fixed rate, memory, queries lost while records change, and how long a change keeps the main thread.
 */
import { loadavg } from 'node:os';
import { measure } from './dns/load.ts';
import { compiled, startCoreDns, startIsthmus, startKnotSubject } from './dns/servers.ts';
import { measureTurns } from './dns/turns.ts';
import { ensureDnsTools } from '../test/integration/dns/tools.ts';
import type { Kind, Load, Outcome } from './dns/load.ts';
import type { Subject } from './dns/servers.ts';
import type { DnsTools } from '../test/integration/dns/tools.ts';
import type { BenchOptions, BenchResult } from './main.ts';

const KINDS: readonly Kind[] = ['hit', 'nodata', 'nxdomain'];
const SMALL = 1000;
const LARGE = 100_000;
/** Below what any of the servers can do on one busy core: latency, not throughput, is measured with it. */
const FIXED_RATE = 5000;
const UPDATES_PER_SECOND = 100;

interface Plan {
  rounds: number;
  seconds: number;
  latencyRounds: number;
  updateSeconds: number;
  largeKinds: readonly Kind[];
}

const QUICK: Plan = { rounds: 3, seconds: 1, latencyRounds: 5, updateSeconds: 5, largeKinds: ['hit'] };
const FULL: Plan = { rounds: 7, seconds: 4, latencyRounds: 11, updateSeconds: 30, largeKinds: KINDS };

/** Runs the benchmark. */
export async function run({ quick, log }: BenchOptions): Promise<BenchResult> {
  const plan = quick ? QUICK : FULL;
  const tools = await ensureDnsTools();
  const result: BenchResult = { ratios: {}, figures: {} };
  await compare(tools, plan, SMALL, KINDS, result, log);
  await compare(tools, plan, LARGE, plan.largeKinds, result, log);
  await changeWhileServing(tools, plan, result, log);
  result.figures['load_average'] = round(loadavg()[0]!);
  for (const [change, ms] of Object.entries(await measureTurns(await compiled(), LARGE))) {
    log(`longest turn of ${change}, ${LARGE} names: ${ms} ms`);
    result.figures[`longest_turn_ms.${change}`] = ms;
  }
  return result;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const round = (value: number) => Number(value.toPrecision(3));

/** Which server is asked what. Without an authority section to fill, `hosts` is comparable in hits only. */
function asks(subject: Subject, kind: Kind): boolean {
  return kind === 'hit' || !subject.name.endsWith('hosts');
}

function startAll(tools: DnsTools, names: number): Promise<Subject[]> {
  return Promise.all([
    startIsthmus('fast', names),
    startIsthmus('portable', names),
    startCoreDns('file', names),
    startCoreDns('hosts', names),
    startKnotSubject(tools, names),
  ]);
}

async function compare(
  tools: DnsTools,
  plan: Plan,
  names: number,
  kinds: readonly Kind[],
  result: BenchResult,
  log: (line: string) => void,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const subjects = (await startAll(tools, names)).map((subject) => stack.use(subject));
  const outcomes = new Map<string, Outcome[]>();
  const put = async (subject: Subject, key: string, load: Omit<Load, 'names'>) => {
    const outcome = await measure(tools, subject, { names, ...load });
    const all = outcomes.get(`${key}.${subject.name}`) ?? [];
    outcomes.set(`${key}.${subject.name}`, [...all, outcome]);
    log(`${names} names ${key} ${subject.name}: ${describe(outcome)}`);
  };
  // Once unmeasured, so that every server has compiled, cached and grown what it will.
  for (const subject of subjects)
    await measure(tools, subject, { names, kind: 'hit', seconds: plan.seconds });
  for (let i = 0; i < plan.rounds; i++) {
    for (const kind of kinds) {
      for (const subject of subjects.filter((each) => asks(each, kind))) {
        await put(subject, kind, { kind, seconds: plan.seconds });
      }
    }
  }
  if (names === SMALL) {
    await put(subjects[0]!, 'cookie', { kind: 'hit', seconds: plan.seconds, cookie: true });
    const [fast, , file] = subjects as [Subject, Subject, Subject];
    for (let i = 0; i < plan.latencyRounds; i++) {
      for (const subject of [fast, file]) {
        await put(subject, 'fixed', {
          kind: 'hit',
          seconds: plan.seconds,
          rate: FIXED_RATE,
          latencies: true,
        });
      }
    }
  }
  for (const subject of subjects) {
    if (names === LARGE) result.figures[`rss_mb_100k.${subject.name}`] = await subject.memory();
  }
  summarise(outcomes, names, result);
}

function describe({ cpuMicros, perSecond, lost, p99Ms }: Outcome): string {
  const p99 = Number.isNaN(p99Ms) ? '' : `, p99 ${p99Ms.toFixed(2)} ms`;
  return `${cpuMicros.toFixed(1)} µs CPU, ${perSecond.toFixed(0)}/s${p99}${lost > 0 ? `, ${lost} lost` : ''}`;
}

function summarise(outcomes: ReadonlyMap<string, Outcome[]>, names: number, result: BenchResult): void {
  const size = names === SMALL ? '' : '_100k';
  const of = (key: string, figure: keyof Outcome) =>
    median((outcomes.get(key) ?? []).map((each) => each[figure]));
  for (const key of outcomes.keys()) {
    const [kind, ...subject] = key.split('.');
    result.figures[`cpu_us${size}.${kind}.${subject.join('.')}`] = round(of(key, 'cpuMicros'));
    if (kind !== 'fixed')
      result.figures[`per_second${size}.${kind}.${subject.join('.')}`] = round(of(key, 'perSecond'));
    else result.figures[`p99_ms.${subject.join('.')}`] = round(of(key, 'p99Ms'));
  }
  const ratio = (name: string, ours: string, theirs: string, figure: keyof Outcome = 'cpuMicros') => {
    if (!outcomes.has(ours) || !outcomes.has(theirs)) return;
    result.ratios[name] = round(of(ours, figure) / of(theirs, figure));
  };
  for (const kind of KINDS) {
    ratio(`cpu_per_query${size}.${kind}.vs_coredns`, `${kind}.isthmus-fast`, `${kind}.coredns-file`);
    ratio(`cpu_per_query${size}.${kind}.vs_knot`, `${kind}.isthmus-fast`, `${kind}.knot`);
    ratio(
      `cpu_per_query_dgram${size}.${kind}.vs_coredns`,
      `${kind}.isthmus-portable`,
      `${kind}.coredns-file`,
    );
  }
  ratio(`cpu_per_query${size}.hit.vs_coredns_hosts`, 'hit.isthmus-fast', 'hit.coredns-hosts');
  ratio('p99.vs_coredns', 'fixed.isthmus-fast', 'fixed.coredns-file', 'p99Ms');
  if (names === LARGE) result.figures['rss_mb_100k'] = result.figures['rss_mb_100k.isthmus-fast'];
}

/** Changes records while queries come at the fixed rate: none may be lost. */
async function changeWhileServing(
  tools: DnsTools,
  plan: Plan,
  result: BenchResult,
  log: (line: string) => void,
): Promise<void> {
  let lost = 0;
  for (const udp of ['fast', 'portable'] as const) {
    await using subject = await startIsthmus(udp, LARGE, UPDATES_PER_SECOND);
    const load: Load = {
      names: LARGE,
      kind: 'hit',
      seconds: plan.updateSeconds,
      rate: FIXED_RATE,
      latencies: true,
    };
    const outcome = await measure(tools, subject, load);
    log(`${UPDATES_PER_SECOND} updates a second, ${subject.name}: ${describe(outcome)}`);
    result.figures[`during_updates.p99_ms.${subject.name}`] = round(outcome.p99Ms);
    result.figures[`during_updates.completed.${subject.name}`] = outcome.completed;
    lost += outcome.lost;
  }
  result.figures['lost_during_updates'] = lost;
}
