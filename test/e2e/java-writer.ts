/** Java's own producer in a pod: acks=all and idempotence, as long as a test goes on, with an account of every record. */
import type { Cluster, KubeObject } from '../support/clusters/cluster.ts';
import { IMAGES } from '../support/images/images.ts';
import {
  PATIENT_PRODUCER,
  acknowledged,
  failed,
  keysFor,
  longestStallMs,
  readSent,
} from '../support/kafka/acknowledgements.ts';
import type { Sent } from '../support/kafka/acknowledgements.ts';
import { propertiesText } from '../../src/store/embedded/kafka-storage.ts';
import { waitFor } from '../../src/store/embedded/process.ts';

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

/** A writer of which it is known when each record was acknowledged. */
export interface TimedWriter extends Writer {
  finish(): Promise<Verdict & { stallMs: number; stallBetween: (from: number, to: number) => number }>;
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

export interface JavaWriterOptions {
  namespace: string;
  bootstrap: string;
  topic: string;
  /** Of the topic. */
  partitions: number;
  /** Records in a second. */
  rate?: number;
  /** Lines of the client's configuration; the shell fills in what they name. */
  config?: readonly string[];
  /** Mounted as /mounted/NAME. */
  secrets?: readonly string[];
  node?: string;
}

const BIN = '/opt/kafka/bin';
const NAME = 'writer';
const CONFIG = '/shared/client.properties';

/** One container writes; the other reads everything back later. */
function pod(options: JavaWriterOptions): object {
  const { namespace, bootstrap, topic, partitions, rate = 30, config = [], secrets = [], node } = options;
  const host = bootstrap.split(':')[0] ?? '';
  const absolute = `${host}${host.endsWith('.svc') ? '.cluster.local' : ''}.`;
  const isKnown = `nslookup -type=a ${absolute} > /tmp/address`;
  const script = `until ${isKnown}; do sleep 1; done
cat > ${CONFIG} <<END
${propertiesText(PATIENT_PRODUCER)}${config.join('\n')}
END
exec ${BIN}/kafka-verifiable-producer.sh --bootstrap-server ${bootstrap} --topic ${topic} --throughput ${rate} \
  --repeating-keys ${keysFor(partitions)} --acks -1 --command-config ${CONFIG}`;
  const volumeMounts = [
    { name: 'shared', mountPath: '/shared' },
    ...secrets.map((name) => ({ name, mountPath: `/mounted/${name}`, readOnly: true })),
  ];
  const container = (name: string, command: readonly string[]) => ({
    name,
    image: IMAGES.kafka,
    command,
    volumeMounts,
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: NAME, namespace },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      ...(node !== undefined && { nodeSelector: { 'kubernetes.io/hostname': node } }),
      containers: [container(NAME, ['sh', '-c', script]), container('reader', ['sleep', '1000000'])],
      volumes: [
        { name: 'shared', emptyDir: {} },
        ...secrets.map((secretName) => ({ name: secretName, secret: { secretName } })),
      ],
    },
  };
}

type Pod = KubeObject & {
  status?: { containerStatuses?: { name: string; state: { terminated?: object } }[] };
};
const hasEnded = ({ status }: Pod) =>
  status?.containerStatuses?.some(({ name, state }) => name === NAME && state.terminated) ?? false;

/** Starts a pod `writer`, which prints each acknowledgement. */
export async function startWriterPod(cluster: Cluster, options: JavaWriterOptions): Promise<TimedWriter> {
  const { namespace } = options;
  await cluster.apply(pod(options));
  const log = async () => {
    const args = ['logs', NAME, `--container=${NAME}`, `--namespace=${namespace}`];
    const { code, stdout } = await cluster.tryKubectl(args);
    return code === 0 ? { stdout } : undefined;
  };
  const said = async (): Promise<Sent[]> =>
    readSent((await waitFor('the log of the writer', log, { everyMs: 500, timeoutMs: 300_000 })).stdout);
  return {
    acknowledged: async () => acknowledged(await said()).length,
    async finish() {
      await cluster.exec(NAME, ['kill', '1'], { namespace, container: NAME });
      await cluster.waitFor<Pod>(`pod/${NAME}`, hasEnded, { namespace });
      const sent = await said();
      const failures = failed(sent);
      const acked = acknowledged(sent);
      return {
        acked: acked.length,
        failed: failures.length,
        failures: failures.slice(0, 3).map(({ exception, message }) => `${exception}: ${message}`),
        problems: compare(acked, await readAll(cluster, options)),
        stallMs: longestStallMs(acked),
        stallBetween: (from, to) => longestStallMs(acked, from, to),
      };
    },
    stop: () => Promise.resolve(), // it goes with its cluster
  };
}

interface Found {
  partition: number;
  value: number;
}

/** Everything that is in a topic: as many records as its partitions' ends say there are. */
async function readAll(cluster: Cluster, options: JavaWriterOptions): Promise<Found[]> {
  const { namespace, bootstrap, topic, partitions } = options;
  const tool = async (name: string, ...more: string[]) => {
    const common = ['--bootstrap-server', bootstrap, '--command-config', CONFIG, '--topic', topic];
    const command = [`${BIN}/${name}.sh`, ...common, ...more];
    const { stdout } = await cluster.exec(NAME, command, { namespace, container: 'reader' });
    return stdout.split('\n').slice(0, -1);
  };
  const format = ['--formatter-property', 'print.partition=true'];
  // A tool that was cut off, or had no time, shows less.
  const read = async () => {
    const ends = (await tool('kafka-get-offsets')).map((line) => Number(line.split(':')[2]));
    if (ends.length < partitions) return undefined;
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
function compare(acked: readonly Sent[], found: readonly Found[]): string[] {
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
