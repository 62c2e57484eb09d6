/** A Java producer that writes numbers for as long as a test lasts, with acks=all, and tells what became of each. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { excerpt, waitFor } from '../../../src/store/embedded/process.ts';
import { javaConfig, javaSecurity } from '../clients/java.ts';
import type { Target } from '../clients/types.ts';
import { workspace } from '../workspace.ts';
import { PATIENT_PRODUCER, acknowledged, failed, readSent } from './acknowledgements.ts';
import type { Sent } from './acknowledgements.ts';
import { startKafkaTool } from './tools.ts';

export interface Load {
  /** The records that were acknowledged so far, in this order, and what the producer gave up. */
  seen(): Promise<{ acknowledged: Sent[]; failed: Sent[] }>;
  /** Waits until records are acknowledged that were written after now. */
  flows(): Promise<void>;
  stop(): Promise<void>;
}

export interface LoadOptions {
  perSecond?: number;
  /** How many keys the records have by turns; none by default. */
  keys?: number;
}

/** What a slow machine may need. */
const PATIENCE_MS = 600_000;

export async function startLoad(
  { bootstrap, topic, security = {}, hostsFile }: Target,
  { perSecond = 20, keys }: LoadOptions = {},
): Promise<Load> {
  const logFile = join(workspace('load'), 'load.log');
  const config = await javaConfig({ ...javaSecurity(security), ...PATIENT_PRODUCER });
  const where = ['--bootstrap-server', bootstrap, '--topic', topic, '--command-config', config];
  const what = ['--throughput', String(perSecond), '--acks', '-1'];
  const repeated = keys === undefined ? [] : ['--repeating-keys', String(keys)];
  const options = { logFile, ...(hostsFile !== undefined && { hostsFile }) };
  const producer = await startKafkaTool('kafka-verifiable-producer', [...where, ...what, ...repeated], options); // prettier-ignore
  const sent = async () => readSent(await readFile(logFile, 'utf8'));
  const count = async () => acknowledged(await sent()).length;
  return {
    async seen() {
      const all = await sent();
      return { acknowledged: acknowledged(all), failed: failed(all) };
    },
    async flows() {
      const before = await count();
      const abort = () => (producer.running ? undefined : 'the producer has ended');
      const isMore = async () => (await count()) > before + 2 * perSecond;
      const patience = { timeoutMs: PATIENCE_MS, everyMs: 500, abort };
      await waitFor('records to be acknowledged', isMore, patience).catch(async (error: unknown) => {
        throw new Error(`${String(error)}: ${excerpt(await readFile(logFile, 'utf8'))}`);
      });
    },
    stop: () => producer.stop('SIGTERM', PATIENCE_MS),
  };
}
