/** A Java producer that writes numbers for as long as a test lasts, with acks=all, and tells what became of each. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolJava } from '../../../src/store/embedded/kafka-java.ts';
import { excerpt, startServer, waitFor } from '../../../src/store/embedded/process.ts';
import { javaConfig, javaSecurity } from '../clients/java.ts';
import type { Target } from '../clients/types.ts';
import { ensureKafka } from '../install/kafka.ts';
import { workspace } from '../workspace.ts';

export interface Load {
  /** The records that were acknowledged so far, in this order, and what the producer gave up. */
  seen(): Promise<{ acknowledged: string[]; failed: string[] }>;
  /** Waits until records are acknowledged that were written after now. */
  flows(): Promise<void>;
  stop(): Promise<void>;
}

const PER_SECOND = 20;
/** Longer than a broker takes to come back on a slow machine. */
const PATIENCE_MS = 600_000;

export async function startLoad({ bootstrap, topic, security = {}, hostsFile }: Target): Promise<Load> {
  const folder = workspace('load');
  const patience = {
    'delivery.timeout.ms': PATIENCE_MS,
    retries: 2_147_483_647,
    'max.block.ms': PATIENCE_MS,
  };
  const config = await javaConfig({ ...javaSecurity(security), acks: 'all', ...patience });
  const names = hostsFile === undefined ? [] : [`-Djdk.net.hosts.file=${hostsFile}`];
  const java = toolJava(await ensureKafka(), folder, 'org.apache.kafka.tools.VerifiableProducer');
  const where = ['--bootstrap-server', bootstrap, '--topic', topic, '--command-config', config];
  const logFile = join(folder, 'load.log');
  const args = [...names, ...java, ...where, '--throughput', String(PER_SECOND), '--acks', '-1'];
  const producer = startServer('load', 'java', args, { logFile });
  const seen = async () => {
    // The last line may not be whole yet.
    const lines = (await readFile(logFile, 'utf8')).split('\n').slice(0, -1);
    const valuesOf = (name: string) =>
      lines
        .filter((line) => line.includes(`"name":"${name}"`))
        .map((line) => String((JSON.parse(line) as { value: unknown }).value));
    return { acknowledged: valuesOf('producer_send_success'), failed: valuesOf('producer_send_error') };
  };
  return {
    seen,
    async flows() {
      const before = (await seen()).acknowledged.length;
      const abort = () => (producer.running ? undefined : 'the producer has ended');
      const more = async () => (await seen()).acknowledged.length > before + 2 * PER_SECOND;
      await waitFor('records to be acknowledged', more, {
        timeoutMs: PATIENCE_MS,
        everyMs: 1000,
        abort,
      }).catch(async (error: unknown) => {
        throw new Error(`${String(error)}: ${excerpt(await readFile(logFile, 'utf8'))}`);
      });
    },
    stop: () => producer.stop(),
  };
}
