import { z } from 'zod';
import { conditions, observedGeneration } from '../common/conditions.ts';
import { infrastructure, normaliseInfrastructure } from '../common/infrastructure.ts';
import { objectName } from '../common/names.ts';
import { certificateRef, filterRefs, inNamespace, trustAnchorRef } from '../common/refs.ts';
import { protocol } from '../common/tls.ts';
import { defineKind, nameIsLabel } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { listBy, text, withRules } from '../schema.ts';
import { KROXYLICIOUS, ageColumn, conditionColumn, ours, proxyColumn, proxyRef } from './group.ts';
import { normaliseTarget, targetCluster } from './target-cluster.ts';

/** As many as it may name, and as many again that its proxy demands before and after them. */
const MAX_FILTERS = 96;

/** `<cluster>-<ingress>-<node id>` must be a DNS label of at most 63 characters, and a node id can have ten digits. */
const NAMES_TOGETHER = 51;

const ingressTls = withRules(
  z.object({
    certificateRefs: z
      .array(certificateRef)
      .max(16)
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe(
        'Secrets with the server’s certificates; between them they name the bootstrap host and every broker.',
      )
      .exactOptional(),
    certificateRef: certificateRef.describe('The same as certificateRefs with one entry.').exactOptional(),
    trustAnchorRefs: z
      .array(trustAnchorRef)
      .max(16)
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe('ConfigMaps with the authorities whose client certificates are trusted.')
      .exactOptional(),
    trustOptions: z
      .object({
        clientAuth: z
          .enum(['REQUIRED', 'REQUESTED', 'NONE'])
          .describe(
            'Whether clients must show a certificate; REQUIRED if there are trust anchors, else NONE.',
          )
          .exactOptional(),
      })
      .describe('What is asked of clients.')
      .exactOptional(),
  }),
  {
    cel: '!has(self.certificateRef) || !has(self.certificateRefs)',
    holds: ({ certificateRef, certificateRefs }) =>
      certificateRef === undefined || certificateRefs === undefined,
    message: 'give either certificateRefs or certificateRef; they are two spellings of the same thing',
  },
  {
    cel: "(has(self.trustAnchorRefs) && self.trustAnchorRefs.size() > 0) || !has(self.trustOptions) || !has(self.trustOptions.clientAuth) || self.trustOptions.clientAuth == 'NONE'",
    holds: ({ trustAnchorRefs = [], trustOptions }) =>
      trustAnchorRefs.length > 0 || (trustOptions?.clientAuth ?? 'NONE') === 'NONE',
    message: 'add trustAnchorRefs, to say whose client certificates are trusted, or set clientAuth to NONE',
    at: 'trustOptions',
  },
);

const ingress = z.object({
  name: objectName.describe('The KafkaProxyIngress, which must belong to the same proxy.'),
  tls: ingressTls
    .describe('Keys and trust towards clients; needed where the ingress speaks TLS.')
    .exactOptional(),
  infrastructure: infrastructure
    .describe(
      'What is put on the objects of this ingress, as far as the KafkaProxyIngress allows. Where that says otherwise, that counts.',
    )
    .exactOptional(),
});

const ingresses = listBy('name', ingress, 32).min(1);
const INGRESSES = 'The ways in that this virtual cluster uses.';

const spec = withRules(
  z.object({
    proxyRef: proxyRef.describe('The proxy that serves this virtual cluster.'),
    ingresses: ingresses.describe(INGRESSES).exactOptional(),
    ingress: ingresses.describe('The same as ingresses.').exactOptional(),
    targetCluster: targetCluster.describe('The Kafka cluster behind it.'),
    filterRefs: filterRefs
      .describe(
        'The filters that every request meets, in order; the proxy’s default ones if left out. Those that the proxy demands come besides.',
      )
      .exactOptional(),
  }),
  {
    cel: 'has(self.ingresses) != has(self.ingress)',
    holds: ({ ingresses, ingress }) => (ingresses === undefined) !== (ingress === undefined),
    message: 'list the ingresses under ingresses (or under ingress, but not under both)',
  },
);

