/**
 * One Kafka broker as a process, whatever its listeners are: a directory is formatted, the broker started on it, awaited.
 * Nothing here knows about TLS or SASL.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { IsthmusError } from '../../ops/errors.ts';
import { startServer, waitFor } from './process.ts';
import type { Server } from './process.ts';
import { brokerJava } from './kafka-java.ts';
import type { KafkaHome } from './kafka-java.ts';
import { propertiesText, writeStorage } from './kafka-storage.ts';
import type { Properties } from './kafka-storage.ts';

export interface BrokerSpec {
  id: number;
  clusterId: string;
  directory: string;
  properties: Properties;
  /** A client listener on 127.0.0.1. A broker accepts connections only once it has joined its cluster. */
  port: number;
  heapMb: number;
}

function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ port, host: '127.0.0.1' });
  socket.once('connect', () => resolve(true));
  socket.once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** Writes a broker's configuration and formats its directory, unless that holds data which are to be kept. */
export async function prepareBroker(
  kafka: KafkaHome,
  broker: BrokerSpec,
  { keepData = false } = {},
): Promise<void> {
  const { id: nodeId, clusterId } = broker;
  const data = join(broker.directory, 'data');
  if (!keepData) await writeStorage(data, { checkpoint: kafka.checkpoint, nodeId, clusterId });
  const own = { 'node.id': nodeId, 'log.dirs': data };
  await writeFile(
    join(broker.directory, 'server.properties'),
    propertiesText({ ...own, ...broker.properties }),
  );
}

/** Starts a prepared broker; it may have run before. */
export function launchBroker(kafka: KafkaHome, broker: BrokerSpec): Server {
  const args = [
    ...brokerJava(kafka, broker.directory, broker.heapMb),
    join(broker.directory, 'server.properties'),
  ];
  return startServer(`kafka-${broker.id}`, 'java', args, { logFile: join(broker.directory, 'broker.log') });
}

/** Waits until the broker takes connections. A quorum's brokers wait for each other: launch all before awaiting one. */
export async function brokerReady(broker: BrokerSpec, server: Server): Promise<void> {
  await waitFor(
    `${server.name} at port ${broker.port}`,
    async () => !server.running || (await accepts(broker.port)),
  );
  if (server.running) return;
  const log = await readFile(server.logFile, 'utf8');
  const complaints = log.split('\n').filter((line) => /ERROR|FATAL|Exception/.test(line));
  const first = complaints.slice(0, 5).join('\n');
  throw new IsthmusError('TOOL_FAILED', `${server.name} ended (log: ${server.logFile}):\n${first}`);
}
