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
}

/** Waits until the writers have got acknowledgements for records that they wrote after now. */
export async function flowing(writers: readonly Writer[], records = 60): Promise<void> {
  for (const writer of writers) {
    const before = await writer.acknowledged();
    // By then even records that waited for a broker which is gone have been sent again.
    const more = async () => (await writer.acknowledged()) >= before + records;
    await waitFor('records to be acknowledged', more, { everyMs: 1000, timeoutMs: 180_000 });
  }
}

/** A writer outside: librdkafka with acks=all and idempotence, to each of the topic's partitions. */
export async function startWriterOutside(
  { outside, bootstrap, caFile }: Entrance,
  topic: string,
): Promise<Writer> {
  const folder = workspace('writer');
  const [stop, progress] = [join(folder, 'stop'), join(folder, 'progress')];
  const config = { 'bootstrap.servers': bootstrap, 'security.protocol': 'ssl', 'ssl.ca.location': caFile };
  // Few records at a time: for room behind five requests that are under way, librdkafka waits with all its might.
  const calm = { pauseMs: 30, unanswered: 2 };
  const request = { topic, partitions: 3, config, direct: config, progress: true, ...calm };
  // Its input ends when the file is there.
  const script = '{ cat; while [ ! -e "$1" ]; do sleep 0.2; done; } | python3 "$3" 2> "$2"';
  const ended = outside.run(['sh', '-c', script, 'sh', stop, progress, PRODUCER], {
    stdin: `${JSON.stringify(request)}\n`,
    env: { PYTHONPATH: await ensureConfluentKafka() },
    timeoutMs: 900_000,
  });
  return {
    async acknowledged() {
      const text = await readFile(progress, 'utf8').catch(() => '');
      return Number(/(\d+)\n$/.exec(text)?.[1] ?? 0);
    },
    async finish() {
      await writeFile(stop, '');
      const { stdout, stderr } = await ended;
      assert.ok(stdout.startsWith('{'), stderr + excerpt(await readFile(progress, 'utf8')));
      return JSON.parse(stdout) as Verdict;
    },
  };
}

const BIN = '/opt/kafka/bin';
const JAVA_WRITER = { name: 'writer', ...where };
/** The tool itself would give up at the first error. */
const PATIENT =
  'retries=2147483647\\nenable.idempotence=true\\ndelivery.timeout.ms=180000\\nrequest.timeout.ms=10000';

interface Sent {
  name: string;
  value: string;
  partition: number;
  offset: number;
  exception?: string;
}

/** A writer in a pod: Java's producer with acks=all and idempotence, which prints each acknowledgement. */
export async function startWriterPod(cluster: Cluster, bootstrap: string, topic: string): Promise<Writer> {
  const script = `printf '${PATIENT}\\n' > /tmp/producer.properties && exec ${BIN}/kafka-verifiable-producer.sh \
    --bootstrap-server ${bootstrap} --topic ${topic} --throughput 30 --acks -1 --command-config /tmp/producer.properties`;
  const container = { name: 'writer', image: IMAGES.kafka, command: ['sh', '-c', script] };
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: JAVA_WRITER,
    spec: { restartPolicy: 'Never', containers: [container] },
  });
  const said = async (): Promise<Sent[]> => {
    const { stdout } = await cluster.tryKubectl(['logs', 'writer', `--namespace=${where.namespace}`]);
    const lines = stdout.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'));
    return lines.map((line) => JSON.parse(line) as Sent);
  };
  const successes = (sent: readonly Sent[]) => sent.filter(({ name }) => name === 'producer_send_success');
  return {
    acknowledged: async () => successes(await said()).length,
    async finish() {
      await cluster.exec('writer', ['kill', '1'], where);
      await cluster.waitFor('pod/writer', ({ status }) => status?.['phase'] !== 'Running', where);
      const sent = await said();
      const failures = sent.filter(({ name }) => name === 'producer_send_error');
      const acked = successes(sent);
      const found = await readAll(cluster, bootstrap, topic);
      return {
        acked: acked.length,
        failed: failures.length,
        failures: failures.slice(0, 3).map(({ exception }) => exception ?? ''),
        problems: compare(acked, found),
      };
    },
  };
}

interface Found {
  partition: number;
  value: number;
}

/** Everything that is in a topic, as the pod `client` reads it. */
async function readAll(cluster: Cluster, bootstrap: string, topic: string): Promise<Found[]> {
  const format = ['--formatter-property', 'print.partition=true'];
  const end = ['--from-beginning', '--timeout-ms', '15000'];
  const args = ['--bootstrap-server', bootstrap, '--topic', topic, ...format, ...end];
  const { stdout } = await cluster.exec('client', [`${BIN}/kafka-console-consumer.sh`, ...args], where);
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => {
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