const status = z.object({
  observedGeneration: observedGeneration.exactOptional(),
  conditions: conditions.exactOptional(),
  ingresses: listBy(
    'name',
    z.object({
      name: text(253).describe('The ingress.'),
      bootstrap: text(1024).describe('The address to give to clients.').exactOptional(),
      protocol: protocol.describe('What to speak to it.').exactOptional(),
      loadBalancerIngressPoints: z
        .array(z.object({ hostname: text(253).exactOptional(), ip: text(64).exactOptional() }))
        .max(16)
        .meta({ 'x-kubernetes-list-type': 'atomic' })
        .describe('Where DNS has to point.')
        .exactOptional(),
      conditions: conditions.exactOptional(),
    }),
    32,
  )
    .describe('Where clients find this virtual cluster.')
    .exactOptional(),
  filters: listBy(
    'name',
    z.object({ name: text(253).describe('The filter.'), conditions: conditions.exactOptional() }),
    MAX_FILTERS,
  )
    .describe('The state of each filter.')
    .exactOptional(),
});

type WrittenSpec = z.output<typeof spec>;
type WrittenIngress = z.output<typeof ingress>;

function normaliseTls(tls: z.output<typeof ingressTls>, namespace: string) {
  const { certificateRef, certificateRefs = certificateRef ? [certificateRef] : [] } = tls;
  const { trustAnchorRefs = [], trustOptions } = tls;
  const clientAuth = trustOptions?.clientAuth ?? (trustAnchorRefs.length > 0 ? 'REQUIRED' : 'NONE');
  return {
    certificateRefs: certificateRefs.map((ref) => inNamespace(ref, namespace)),
    trustAnchorRefs: trustAnchorRefs.map((ref) => inNamespace(ref, namespace)),
    trustOptions: { clientAuth },
  };
}

function normaliseIngress({ name, tls, infrastructure }: WrittenIngress, namespace: string) {
  return {
    name,
    ...(tls && { tls: normaliseTls(tls, namespace) }),
    infrastructure: normaliseInfrastructure(infrastructure),
  };
}

function normaliseSpec({ ingress, ingresses = ingress ?? [], ...rest }: WrittenSpec, namespace: string) {
  return {
    ...rest,
    ingresses: ingresses.map((ingress) => normaliseIngress(ingress, namespace)),
    targetCluster: normaliseTarget(rest.targetCluster, namespace),
  };
}

export const virtualKafkaCluster = defineKind({
  ...ours,
  group: KROXYLICIOUS,
  kind: 'VirtualKafkaCluster',
  plural: 'virtualkafkaclusters',
  singular: 'virtualkafkacluster',
  shortNames: ['vkc'],
  description: 'A Kafka cluster as clients see it, served by a proxy.',
  columns: [
    proxyColumn,
    {
      name: 'Target',
      type: 'string',
      jsonPath: '.spec.targetCluster.clusterRef.name',
      description: 'The cluster behind it.',
    },
    {
      name: 'Bootstrap',
      type: 'string',
      jsonPath: '.status.ingresses[0].bootstrap',
      description: 'The address of its first ingress.',
    },
    conditionColumn('Ready', 'Whether clients can use it.'),
    { ...conditionColumn('Accepted', 'Whether the proxy can serve it.'), wide: true },
    { ...conditionColumn('ResolvedRefs', 'Whether everything it refers to is there.'), wide: true },
    ageColumn,
  ],
  spec: spec.describe('What clients see, and what is behind it.'),
  status: status.describe('Written by the operator.'),
  rules: [
    nameIsLabel(),
    {
      cel: ['ingresses', 'ingress']
        .map((list) => `(!has(self.spec.${list}) || self.spec.${list}.all(i, ${together('i.name')}))`)
        .join(' && '),
      holds: ({ metadata, spec }) =>
        (spec.ingresses ?? spec.ingress ?? []).every(
          ({ name }) => name.length + metadata.name.length <= NAMES_TOGETHER,
        ),
      message: `shorten the name of the virtual cluster or of the ingress: together they may have ${NAMES_TOGETHER} characters, because both are in the names of Services`,
    },
  ],
  normalise: (written) => ({ ...written, spec: normaliseSpec(written.spec, written.metadata.namespace) }),
});

function together(ingressName: string): string {
  return `${ingressName}.size() + self.metadata.name.size() <= ${NAMES_TOGETHER}`;
}

export type VirtualKafkaCluster = ResourceOf<typeof virtualKafkaCluster>;
