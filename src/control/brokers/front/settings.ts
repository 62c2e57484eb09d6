import type { CertificateTimes } from '../certificates/policy.ts';

/** What an operator is told about the Kafka clusters that it may run. */
export interface BrokerSettings {
  /** By version of Kafka: another image than the official one. */
  images: Readonly<Record<string, string>>;
  /** The operator's own, which brings what Kafka's does not have. */
  ownImage: string;
  /** The domain of the cluster's Services. */
  clusterDomain: string;
  /** How long certificates live, if not as each Kafka says. */
  certificateTimes?: CertificateTimes | undefined;
}
