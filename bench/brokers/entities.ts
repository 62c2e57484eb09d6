/** How long many topics and users take until all are ready, what they cost, and what the operator does when nothing is to be done. */
import { setTimeout as delay } from 'node:timers/promises';
import type { AnyObject } from '../../src/kube/object.ts';
import { waitFor } from '../../src/store/embedded/process.ts';
import { entity } from '../../test/integration/brokers/fixture.ts';
import { addedTo } from './accounts.ts';
import { PATIENCE } from './bed.ts';
import type { Bed } from './bed.ts';
import { NAME } from './cluster.ts';
import { isReady } from './ready.ts';
import type { WithStatus } from './ready.ts';

const AT_ONCE = 16;
const API_REQUESTS = 'isthmus_operator_api_requests_total';
const KAFKA_REQUESTS = 'isthmus_operator_kafka_requests_total';

const TOPIC_SPEC = {
  partitions: 1,
  replicas: 3,
  config: { 'retention.ms': 3_600_000, 'cleanup.policy': 'delete' },
};

export const topics = (count: number): AnyObject[] =>
  Array.from({ length: count }, (_, n) => entity('KafkaTopic', `topic-${n}`, NAME, TOPIC_SPEC));

/** Half of them log in with a certificate, half with a password; each may do something, and has a quota. */
export const users = (count: number): AnyObject[] =>
  Array.from({ length: count }, (_, n) => {
    const resource = { type: 'topic', name: `topic-${n}`, patternType: 'literal' };
    return entity('KafkaUser', `user-${n}`, NAME, {
      authentication: { type: n % 2 === 0 ? 'tls' : 'scram-sha-512' },
      authorization: { type: 'simple', acls: [{ resource, operations: ['Read', 'Write', 'Describe'] }] },
      quotas: { producerByteRate: 1_000_000 },
    });
  });

export interface Converged {
  /** From the first that was made until all are ready. */
  seconds: number;
  /** Until the last was made. */
  makingSeconds: number;
  cpuSeconds: number;
  apiRequests: number;
  writes: number;
  kafkaRequests: number;
}

/** What the operator has done so far. */
const account = async (bed: Bed) => ({
  cpu: bed.cpu(),
  api: await bed.metric(API_REQUESTS),
  kafka: await bed.metric(KAFKA_REQUESTS),
  ...bed.writes(),
});

/** Makes them while the operator runs, as somebody who applies a folder does. */
export async function converge(bed: Bed, objects: readonly AnyObject[]): Promise<Converged> {
  const kind = objects[0]?.kind ?? '';
  const cache = bed.cluster.cache<WithStatus>({ type: { group: 'kafka.strimzi.io', version: 'v1', kind } });
  await cache.synced;
  const wanted = new Set(objects.map(({ metadata }) => metadata.name));
  const before = await account(bed);
  const started = performance.now();
  await create(bed, objects);
  const making = performance.now() - started;
  const areReady = async () => {
    const ready = cache.list().filter((one) => wanted.has(one.metadata.name) && isReady(one));
    return ready.length === wanted.size;
  };
  await waitFor(`${objects.length} ${kind} are ready`, areReady, PATIENCE);
  const seconds = (performance.now() - started) / 1000;
  const now = await account(bed);
  return {
    seconds,
    makingSeconds: making / 1000,
    cpuSeconds: now.cpu - before.cpu,
    apiRequests: now.api - before.api,
    writes: now.objects.length - before.objects.length,
    kafkaRequests: now.kafka - before.kafka,
  };
}

async function create({ cluster: { client } }: Bed, objects: readonly AnyObject[]): Promise<void> {
  const waiting = [...objects];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await client.create(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

export interface Idle {
  cpuPercent: number;
  /** What was written, each as `resource namespace/name`, the Lease left out. */
  written: string[];
  leaseWrites: number;
  apiRequests: number;
  kafkaRequests: number;
}

/** Events are written a moment after what they tell of. */
const SETTLED_MS = 15_000;

/** Waits until nothing has been written for a while, and then looks on for so long. */
export async function idle(bed: Bed, seconds: number): Promise<Idle> {
  let [last, since] = [-1, 0];
  const settled = async () => {
    const { length } = bed.writes().objects;
    if (length !== last) [last, since] = [length, Date.now()];
    return Date.now() - since >= SETTLED_MS;
  };
  await waitFor('the operator has settled', settled, { ...PATIENCE, everyMs: 1000 });
  const before = await account(bed);
  await delay(seconds * 1000);
  const now = await account(bed);
  return {
    cpuPercent: ((now.cpu - before.cpu) / seconds) * 100,
    written: addedTo(before.objects, now.objects),
    leaseWrites: now.leases - before.leases,
    apiRequests: now.api - before.api,
    kafkaRequests: now.kafka - before.kafka,
  };
}
