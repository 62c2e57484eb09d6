import { z } from 'zod';
import { dnsLabel } from '../common/names.ts';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { orEmpty } from '../schema.ts';
import { kept, readyColumn, strimzi, strimziStatus } from './group.ts';

/** The annotation that later versions of the design use instead of `spec.cluster`. */
export const CLUSTER_ALIAS = 'strimzi.io/stretch-cluster-alias';
/** The labels that name the cluster within the network that joins them, newest first. */
export const NETWORK_ID_LABELS = [
  'strimzi.io/cluster-network-id',
  'strimzi.io/submariner-cluster-id',
] as const;

const volume = z.looseObject({
  id: z.int().min(0).describe('The number of the volume, in a jbod.').exactOptional(),
  type: z.enum(['ephemeral', 'persistent-claim']).describe('Whether data outlives the pod.').exactOptional(),
  size: z.string().describe('How large, e.g. 100Gi.').exactOptional(),
  class: z.string().describe('The storage class.').exactOptional(),
  deleteClaim: z.boolean().describe('Whether data is deleted with the cluster.').exactOptional(),
  kraftMetadata: z.string().describe('`shared` on the volume that has the metadata log.').exactOptional(),
});

const storage = volume.extend({
  type: z
    .enum(['ephemeral', 'persistent-claim', 'jbod'])
    .describe('One volume, or several (jbod).')
    .exactOptional(),
  volumes: z.array(volume).describe('The volumes of a jbod.').exactOptional(),
});

const spec = z.looseObject({
  cluster: dnsLabel
    .describe('The Kubernetes cluster in which the pods of this pool run; the central one if left out.')
    .exactOptional(),
  replicas: z.int().min(0).max(10_000).describe('How many nodes.').exactOptional(),
  roles: z
    .array(z.enum(['controller', 'broker']))
    .describe('What the nodes are.')
    .exactOptional(),
  storage: storage.describe('Where the nodes keep their data.').exactOptional(),
  resources: kept.describe('CPU and memory of each node.').exactOptional(),
  jvmOptions: kept.describe('Options of the Java runtime.').exactOptional(),
  template: kept.describe('What is put on the objects that the operator makes.').exactOptional(),
});

const status = strimziStatus.extend({
  nodeIds: z
    .array(z.int())
    .describe('The node ids of the pool, written before the nodes are made.')
    .exactOptional(),
  clusterId: z.string().describe('The id that the cluster was formatted with.').exactOptional(),
  roles: z.array(z.string()).describe('What the nodes are.').exactOptional(),
  replicas: z.int().describe('How many nodes there are.').exactOptional(),
  labelSelector: z.string().describe('Selects their pods, for autoscalers.').exactOptional(),
});

export const kafkaNodePool = defineKind({
  ...strimzi,
  roads: ['stretch', 'expose', 'proxy'],
  kind: 'KafkaNodePool',
  plural: 'kafkanodepools',
  singular: 'kafkanodepool',
  shortNames: ['knp'],
  description: 'Nodes of a Kafka cluster that are alike, in one Kubernetes cluster.',
  columns: [
    {
      name: 'Cluster',
      type: 'string',
      jsonPath: '.spec.cluster',
      description: 'The Kubernetes cluster where the nodes run.',
    },
    { name: 'Desired Replicas', type: 'integer', jsonPath: '.spec.replicas', description: 'How many nodes.' },
    { name: 'Roles', type: 'string', jsonPath: '.status.roles', description: 'What the nodes are.' },
    { name: 'NodeIds', type: 'string', jsonPath: '.status.nodeIds', description: 'Their node ids.' },
    { ...readyColumn, wide: true },
  ],
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.labelSelector',
  },
  // The document prints node pools that have metadata only.
  spec: orEmpty(spec).describe('The nodes.'),
  status: status.describe('Written by the operator.'),
  rules: [
    {
      // Only here: an API server lets no rule see annotations.
      holds: ({ metadata, spec }) => {
        const alias = metadata.annotations[CLUSTER_ALIAS];
        return alias === undefined || spec.cluster === undefined || alias === spec.cluster;
      },
      message: `let spec.cluster and the annotation ${CLUSTER_ALIAS} name the same cluster, or remove one of them`,
    },
  ],
  normalise: (written) => {
    const cluster = written.spec.cluster ?? written.metadata.annotations[CLUSTER_ALIAS];
    return cluster === undefined ? written : { ...written, spec: { ...written.spec, cluster } };
  },
});

export type KafkaNodePool = ResourceOf<typeof kafkaNodePool>;

/**
 * What the network that joins the clusters calls the cluster of a pool: its label, or else what the pool itself calls
 * it. Undefined for a pool in the central cluster that says nothing.
 */
export function networkIdOf({ metadata, spec }: KafkaNodePool): string | undefined {
  const label = NETWORK_ID_LABELS.map((name) => metadata.labels[name]).find((value) => value !== undefined);
  return label ?? spec.cluster;
}
