// How long our DNS server keeps its main thread at most, with 100,000 names: `turns.mjs DIST FOLDER NAMES`. Prints one line of JSON: for each
// kind of change the longest turn of the event loop, in milliseconds of that thread's processor time, so that other work of the machine does not count.
// Plain JavaScript that loads the compiled program, as users have it.
import ffi from 'node:ffi';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';

const [dist, folder, count] = process.argv.slice(2);
const load = (file) => import(`${dist}/${file}`);
const { createPublisher } = await load('control/discover/records/publisher.js');
const { readNamePolicies } = await load('control/shared/name-policy.js');
const { dnsConfigSchema } = await load('dns/server/config.js');
const { startDns } = await load('dns/server/server.js');
const { createController, SUCCESS } = await load('kube/controller/controller.js');
const { createLog } = await load('ops/log.js');
const { createMetrics } = await load('ops/metrics.js');

const CLOCK_THREAD_CPUTIME_ID = 3;
const { functions } = ffi.dlopen(null, {
  clock_gettime: { arguments: ['i32', 'u64'], return: 'i32' },
});
const time = new BigInt64Array(2);
const timeAt = ffi.getRawPointer(new Uint8Array(time.buffer));
const cpuMs = () => {
  functions.clock_gettime(CLOCK_THREAD_CPUTIME_ID, timeAt);
  return Number(time[0]) * 1000 + Number(time[1]) / 1e6;
};

/** The longest turn while some work is done. */
async function longestTurn(work) {
  let longest = 0;
  let isOver = false;
  let last = cpuMs();
  const tick = () => {
    longest = Math.max(longest, cpuMs() - last);
    last = cpuMs();
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  await work();
  isOver = true;
  return Number(longest.toPrecision(3));
}

/** The longest pause for garbage collection, by the clock on the wall: part of whatever turn it falls into. */
let longestGc = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longestGc = Math.max(longestGc, duration);
}).observe({ entryTypes: ['gc'] });

const NAMES = Number(count);
const NAMES_EACH = 100;
const ZONE = 'example.test';
const addressOf = (i, version) => `10.${(i >> 16) + 8 * version}.${(i >> 8) & 255}.${i & 255}`;
const fileOf = (version) => {
  const records = Array.from({ length: NAMES }, (_, i) => {
    return { name: `f${i}.${ZONE}`, type: 'A', data: addressOf(i, version), ttl: 30 };
  });
  return JSON.stringify({ records });
};

const recordsFile = join(folder, 'records.json');
const nextFile = `${recordsFile}.next`;
const log = createLog('warn');
const metrics = createMetrics();

function start(settings, ready = true) {
  const listen = ['127.0.0.1:0'];
  const config = dnsConfigSchema.parse({ listen, zones: [{ name: ZONE }], workers: 1, ...settings });
  return startDns(config, { log, metrics: createMetrics(), ready });
}

const owner = { namespace: 'default' };
const OTHERS = { matchLabels: { 'kubernetes.io/metadata.name': 'somebody-else' } };
const NS_RECORDS = 5000;

/** One policy for the zone, as the API server would have it. */
const policyFor = (namespaces) =>
  readNamePolicies([
    {
      apiVersion: 'isthmus.dev/v1alpha1',
      kind: 'NamePolicy',
      metadata: { name: 'bench' },
      spec: { zone: ZONE, namespaces, delegations: true },
    },
  ]);

/** Thousands of delegations of names that others have, in one object: each is decided about, and refused. */
function delegations() {
  const source = 'DNSEndpoint default/delegations';
  const records = Array.from({ length: NS_RECORDS }, (_, i) => {
    return {
      name: `h${i * Math.floor(NAMES / NS_RECORDS)}.${ZONE}`,
      type: 'NS',
      data: `ns${i}.elsewhere.test`,
    };
  });
  const result = { records, problems: [] };
  return { source, claimGroup: source, object: undefined, owner, since: '2026', result, reason: '' };
}

