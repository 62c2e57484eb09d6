/** Writers that go on while a test changes things, and that account for every record. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Cluster } from '../../support/clusters/cluster.ts';
import { IMAGES } from '../../support/images/images.ts';
import { ensureConfluentKafka } from '../../support/install/python.ts';
import { excerpt, waitFor } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';
import type { Entrance } from './connections.ts';
import { where } from './road.ts';

/** Of each topic, as `kafka-pods.ts` has it. */
const PARTITIONS = 3;
const PRODUCER = resolve(import.meta.dirname, '../../support/clients/idempotent_producer.py');

/** What became of the records that a writer wrote. */
export interface Verdict {
  acked: number;
  failed: number;
  failures: string[];
  /** Records that were acknowledged and are not there, or are there twice, or in another order. */
  problems: string[];
}

export interface Writer {
  /** How many records have been acknowledged so far. */
  acknowledged(): Promise<number>;
  /** Ends writing, reads everything back, and says what became of it. */
  finish(): Promise<Verdict>;
  /** Ends it at once, whatever it does. */
  stop(): Promise<void>;
}

/** Waits until the writers have got acknowledgements for records that they wrote after now. */
export async function flowing(writers: readonly Writer[], records = 60): Promise<void> {
  for (const writer of writers) {
    const before = await writer.acknowledged();
    // By then even records that waited for a broker which is gone have been sent again.
    const more = async () => (await writer.acknowledged()) >= before + records;
    await waitFor('records to be acknowledged', more, { everyMs: 1000, timeoutMs: 300_000 });
  }
}

/** A writer outside: librdkafka with acks=all and idempotence, to each of the topic's partitions. */
export async function startWriterOutside(
  { outside, bootstrap, caFile }: Entrance,
  topic: string,
): Promise<Writer> {
  const folder = workspace('writer');
  const config = { 'bootstrap.servers': bootstrap, 'security.protocol': 'ssl', 'ssl.ca.location': caFile };
  // Few records at a time: for room behind five requests that are under way, librdkafka waits with all its might.
  const calm = { pauseMs: 30, unanswered: 2 };
  const patient = { ...config, 'message.timeout.ms': 300_000 };
  const request = { topic, partitions: PARTITIONS, config: patient, direct: config, progress: true, ...calm };
  const file = (name: string) => join(folder, name);
  await writeFile(file('request'), `${JSON.stringify(request)}\n`);
  // Its input ends when the file `stop` is there. The shell becomes the writer, so that stopping the one ends the other.
  const feed = '{ cat request; while [ ! -e stop ] && kill -0 $$; do sleep 0.2; done; } > input';
  const script = `cd "$1" && mkfifo input && { ${feed} & } && exec python3 "$2" < input > answer 2> progress`;
  const env = { PYTHONPATH: await ensureConfluentKafka() };
  const writer = outside.serve('writer', ['sh', '-c', script, 'sh', folder, PRODUCER], env);
  const text = (name: string) => readFile(file(name), 'utf8').catch(() => '');
  return {
    async acknowledged() {
      return Number(/.*^(\d+)\n/ms.exec(await text('progress'))?.[1] ?? 0);
    },
    async finish() {
      await writeFile(file('stop'), '');
      const hasEnded = () => Promise.resolve(!writer.running);
      await waitFor('the verdict of the writer outside', hasEnded, { timeoutMs: 600_000, everyMs: 250 });
      const answer = await text('answer');
      assert.ok(answer.startsWith('{'), excerpt(await text('progress')));
      return JSON.parse(answer) as Verdict;
    },
    async stop() {
      await writeFile(file('stop'), '');
      await writer.stop('SIGKILL');
    },
  };
}

const BIN = '/opt/kafka/bin';
const JAVA_WRITER = { name: 'writer', ...where };
/** The tool itself would give up at the first error. */
const PATIENT =
  'retries=2147483647\\nenable.idempotence=true\\ndelivery.timeout.ms=300000\\nrequest.timeout.ms=10000\\nmax.block.ms=300000';

interface Sent {
  name: string;
  value: string;
  partition: number;
  offset: number;
  exception?: string;
  message?: string;
}

/** Stopped just when it would send, the tool counts that as a failure. */
const isFailure = ({ name, message = '' }: Sent) =>
  name === 'producer_send_error' && !message.includes('after producer has been closed');

