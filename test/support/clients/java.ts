/** The Java client, through Kafka's console tools. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Credentials, Security } from '../kafka/security.ts';
import { propertiesText } from '../../../src/store/embedded/kafka-storage.ts';
import type { Properties } from '../../../src/store/embedded/kafka-storage.ts';
import { kafkaTool } from '../kafka/tools.ts';
import { excerpt } from '../../../src/store/embedded/process.ts';
import { workspace } from '../workspace.ts';
import { DEFAULT_TIMEOUT_MS } from './types.ts';
import type { Client, ConsumeRequest, ProduceRequest, TestRecord } from './types.ts';

const NULL = '<null>';
const LOGIN_MODULES: Record<Credentials['mechanism'], string> = {
  PLAIN: 'org.apache.kafka.common.security.plain.PlainLoginModule',
  'SCRAM-SHA-256': 'org.apache.kafka.common.security.scram.ScramLoginModule',
  'SCRAM-SHA-512': 'org.apache.kafka.common.security.scram.ScramLoginModule',
};

/** The properties a Java client needs, also for the tools' `--command-config`. */
export function javaSecurity({ ca, client, sasl }: Security): Properties {
  const protocol = `${sasl ? 'SASL_' : ''}${ca === undefined ? 'PLAINTEXT' : 'SSL'}`;
  return {
    'security.protocol': protocol,
    ...(ca === undefined ? {} : { 'ssl.truststore.type': 'PEM', 'ssl.truststore.location': ca }),
    ...(client ? { 'ssl.keystore.type': 'PEM', 'ssl.keystore.location': client.store } : {}),
    ...(sasl
      ? {
          'sasl.mechanism': sasl.mechanism,
          'sasl.jaas.config': `${LOGIN_MODULES[sasl.mechanism]} required username="${sasl.username}" password="${sasl.password}";`,
        }
      : {}),
  };
}

/** Writes the properties to a file and returns its path. */
export async function javaConfig(properties: Properties): Promise<string> {
  const path = join(workspace('java-client'), 'client.properties');
  await writeFile(path, propertiesText(properties), { mode: 0o600 });
  return path;
}

async function produce({
  bootstrap,
  topic,
  records,
  security = {},
  timeoutMs,
  hostsFile,
}: ProduceRequest): Promise<void> {
  const limit = timeoutMs ?? DEFAULT_TIMEOUT_MS;
  // The console producer's own limits, 1.5 s for an answer and three retries, are those of an idle machine.
  const patience = { 'request.timeout.ms': limit, 'delivery.timeout.ms': limit + 5000, retries: 1000 };
  const config = await javaConfig({ ...javaSecurity(security), acks: 'all', ...patience });
  const reader = ['parse.key=true', 'key.separator=\t', `null.marker=${NULL}`].flatMap((each) => [
    '--reader-property',
    each,
  ]);
  const args = ['--bootstrap-server', bootstrap, '--topic', topic, '--command-config', config, ...reader];
  const stdin = records.map(({ key, value }) => `${key ?? NULL}\t${value ?? NULL}\n`).join('');
  const { code, stderr } = await kafkaTool('kafka-console-producer', args, {
    stdin,
    timeoutMs: limit + 10_000,
    hostsFile,
  });
  // The console producer logs a record it could not send, and still ends with 0.
  if (code !== 0 || stderr.includes(' ERROR '))
    throw new Error(`kafka-console-producer (${code}): ${excerpt(stderr)}`);
}

async function consume({
  bootstrap,
  topic,
  count,
  group,
  security = {},
  timeoutMs,
  hostsFile,
}: ConsumeRequest): Promise<TestRecord[]> {
  const limit = timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const config = await javaConfig({ ...javaSecurity(security), 'group.id': group ?? randomUUID() });
  const format = ['print.key=true', 'key.separator=\t', `null.literal=${NULL}`].flatMap((each) => [
    '--formatter-property',
    each,
  ]);
  const end = ['--from-beginning', '--max-messages', String(count), '--timeout-ms', String(limit)];
  const args = [
    '--bootstrap-server',
    bootstrap,
    '--topic',
    topic,
    '--command-config',
    config,
    ...format,
    ...end,
  ];
  const { code, stdout, stderr } = await kafkaTool('kafka-console-consumer', args, {
    timeoutMs: limit + 10_000,
    hostsFile,
  });
  const records = stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [key = NULL, value = NULL] = line.split('\t');
      return { key: key === NULL ? null : key, value: value === NULL ? null : value };
    });
  if (code !== 0 || records.length !== count)
    throw new Error(
      `kafka-console-consumer (${code}): ${records.length} of ${count} records: ${excerpt(stderr)}`,
    );
  return records;
}

export const javaClient: Client = { produce, consume };
