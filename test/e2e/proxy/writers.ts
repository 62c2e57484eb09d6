/** Writers that go on while a test changes things, and that account for every record. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Cluster } from '../../support/clusters/cluster.ts';
import { ensureConfluentKafka } from '../../support/install/python.ts';
import { excerpt, waitFor } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';
import { startWriterPod as startJavaWriter } from '../java-writer.ts';
import type { Verdict, Writer } from '../java-writer.ts';
import type { Entrance } from './connections.ts';
import { where } from './road.ts';

/** Of each topic, as `kafka-pods.ts` has it. */
const PARTITIONS = 3;
const PRODUCER = resolve(import.meta.dirname, '../../support/clients/idempotent_producer.py');

/** A writer outside: librdkafka with acks=all and idempotence, to each of the topic's partitions. */
export async function startWriterOutside(
  { outside, bootstrap, caFile, config: more }: Entrance,
  topic: string,
): Promise<Writer> {
  const folder = workspace('writer');
  const config = {
    'bootstrap.servers': bootstrap,
    'security.protocol': 'ssl',
    'ssl.ca.location': caFile,
    ...more,
  };
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

/** A writer in a pod, see java-writer.ts. */
export const startWriterPod = (cluster: Cluster, bootstrap: string, topic: string): Promise<Writer> =>
  startJavaWriter(cluster, { ...where, bootstrap, topic, partitions: PARTITIONS });
