import { messageOf } from '../../ops/errors.ts';
import { createLog } from '../../ops/log.ts';
import type { LogLevel } from '../../ops/log.ts';
import { createMetrics } from '../../ops/metrics.ts';
import type { Address } from '../config/model.ts';
import { SETUP_VARIABLE } from './crew-messages.ts';
import type { FromWorker, ToWorker, WorkerSetup } from './crew-messages.ts';
import { createDataPlane } from '../data-plane.ts';

/** The program of a worker process: a data plane that does what its supervisor says. */

/** An answer that does not come in this time is not waited for: the connection finds its broker the long way. */
const LOOK_UP_MS = 250;
const COUNTS_EVERY_MS = 250;

const setup = JSON.parse(process.env[SETUP_VARIABLE] ?? '{}') as WorkerSetup;
const log = createLog(setup.logLevel as LogLevel, { worker: setup.number });
const metrics = createMetrics();

const send = (message: FromWorker) => {
  if (process.connected) process.send?.(message);
};

const questions = new Map<number, (address: Address | undefined) => void>();
let lastQuestion = 0;

const plane = createDataPlane({
  log,
  metrics,
  shared: true,
  ticketKeys: Buffer.from(setup.ticketKeys, 'base64'),
  share: (cluster, nodes) => send({ type: 'learned', cluster, nodes }),
  forget: (cluster, node, address) => send({ type: 'forgot', cluster, node, address }),
  lookUp(cluster, node) {
    const { promise, resolve } = Promise.withResolvers<Address | undefined>();
    const id = ++lastQuestion;
    questions.set(id, resolve);
    setTimeout(resolve, LOOK_UP_MS, undefined);
    send({ type: 'where', id, cluster, node });
    return promise.finally(() => questions.delete(id));
  },
});

async function obey(message: ToWorker): Promise<void> {
  switch (message.type) {
    case 'apply':
      await plane.apply(message.config);
      return send({ type: 'applied', id: message.id, problems: plane.problems() });
    case 'nodes':
      return plane.learn(message.cluster, message.nodes);
    case 'found':
      return questions.get(message.id)?.(message.address);
    case 'others':
      return plane.setOthers(message.counts);
    case 'report':
      return send({
        type: 'report',
        id: message.id,
        snapshot: await metrics.snapshot(),
        problems: plane.problems(),
      });
    case 'drain':
      return leave(message.timeoutMs);
  }
}

async function leave(timeoutMs: number): Promise<void> {
  await plane.drain(timeoutMs);
  process.exit(0);
}

let sent = '';
setInterval(() => {
  const counts = plane.counts();
  const text = JSON.stringify(counts);
  if (text === sent) return;
  sent = text;
  send({ type: 'counts', counts });
}, COUNTS_EVERY_MS).unref();

// The supervisor gets these too, and says what to do.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', () => void leave(10_000));
process.on('message', (message: ToWorker) => {
  obey(message).catch((error: unknown) =>
    log.error({ why: messageOf(error) }, 'a worker cannot do as it is told'),
  );
});
