import { randomBytes } from 'node:crypto';
import type { Log } from '../../ops/log.ts';
import { sumOfSnapshots } from '../../ops/metrics.ts';
import type { Snapshot } from '../../ops/metrics.ts';
import type { Address, ProxyConfig } from '../config/model.ts';
import type { FromWorker } from './crew-messages.ts';
import type { Crew } from '../crew.ts';
import type { Counts, Problem } from '../data-plane.ts';
import { targetKey } from '../reload.ts';
import { sameAddress } from '../cluster/topology.ts';
import { startWorker } from './worker-process.ts';
import type { Answer, WorkerProcess } from './worker-process.ts';

/** A worker that ran so long and then died was not broken from the start. */
const PROVEN_MS = 10_000;
const FIRST_RESTART_MS = 100;
const SLOWEST_RESTART_MS = 5000;
const APPLY_MS = 30_000;
const REPORT_MS = 2000;

interface Place {
  number: number;
  worker: WorkerProcess;
  counts: Counts;
  lastSnapshot: Snapshot;
  restartMs: number;
  leaving: boolean;
}

/** Several worker processes that share every port: started, kept alive, and told of each other's findings. */
export function createWorkerCrew(count: number, log: Log): Crew {
  const places: Place[] = [];
  // Counters of workers that died stay in the sums, or the sums would go back.
  let departed: Promise<Snapshot> = Promise.resolve([]);
  const known = new Map<string, Map<number, Address>>();
  const ticketKeys = randomBytes(48).toString('base64');
  let config: ProxyConfig | undefined;
  let lastProblems: Problem[] = [];
  let stopping = false;

  function tellOthers(place: Place, cluster: string, nodes: [number, Address][]): void {
    for (const other of places) if (other !== place) other.worker.tell({ type: 'nodes', cluster, nodes });
  }

  function remember(cluster: string, nodes: [number, Address][]): void {
    const all = known.get(cluster) ?? new Map<number, Address>();
    known.set(cluster, all);
    for (const [node, address] of nodes) all.set(node, address);
  }

  function hear(place: Place, message: FromWorker): void {
    if (message.type === 'learned') {
      remember(message.cluster, message.nodes);
      tellOthers(place, message.cluster, message.nodes);
    } else if (message.type === 'forgot') {
      const nodes = known.get(message.cluster);
      if (sameAddress(nodes?.get(message.node), message.address)) nodes?.delete(message.node);
    } else if (message.type === 'where') {
      const address = known.get(message.cluster)?.get(message.node);
      place.worker.tell({ type: 'found', id: message.id, address });
    } else if (message.type === 'counts') {
      place.counts = message.counts;
      for (const other of places)
        if (other !== place) other.worker.tell({ type: 'others', counts: sumOfOthers(places, other) });
    }
  }

  function launch(place: Omit<Place, 'worker'> & { worker?: WorkerProcess }): Place {
    const setup = { number: place.number, logLevel: log.level, ticketKeys };
    const ready = place as Place;
    ready.worker = startWorker(setup, (message) => hear(ready, message));
    void ready.worker.ended.then((why) => replace(ready, why));
    return ready;
  }

  function replace(place: Place, why: string): void {
    keepCounters(place.lastSnapshot);
    place.lastSnapshot = [];
    place.counts = { total: 0, addresses: [] };
    if (stopping || place.leaving) return;
    const proven = performance.now() - place.worker.startedAt > PROVEN_MS;
    place.restartMs = proven ? FIRST_RESTART_MS : Math.min(place.restartMs * 2, SLOWEST_RESTART_MS);
    const { number, restartMs } = place;
    log.error(
      { worker: number, pid: place.worker.pid, why, restartMs },
      'a worker died and is started again',
    );
    setTimeout(() => {
      if (!stopping && !place.leaving) void brief(launch(place));
    }, restartMs);
  }

  function keepCounters(snapshot: Snapshot): void {
    const counters = snapshot.filter((metric) => (metric as { type?: string }).type !== 'gauge');
    departed = departed.then((sum) => sumOfSnapshots([sum, counters]));
  }

  /** They are the same in all workers; if none is free to answer, those of before stand. */
  function noteProblems(answers: readonly (Answer | undefined)[]): void {
    lastProblems = answers.find((answer) => answer !== undefined)?.problems ?? lastProblems;
  }

  /** Tells a new worker all that it has to know. */
  async function brief(place: Place): Promise<void> {
    if (!config) return;
    const { worker } = place;
    await worker.ask({ type: 'apply', config }, APPLY_MS);
    for (const [cluster, nodes] of known) worker.tell({ type: 'nodes', cluster, nodes: [...nodes] });
  }

  const newPlace = (number: number) => ({
    number,
    counts: { total: 0, addresses: [] },
    lastSnapshot: [],
    restartMs: FIRST_RESTART_MS / 2,
    leaving: false,
  });
  for (let number = 1; number <= count; number++) places.push(launch(newPlace(number)));

  return {
    async apply(next) {
      forgetMoved(known, next);
      config = next;
      const question = { type: 'apply', config: next } as const;
      noteProblems(await Promise.all(places.map(({ worker }) => worker.ask(question, APPLY_MS))));
    },
    async report() {
      const reports = await Promise.all(
        places.map(async (place) => {
          const answer = await place.worker.ask({ type: 'report' }, REPORT_MS);
          if (answer?.type !== 'report') return undefined;
          place.lastSnapshot = answer.snapshot;
          return answer;
        }),
      );
      noteProblems(reports);
      return {
        // Of a worker that is too busy to answer, what it said last: its counters must not vanish for a scrape.
        snapshots: [...places.map(({ lastSnapshot }) => lastSnapshot), await departed],
        problems: lastProblems,
      };
    },
    learn(cluster, nodes) {
      remember(cluster, nodes);
      for (const { worker } of places) worker.tell({ type: 'nodes', cluster, nodes });
    },
    async drain(timeoutMs) {
      stopping = true;
      const late = setTimeout(() => {
        for (const { worker } of places) worker.kill();
      }, timeoutMs + REPORT_MS);
      for (const { worker } of places) worker.tell({ type: 'drain', timeoutMs });
      await Promise.all(places.map(({ worker }) => worker.ended));
      clearTimeout(late);
    },
    pids: () => places.map(({ worker }) => worker.pid),
  };
}

function sumOfOthers(places: readonly Place[], place: Place): Counts {
  const addresses = new Map<string, number>();
  let total = 0;
  for (const { counts } of places.filter((other) => other !== place)) {
    total += counts.total;
    for (const [address, count] of counts.addresses)
      addresses.set(address, (addresses.get(address) ?? 0) + count);
  }
  return { total, addresses: [...addresses] };
}

/** Where nodes are is knowledge about a target; a virtual cluster with another target has to learn anew. */
function forgetMoved(known: Map<string, unknown>, after: ProxyConfig): void {
  const keys = new Set(after.virtualClusters.map(targetKey));
  for (const key of known.keys()) if (!keys.has(key)) known.delete(key);
}
