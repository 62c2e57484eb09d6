import { messageOf } from '../../ops/errors.ts';
import { createLog } from '../../ops/log.ts';
import type { LogLevel } from '../../ops/log.ts';
import { createMetrics } from '../../ops/metrics.ts';
import type { Address } from '../config/model.ts';
import { hasOwnFilters } from '../config/own-filters.ts';
import { createDataPlane } from './data-plane.ts';
import { SETUP_VARIABLE } from './messages.ts';
import type { FromWorker, ToWorker, WorkerSetup } from './messages.ts';
import { STALL_NOTES_FD } from './stall-note.ts';
import { watchStalls } from './stall-watch.ts';

/** The program of a worker process: a data plane that its supervisor controls by messages. */

/** A response that takes longer is not waited for: the connection finds its broker the long way. */
const LOOK_UP_TIMEOUT_MS = 250;
const COUNTS_INTERVAL_MS = 250;
const ALIVE_INTERVAL_MS = 1000;

const setup = JSON.parse(process.env[SETUP_VARIABLE] ?? '{}') as WorkerSetup;
const log = createLog(setup.logLevel as LogLevel, { worker: setup.number });
const metrics = createMetrics();

const send = (message: FromWorker) => {
  if (process.connected) process.send?.(message);
};

/** Only where there are filters of users' own: our own come to an end, and a thread takes some megabytes. */
let isWatched = false;

const lookUps = new Map<number, (address: Address | undefined) => void>();
let lastLookUp = 0;

const plane = createDataPlane({
  log,
  metrics,
  shared: true,
  ticketKeys: Buffer.from(setup.ticketKeys, 'base64'),
  share: (cluster, nodes) => send({ type: 'learned', cluster, nodes }),
  forget: (cluster, node, address) => send({ type: 'forgot', cluster, node, address }),
  tell: (channel, message) => send({ type: 'tell', channel, message }),
  onTapped: (batch) => send({ type: 'tapped', batch }),
  lookUp(cluster, node) {
    const { promise, resolve } = Promise.withResolvers<Address | undefined>();
    const id = ++lastLookUp;
    lookUps.set(id, resolve);
    setTimeout(resolve, LOOK_UP_TIMEOUT_MS, undefined);
    send({ type: 'where', id, cluster, node });
    return promise.finally(() => lookUps.delete(id));
  },
});

async function handle(message: ToWorker): Promise<void> {
  switch (message.type) {
    case 'apply':
      if (!isWatched && message.config.virtualClusters.some(hasOwnFilters)) {
        isWatched = true;
        watchStalls(STALL_NOTES_FD, log);
      }
      await plane.apply(message.config);
      return send({ type: 'applied', id: message.id, problems: plane.problems() });
    case 'nodes':
      return plane.learn(message.cluster, message.nodes);
    case 'found':
      return lookUps.get(message.id)?.(message.address);
    case 'others':
      return plane.setOthers(message.counts);
    case 'told':
      return plane.hear(message.channel, message.message);
    case 'ticketKeys':
      return plane.setTicketKeys(Buffer.from(message.keys, 'base64'));
    case 'tap':
      return plane.tap(message.on);
    case 'report':
      return send({
        type: 'report',
        id: message.id,
        snapshot: await metrics.snapshot(),
        problems: plane.problems(),
      });
    case 'drain':
      return drainAndExit(message.timeoutMs);
  }
}

async function drainAndExit(timeoutMs: number): Promise<void> {
  await plane.drain(timeoutMs);
  process.exit(0);
}

setInterval(() => send({ type: 'alive' }), ALIVE_INTERVAL_MS).unref();

let sent = '';
setInterval(() => {
  const counts = plane.counts();
  const text = JSON.stringify(counts);
  if (text === sent) return;
  sent = text;
  send({ type: 'counts', counts });
}, COUNTS_INTERVAL_MS).unref();

// The supervisor gets these too, and tells its workers to drain.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', () => void drainAndExit(10_000));
process.on('message', (message: ToWorker) => {
  handle(message).catch((error: unknown) =>
    log.error({ message: message.type, why: messageOf(error) }, 'worker message failed'),
  );
});
