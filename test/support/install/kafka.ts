/** Apache Kafka for tests: as users get it, and with a user who can log in. */
import * as embedded from '../../../src/store/embedded/kafka-install.ts';
import type { KafkaHome } from '../../../src/store/embedded/kafka-java.ts';

export { KAFKA_VERSION, ensureKafkaJars } from '../../../src/store/embedded/kafka-install.ts';

/** The newest of the line before of which every part is published, to upgrade from. */
export const FORMER_KAFKA_VERSION = '4.2.1';

const USERS = [{ name: 'alice', password: 'alice-secret' }];

/** Apache Kafka, fetched and made ready if it is not yet. In its new clusters alice may log in with SCRAM. */
export async function ensureKafka(): Promise<KafkaHome> {
  const kafka = await embedded.ensureKafka();
  return {
    ...kafka,
    checkpoint: await embedded.ensureCheckpoint('bootstrap.checkpoint', kafka.classPath, USERS),
  };
}