/** A writer in a pod: Java's producer with acks=all and idempotence, which prints each acknowledgement. */
export async function startWriterPod(cluster: Cluster, bootstrap: string, topic: string): Promise<Writer> {
  const isKnown = `nslookup -type=a ${bootstrap.split(':')[0]}. > /tmp/address`;
  const script = `until ${isKnown}; do sleep 1; done
    printf '${PATIENT}\\n' > /tmp/producer.properties && exec ${BIN}/kafka-verifiable-producer.sh \
    --bootstrap-server ${bootstrap} --topic ${topic} --throughput 30 --acks -1 --command-config /tmp/producer.properties`;
  const container = { name: 'writer', image: IMAGES.kafka, command: ['sh', '-c', script] };
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: JAVA_WRITER,
    spec: { restartPolicy: 'Never', containers: [container] },
  });
  const log = async () => {
    const { code, stdout } = await cluster.tryKubectl(['logs', 'writer', `--namespace=${where.namespace}`]);
    return code === 0 ? stdout.split('\n') : undefined;
  };
  const said = async (): Promise<Sent[]> => {
    const lines = await waitFor('the log of the writer', log, { everyMs: 500, timeoutMs: 300_000 });
    const whole = lines.filter((line) => line.startsWith('{') && line.endsWith('}'));
    return whole.map((line) => JSON.parse(line) as Sent);
  };
  const successes = (sent: readonly Sent[]) => sent.filter(({ name }) => name === 'producer_send_success');
  return {
    acknowledged: async () => successes(await said()).length,
    async finish() {
      await cluster.exec('writer', ['kill', '1'], where);
      await cluster.waitFor('pod/writer', ({ status }) => status?.['phase'] !== 'Running', where);
      const sent = await said();
      const failures = sent.filter(isFailure);
      const acked = successes(sent);
      const found = await readAll(cluster, bootstrap, topic);
      return {
        acked: acked.length,
        failed: failures.length,
        failures: failures.slice(0, 3).map(({ exception, message }) => `${exception}: ${message}`),
        problems: compare(acked, found),
      };
    },
    stop: () => Promise.resolve(), // it goes with its cluster
  };
}

interface Found {
  partition: number;
  value: number;
}

/** Everything that is in a topic, as the pod `client` reads it: as many records as its partitions' ends say there are. */
async function readAll(cluster: Cluster, bootstrap: string, topic: string): Promise<Found[]> {
  const tool = async (name: string, ...more: string[]) => {
    const command = [`${BIN}/${name}.sh`, '--bootstrap-server', bootstrap, '--topic', topic, ...more];
    const { stdout } = await cluster.exec('client', command, where);
    return stdout.split('\n').slice(0, -1);
  };
  const format = ['--formatter-property', 'print.partition=true'];
  // A tool that was cut off, or had no time, shows less.
  const read = async () => {
    const ends = (await tool('kafka-get-offsets')).map((line) => Number(line.split(':')[2]));
    if (ends.length < PARTITIONS) return undefined;
    const count = ends.reduce((sum, end) => sum + end, 0);
    const end = ['--from-beginning', '--timeout-ms', '60000', '--max-messages', String(count)];
    const lines = await tool('kafka-console-consumer', ...format, ...end);
    return lines.length === count ? lines : undefined;
  };
  const lines = await waitFor(`all of ${topic}`, read, { timeoutMs: 300_000, everyMs: 1000 });
  return lines.map((line) => {
    const [partition = '', value] = line.split('\t');
    return { partition: Number(partition.replace('Partition:', '')), value: Number(value) };
  });
}

/** What is wrong with what was found, given what had been acknowledged. */
export function compare(acked: readonly Sent[], found: readonly Found[]): string[] {
  const values = found.map(({ value }) => value);
  const there = new Set(values);
  const missing = acked.filter(({ value }) => !there.has(Number(value)));
  const last = new Map<number, number>();
  const disorder = found.filter(({ partition, value }) => {
    const before = last.get(partition) ?? -1;
    last.set(partition, value);
    return value <= before;
  });
  return [
    ...(missing.length > 0 ? [`${missing.length} acknowledged records are missing`] : []),
    ...(there.size < values.length ? [`${values.length - there.size} records are there twice`] : []),
    ...(disorder.length > 0 ? [`${disorder.length} records are out of order`] : []),
  ];
}
