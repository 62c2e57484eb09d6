import { z } from 'zod';
import { bootstrapServers } from '../common/names.ts';
import { nodeIdRanges, normaliseRange } from '../common/node-ids.ts';
import { inNamespace, trustAnchorRef } from '../common/refs.ts';
import { protocol, tlsParameters } from '../common/tls.ts';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { withRules } from '../schema.ts';
import { KROXYLICIOUS, ageColumn, ours } from './group.ts';

const tls = tlsParameters.extend({
  trustAnchorRefs: z
    .array(trustAnchorRef)
    .max(16)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe(
      'ConfigMaps with the authorities that the brokers’ certificates come from; the public ones if left out.',
    )
    .exactOptional(),
});

const spec = withRules(
  z.object({
    bootstrap: bootstrapServers.describe(
      'The address of the cluster, host:port; several separated by commas.',
    ),
    protocol: protocol.describe('What the brokers speak; TLS if tls is given, else TCP.').exactOptional(),
    nodeIdRanges: nodeIdRanges
      .default([{ start: 0, end: 2 }])
      .describe('The node ids of the brokers. Each takes a port or a host name of the virtual cluster.'),
    tls: tls.describe('Trust towards the brokers, and how TLS is spoken to them.').exactOptional(),
  }),
  {
    cel: "!has(self.tls) || !has(self.protocol) || self.protocol == 'TLS'",
    holds: ({ tls, protocol }) => tls === undefined || protocol !== 'TCP',
    message: 'set protocol to TLS, or remove tls: over TCP nothing would be encrypted',
    at: 'tls',
  },
);

function normaliseSpec(written: z.output<typeof spec>, namespace: string) {
  const { bootstrap, protocol, nodeIdRanges, tls } = written;
  const trustAnchorRefs = (tls?.trustAnchorRefs ?? []).map((ref) => inNamespace(ref, namespace));
  const secure = protocol === 'TLS' || tls !== undefined;
  return {
    bootstrap,
    protocol: secure ? ('TLS' as const) : ('TCP' as const),
    nodeIdRanges: nodeIdRanges.map(normaliseRange),
    // Always there when TLS is spoken: the public authorities are trusted, and nothing is left in the clear.
    ...(secure && { tls: { ...tls, trustAnchorRefs } }),
  };
}

export const kafkaClusterRef = defineKind({
  ...ours,
  group: KROXYLICIOUS,
  kind: 'KafkaClusterRef',
  plural: 'kafkaclusterrefs',
  singular: 'kafkaclusterref',
  shortNames: ['kcr'],
  description: 'A Kafka cluster anywhere, that virtual clusters can be in front of.',
  columns: [
    {
      name: 'Bootstrap',
      type: 'string',
      jsonPath: '.spec.bootstrap',
      description: 'The address of the cluster.',
    },
    { name: 'Protocol', type: 'string', jsonPath: '.spec.protocol', description: 'What the brokers speak.' },
    ageColumn,
  ],
  spec: spec.describe('Where the cluster is.'),
  normalise: (written) => ({ ...written, spec: normaliseSpec(written.spec, written.metadata.namespace) }),
});

export type KafkaClusterRef = ResourceOf<typeof kafkaClusterRef>;
