/** The cluster behind a virtual cluster: a KafkaClusterRef, or a Kafka of Strimzi. */
import { z } from 'zod';
import { objectName } from '../common/names.ts';
import { certificateRef, inNamespace } from '../common/refs.ts';
import { text, withRules } from '../schema.ts';

export const STRIMZI_GROUP = 'kafka.strimzi.io';
/** Strimzi's group as the design document writes it. */
const STRIMZI_GROUP_SHORT = 'strimzi.io';

const clusterRef = withRules(
  z.object({
    group: z
      .enum(['kroxylicious.io', STRIMZI_GROUP_SHORT, STRIMZI_GROUP])
      .describe('kroxylicious.io for a KafkaClusterRef, kafka.strimzi.io or strimzi.io for a Kafka.')
      .exactOptional(),
    kind: z
      .enum(['KafkaClusterRef', 'Kafka'])
      .describe('KafkaClusterRef, or Kafka; what fits the group if left out, else KafkaClusterRef.')
      .exactOptional(),
    name: objectName.describe('The name of the cluster resource.'),
    listenerName: text(63)
      .describe(
        'The listener of a Kafka to connect to; for kind Kafka only. Its first internal one if left out.',
      )
      .exactOptional(),
  }),
  {
    cel: "!has(self.group) || !has(self.kind) || (self.kind == 'Kafka') == (self.group != 'kroxylicious.io')",
    holds: ({ group, kind }) =>
      group === undefined || kind === undefined || (kind === 'Kafka') === (group !== 'kroxylicious.io'),
    message:
      'let kind and group agree: Kafka is in kafka.strimzi.io (or strimzi.io), KafkaClusterRef in kroxylicious.io',
  },
  {
    cel: "!has(self.listenerName) || (has(self.kind) ? self.kind == 'Kafka' : has(self.group) && self.group != 'kroxylicious.io')",
    holds: (ref) => ref.listenerName === undefined || isKafka(ref),
    message: 'remove listenerName, or refer to a Kafka (kind: Kafka): other clusters have no named listeners',
    at: 'listenerName',
  },
);

type WrittenRef = z.output<typeof clusterRef>;

function isKafka({ kind, group }: { kind?: string; group?: string }): boolean {
  return kind === undefined ? group !== undefined && group !== 'kroxylicious.io' : kind === 'Kafka';
}

const tls = withRules(
  z.object({
    certificateRef: certificateRef.describe('The client certificate to show.').exactOptional(),
    certificateRefs: z
      .array(certificateRef)
      .length(1)
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe('The same as certificateRef, as a list with one entry.')
      .exactOptional(),
  }),
  {
    cel: '!has(self.certificateRef) || !has(self.certificateRefs)',
    holds: ({ certificateRef, certificateRefs }) =>
      certificateRef === undefined || certificateRefs === undefined,
    message: 'give either certificateRef or certificateRefs; they are two spellings of the same thing',
  },
);

export const targetCluster = z.object({
  clusterRef: clusterRef.describe('The resource that describes the cluster.'),
  tls: tls.describe('Keys towards the cluster.').exactOptional(),
});

function normaliseRef({ name, listenerName, ...ref }: WrittenRef) {
  if (!isKafka(ref)) return { group: 'kroxylicious.io' as const, kind: 'KafkaClusterRef' as const, name };
  const listener = listenerName === undefined ? {} : { listenerName };
  return { group: STRIMZI_GROUP, kind: 'Kafka' as const, name, ...listener } as const;
}

/** One spelling of the groups and of the client certificate. */
export function normaliseTarget({ clusterRef, tls }: z.output<typeof targetCluster>, namespace: string) {
  const certificate = tls?.certificateRef ?? tls?.certificateRefs?.[0];
  return {
    clusterRef: normaliseRef(clusterRef),
    ...(tls && { tls: certificate ? { certificateRef: inNamespace(certificate, namespace) } : {} }),
  };
}
