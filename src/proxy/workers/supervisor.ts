import type { Log } from '../../ops/log.ts';
import { sumOfSnapshots } from '../../ops/metrics.ts';
import type { Metrics, Snapshot } from '../../ops/metrics.ts';
import type { TapBatch } from '../cluster/tap.ts';
import { canonical, nameInKey } from '../config/canonical.ts';
import type { Problem, ProxyConfig } from '../config/model.ts';
import type { Counts } from './data-plane.ts';
import { createKnownBrokers } from './known-brokers.ts';
import type { FromWorker } from './messages.ts';
import { blamed, retained, serviceable } from './out-of-service.ts';
import type { Blame, OutOfService } from './out-of-service.ts';
import { poolHealth, TICK_MS } from './supervision.ts';
import { createTicketKeys, rotateTicketKeys } from './ticket-keys.ts';
import type { WorkerPool } from './worker-pool.ts';
import type { Response } from './worker-process.ts';
import { createWorkerSlot } from './worker-slot.ts';
import type { ExitReason, WorkerSlot } from './worker-slot.ts';

const APPLY_TIMEOUT_MS = 30_000;
const REPORT_TIMEOUT_MS = 2000;

/** Several worker processes that share every port: started, restarted when they die, and told what others learned. */
export function createWorkerPool(
  count: number,
  log: Log,
  metrics: Metrics,
  onTapped: (batch: TapBatch) => void,
): WorkerPool {
  const slots: WorkerSlot[] = [];
  // Counters of workers that died stay in the sums, or the sums would go back.
  let exited: Promise<Snapshot> = Promise.resolve([]);
  const brokers = createKnownBrokers();
  let ticketKeys = createTicketKeys().toString('base64');
  let config: ProxyConfig | undefined;
  let outOfService: OutOfService = new Map();
  let isTapped = false;
  let lastProblems: Problem[] = [];
  const exits = metrics.counter(
    'isthmus_proxy_worker_exits_total',
    'Workers that have ended, by themselves or because they were stuck and were killed',
  );

  const othersOf = (slot: WorkerSlot) => slots.filter((other) => other !== slot);

  function onMessage(slot: WorkerSlot, message: FromWorker): void {
    if (message.type === 'learned') {
      const { cluster, nodes } = message;
      brokers.learn(cluster, nodes);
      for (const { worker } of othersOf(slot)) worker.send({ type: 'nodes', cluster, nodes });
    } else if (message.type === 'forgot') {
      brokers.forget(message.cluster, message.node, message.address);
    } else if (message.type === 'where') {
      const address = brokers.find(message.cluster, message.node);
      slot.worker.send({ type: 'found', id: message.id, address });
    } else if (message.type === 'tell') {
      for (const { worker } of othersOf(slot)) worker.send({ ...message, type: 'told' });
    } else if (message.type === 'tapped') {
      onTapped(message.batch);
    } else if (message.type === 'counts') {
      slot.counts = message.counts;
      for (const other of othersOf(slot))
        other.worker.send({ type: 'others', counts: sumOf(othersOf(other)) });
    }
  }

  function keepCounters(snapshot: Snapshot): void {
    const counters = snapshot.filter((metric) => (metric as { type?: string }).type !== 'gauge');
    exited = exited.then((sum) => sumOfSnapshots([sum, counters]));
  }

  /** What a filter lacks may be one worker's alone, and all else is the same in all. If none is free to answer, those of before stand. */
  function noteProblems(responses: readonly (Response | undefined)[]): void {
    if (responses.every((response) => response === undefined)) return;
    const said = responses.flatMap((response) => response?.problems ?? []);
    lastProblems = [...new Map(said.map((problem) => [canonical(problem), problem])).values()];
  }

  /** Sends a new worker the configuration and what is known of the brokers. */
  async function initialise(slot: WorkerSlot): Promise<void> {
    slot.worker.send({ type: 'ticketKeys', keys: ticketKeys });
    slot.worker.send({ type: 'tap', on: isTapped });
    if (!config) return;
    const { worker } = slot;
    await applyTo(slot, serviceable(config, outOfService, Date.now()).config);
    for (const [cluster, nodes] of brokers.all()) worker.send({ type: 'nodes', cluster, nodes });
  }

  async function applyTo(slot: WorkerSlot, next: ProxyConfig): Promise<Response | undefined> {
    const { worker } = slot;
    slot.note({ type: 'applying' });
    const response = await worker.request({ type: 'apply', config: next }, APPLY_TIMEOUT_MS);
    if (slot.worker === worker) slot.note({ type: 'applied', inEffect: response !== undefined });
    return response;
  }

  /** Goes over to what is to be served now. */
  async function applyServiceable(all: ProxyConfig): Promise<void> {
    const { config: next } = serviceable(all, outOfService, Date.now());
    noteProblems(await Promise.all(slots.map((slot) => applyTo(slot, next))));
  }

  function takeOut(blame: Blame): void {
    if (!config) return;
    const { service, filter } = blame.owner;
    const before = outOfService.get(service);
    const now = Date.now();
    outOfService = retained(blamed(outOfService, blame, now), config);
    const out = outOfService.get(service);
    if (!out || out === before || out.until <= now) return;
    const about = { virtualCluster: nameInKey(service), filter, why: blame.how };
    log.error({ ...about, until: new Date(out.until) }, 'virtual cluster is out of service');
    const applyAgain = () => void applyServiceable(config!);
    applyAgain();
    setTimeout(applyAgain, out.until - now + TICK_MS).unref(); // not a moment too early
  }

  async function reportOf(slot: WorkerSlot): Promise<Response | undefined> {
    const response = await slot.worker.request({ type: 'report' }, REPORT_TIMEOUT_MS);
    if (response?.type !== 'report') return undefined;
    slot.lastSnapshot = response.snapshot;
    return response;
  }

  const events = {
    onMessage,
    onBlame: takeOut,
    onExit(lastSnapshot: Snapshot, reason: ExitReason) {
      exits.of({ reason }).value += 1;
      keepCounters(lastSnapshot);
    },
    onRestart: (slot: WorkerSlot) => void initialise(slot),
  };
  for (let number = 1; number <= count; number++)
    slots.push(createWorkerSlot({ number, logLevel: log.level, ticketKeys }, log, events));

  const { health, stopTicking } = superviseSlots(slots, metrics);
  const stopRotating = rotateTicketKeys((keys) => {
    ticketKeys = keys.toString('base64');
    for (const { worker } of slots) worker.send({ type: 'ticketKeys', keys: ticketKeys });
  });

  return {
    async apply(next) {
      brokers.retain(next);
      config = next;
      outOfService = retained(outOfService, next);
      await applyServiceable(next);
    },
    async report() {
      noteProblems(await Promise.all(slots.map(reportOf)));
      // Of a worker that is too busy to answer, what it said last: its counters must not vanish for a scrape.
      const snapshots = [...slots.map(({ lastSnapshot }) => lastSnapshot), await exited];
      const isOut = config ? serviceable(config, outOfService, Date.now()).problems : [];
      return { snapshots, problems: [...lastProblems, ...isOut] };
    },
    learn(cluster, nodes) {
      brokers.learn(cluster, nodes);
      for (const { worker } of slots) worker.send({ type: 'nodes', cluster, nodes });
    },
    nodes: (cluster) => brokers.nodes(cluster),
    tap(on) {
      isTapped = on;
      for (const { worker } of slots) worker.send({ type: 'tap', on });
    },
    async drain(timeoutMs) {
      stopTicking();
      stopRotating();
      for (const slot of slots) slot.stop();
      const late = setTimeout(() => {
        for (const { worker } of slots) worker.kill();
      }, timeoutMs + REPORT_TIMEOUT_MS);
      for (const { worker } of slots) worker.send({ type: 'drain', timeoutMs });
      await Promise.all(slots.map(({ worker }) => worker.ended));
      clearTimeout(late);
    },
    health,
    pids: () => slots.map(({ worker }) => worker.pid),
  };
}

/** Looks after the workers each second. */
function superviseSlots(slots: readonly WorkerSlot[], metrics: Metrics) {
  let idleMs = 0;
  const health = () =>
    poolHealth(
      slots.map(({ state }) => state),
      idleMs,
    );
  const ticker = setInterval(() => {
    for (const slot of slots) slot.note({ type: 'tick', isStopped: slot.worker.isStopped() });
    idleMs = health().serving > 0 ? 0 : idleMs + TICK_MS;
  }, TICK_MS);
  ticker.unref();
  const workers = metrics.gauge(
    'isthmus_proxy_workers',
    'Worker processes, by whether they carry connections',
  );
  metrics.beforeReport(() => {
    const { serving } = health();
    workers.of({ state: 'serving' }).value = serving;
    workers.of({ state: 'not_serving' }).value = slots.length - serving;
  });
  return { health, stopTicking: () => clearInterval(ticker) };
}

function sumOf(slots: readonly WorkerSlot[]): Counts {
  const addresses = new Map<string, number>();
  let total = 0;
  for (const { counts } of slots) {
    total += counts.total;
    for (const [address, count] of counts.addresses)
      addresses.set(address, (addresses.get(address) ?? 0) + count);
  }
  return { total, addresses: [...addresses] };
}
