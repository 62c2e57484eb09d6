/** A real Apache Kafka on this machine, for those who want to try things before they have one. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureKafka } from './embedded/kafka-install.ts';
import { brokerReady, launchBroker, prepareBroker } from './embedded/kafka-broker.ts';
import type { BrokerSpec } from './embedded/kafka-broker.ts';
import { kafkaUuid } from './embedded/kafka-storage.ts';
import { reservePorts } from './embedded/ports.ts';

export interface EmbeddedKafka {
  readonly bootstrap: string;
  /** The folder of its jars, where the command-line tools are, too; of one that was started here. */
  readonly libs?: string;
  stop(): Promise<void>;
}

export interface EmbeddedKafkaOptions {
  /** Where its data stay from one start to the next. */
  directory: string;
  onProgress: (line: string) => void;
}

/** Starts one broker, which is also its own controller, and waits until it takes connections. */
export async function startEmbeddedKafka({
  directory,
  onProgress,
}: EmbeddedKafkaOptions): Promise<EmbeddedKafka> {
  const home = await ensureKafka();
  mkdirSync(directory, { recursive: true });
  onProgress('starting Apache Kafka (some seconds) …');
  await using ports = await reservePorts(2);
  const [port = 0, controller = 0] = ports.numbers;
  const broker: BrokerSpec = {
    id: 0,
    clusterId: kafkaUuid(),
    directory,
    port,
    heapMb: 256,
    properties: propertiesOf(port, controller),
  };
  await prepareBroker(home, broker, { keepData: existsSync(join(directory, 'data', 'meta.properties')) });
  const server = launchBroker(home, broker);
  try {
    await brokerReady(broker, server);
  } catch (error) {
    await server.stop('SIGKILL');
    throw error;
  }
  return {
    bootstrap: `127.0.0.1:${port}`,
    libs: dirname(home.classPath.split(':')[0] ?? ''),
    stop: () => server.stop(),
  };
}

/** One of everything that is replicated by default, and no waiting where there is nobody to wait for. */
function propertiesOf(port: number, controller: number): BrokerSpec['properties'] {
  return {
    'process.roles': 'broker,controller',
    'controller.quorum.voters': `0@127.0.0.1:${controller}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'share.coordinator.state.topic.num.partitions': 1,
    'group.initial.rebalance.delay.ms': 0,
    'log.cleaner.dedupe.buffer.size': 16_777_216,
  };
}
