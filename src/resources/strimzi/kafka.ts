import { z } from 'zod';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { orEmpty } from '../schema.ts';
import { kept, readyColumn, strimzi, strimziStatus } from './group.ts';
import { listener } from './listener.ts';

const broker = z.looseObject({
  version: z.string().describe('The version of Kafka.').exactOptional(),
  metadataVersion: z.string().describe('The version of the metadata, where it is kept back.').exactOptional(),
  image: z.string().describe('The container image of the brokers.').exactOptional(),
  config: kept.describe('Broker configuration.').exactOptional(),
  listeners: z.array(listener).max(64).describe('Where clients connect.').exactOptional(),
  authorization: z
    .looseObject({
      type: z.string().describe('How access is decided, e.g. `simple`.').exactOptional(),
      superUsers: z.array(z.string()).describe('Users that may do everything.').exactOptional(),
    })
    .describe('Who may do what.')
    .exactOptional(),
  rack: z
    .looseObject({
      type: z.string().describe('`topology-label` or `environment-variable`.').exactOptional(),
      topologyKey: z.string().describe('The node label that names the rack.').exactOptional(),
      envVarName: z.string().describe('The environment variable that names the rack.').exactOptional(),
    })
    .describe('What `broker.rack` is taken from.')
    .exactOptional(),
  logging: kept
    .describe('How nodes log: `type: inline` with `loggers`, or `type: external` with a ConfigMap.')
    .exactOptional(),
  metricsConfig: kept
    .describe('Metrics of the nodes for Prometheus: `type: strimziMetricsReporter`.')
    .exactOptional(),
  template: kept.describe('What is put on the objects that the operator makes.').exactOptional(),
});

const authority = z.looseObject({
  generateCertificateAuthority: z
    .boolean()
    .describe('Whether the operator makes the authority, or the user brings it.')
    .exactOptional(),
  generateSecretOwnerReference: z
    .boolean()
    .describe('Whether the Secrets of the authority go with the Kafka, which they do if it is left out.')
    .exactOptional(),
  validityDays: z.int().min(1).describe('How long certificates are valid; 365 if left out.').exactOptional(),
  renewalDays: z
    .int()
    .min(1)
    .describe('How long before the end they are renewed; 30 if left out.')
    .exactOptional(),
});

const spec = z.looseObject({
  kafka: orEmpty(broker).describe('The brokers and controllers, as far as all node pools share it.'),
  entityOperator: kept.describe('What manages topics and users.').exactOptional(),
  clusterCa: authority.describe('The authority of the brokers’ certificates.').exactOptional(),
  clientsCa: authority.describe('The authority of the clients’ certificates.').exactOptional(),
  maintenanceTimeWindows: z
    .array(z.string())
    .describe('When certificates may be renewed, as cron.')
    .exactOptional(),
});

const status = strimziStatus.extend({
  listeners: z
    .array(
      z.looseObject({
        name: z.string().describe('The listener.').exactOptional(),
        addresses: z
          .array(z.looseObject({ host: z.string().exactOptional(), port: z.int().exactOptional() }))
          .describe('Where it can be reached.')
          .exactOptional(),
        bootstrapServers: z.string().describe('The address to give to clients.').exactOptional(),
        certificates: z.array(z.string()).describe('The certificates to trust, PEM.').exactOptional(),
      }),
    )
    .describe('Where clients find the cluster.')
    .exactOptional(),
  kafkaNodePools: z
    .array(z.looseObject({ name: z.string().exactOptional() }))
    .describe('The node pools it is made of.')
    .exactOptional(),
  clusterId: z.string().describe('The id that the cluster was formatted with.').exactOptional(),
  kafkaVersion: z
    .string()
    .describe('The version of Kafka that runs: during an upgrade the oldest that a node runs.')
    .exactOptional(),
  kafkaMetadataVersion: z.string().describe('The version of the metadata that is in force.').exactOptional(),
});

export const kafka = defineKind({
  ...strimzi,
  roads: ['stretch', 'expose', 'proxy'],
  kind: 'Kafka',
  plural: 'kafkas',
  singular: 'kafka',
  shortNames: ['k'],
  description:
    'A Kafka cluster. The operator runs those with the annotation `isthmus.dev/managed: "true"`, `strimzi.io/enable-stretch-cluster: "true"` or `strimzi.io/cross-cluster-type`, and no others.',
  columns: [
    readyColumn,
    {
      name: 'Kafka Version',
      type: 'string',
      jsonPath: '.status.kafkaVersion',
      description: 'The version that runs.',
    },
  ],
  // The document prints Kafkas that have metadata only.
  spec: orEmpty(spec).describe('The cluster.'),
  status: status.describe('Written by the operator.'),
  normalise: (written) => written,
});

export type Kafka = ResourceOf<typeof kafka>;

/** How a stretched Kafka asks to be taken care of, and which network it says its clusters are joined by. */
export const STRETCH_ANNOTATIONS = {
  crossClusterType: 'strimzi.io/cross-cluster-type',
  enable: 'strimzi.io/enable-stretch-cluster',
} as const;

export interface Stretch {
  /** `submariner`, `cilium` …, as the user wrote it; undefined where only `enable-stretch-cluster` is set. */
  network: string | undefined;
}

/** Whether a Kafka asks to be stretched, and how. */
export function stretchOf({
  metadata: { annotations },
}: {
  metadata: Pick<Kafka['metadata'], 'annotations'>;
}): Stretch | undefined {
  const network = annotations[STRETCH_ANNOTATIONS.crossClusterType];
  if (network !== undefined && network !== '') return { network: network.toLowerCase() };
  return annotations[STRETCH_ANNOTATIONS.enable] === 'true' ? { network: undefined } : undefined;
}