/** Objects of a hundred names each, published as those of clusters are. */
async function publishAll(publisher, version) {
  const events = [];
  for (let i = 0; i < NAMES / NAMES_EACH; i++) events.push(`DNSEndpoint default/o${i}`);
  const controller = createController({
    name: 'bench',
    concurrency: 1,
    log,
    metrics,
    async reconcile(source) {
      const first = Number(source.slice('DNSEndpoint default/o'.length)) * NAMES_EACH;
      const records = Array.from({ length: NAMES_EACH }, (_, i) => {
        return { name: `h${first + i}.${ZONE}`, type: 'A', data: addressOf(first + i, version) };
      });
      const result = { records, problems: [] };
      const entry = {
        source,
        claimGroup: source,
        object: undefined,
        owner,
        since: '2026',
        result,
        reason: '',
      };
      await publisher.publish(source, version === undefined ? [] : [entry]);
      return SUCCESS;
    },
  });
  events.forEach(controller.enqueue);
  controller.start();
  while (controller.waiting + controller.active > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await controller.stop();
}

/** A client in a thread of its own; ends when it has all records. */
const AXFR = `
  const { parentPort, workerData: { port, query, records } } = require('node:worker_threads');
  const socket = require('node:net').connect(port, '127.0.0.1', () => socket.write(query));
  let [unread, got] = [Buffer.alloc(0), 0];
  socket.on('data', (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    while (unread.length >= 2 && unread.length >= 2 + unread.readUInt16BE(0)) {
      got += unread.readUInt16BE(8);
      unread = unread.subarray(2 + unread.readUInt16BE(0));
    }
    if (got < records) return;
    socket.destroy();
    parentPort.postMessage('done');
  });
`;

async function transfer(port) {
  const name = ZONE.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]);
  const query = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...name, 0, 0, 252, 0, 1]);
  query.writeUInt16BE(query.length - 2, 0);
  const worker = new Worker(AXFR, { eval: true, workerData: { port, query, records: NAMES } });
  await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  await worker.terminate();
}

const figures = {};
{
  const snapshotFile = join(folder, 'snapshot');
  const server = await start({ transferAllow: ['127.0.0.0/8'], snapshotFile }, false);
  server.setReady(true);
  const events = { record() {}, flush: async () => {}, stop: async () => {} };
  let policies = policyFor({});
  const quiet = createLog('error'); // who is refused is told, a hundred thousand times
  const publisher = createPublisher({ sink: server, events, log: quiet, policies: () => policies });
  await publisher.reconsider();
  await publishAll(publisher, 0); // once unmeasured, so that everything is compiled
  await publishAll(publisher, undefined);
  figures.load = await longestTurn(() => publishAll(publisher, 0));
  figures.change = await longestTurn(() => publishAll(publisher, 1));
  figures.axfr = await longestTurn(() => transfer(server.port));
  const attack = delegations();
  figures.delegations = await longestTurn(() => publisher.publish(attack.source, [attack]));
  await publisher.publish(attack.source, []);
  figures.policy_closes = await longestTurn(() => {
    policies = policyFor(OTHERS);
    return publisher.reconsider();
  });
  figures.policy_opens = await longestTurn(() => {
    policies = policyFor({});
    return publisher.reconsider();
  });
  figures.remove = await longestTurn(() => publishAll(publisher, undefined));
  await publishAll(publisher, 0);
  figures.snapshot = await longestTurn(async () => {
    await server.close(); // which writes it
    const next = await start({ snapshotFile }, false);
    if (next.problem() !== undefined) throw new Error('the snapshot is not served');
    await next.close();
  });
}
writeFileSync(recordsFile, fileOf(0));
writeFileSync(nextFile, fileOf(1));
figures.records_file = await longestTurn(async () => {
  const server = await start({ recordsFile });
  renameSync(nextFile, recordsFile); // written before: writing it is no work of the server
  const isRead = () =>
    server.explain(`f${NAMES - 1}.${ZONE}`, 'A').answer[0]?.data[0] === addressOf(NAMES - 1, 1);
  while (!isRead()) await new Promise((resolve) => setTimeout(resolve, 50));
  await server.close();
});
figures.of_which_gc = Number(longestGc.toPrecision(3));
console.log(JSON.stringify(figures));
process.exit(0);
