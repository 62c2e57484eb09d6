/** What an operator is told about the Kafka clusters that it may run. */

/** The versions of Kafka that can be run, newest last. */
export interface KafkaVersions {
  [version: string]: { image: string; metadataVersion: string };
}

export interface BrokerSettings {
  versions: KafkaVersions;
  /** The domain of the cluster's Services. */
  clusterDomain: string;
}

export const newestOf = (versions: KafkaVersions): string | undefined => Object.keys(versions).at(-1);
