import { z } from 'zod';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { ageColumn } from '../kroxylicious/group.ts';
import { text, withRules } from '../schema.ts';

const domain = text(253, {
  matching: /^[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?([.][a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*$/,
  otherwise: 'write a domain in lower case, without a dot at the end and without a wildcard',
});

const requirement = z.object({
  key: text(317).describe('The label.'),
  operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('How it is compared.'),
  values: z
    .array(z.string().max(63))
    .max(64)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe('What it is compared with.')
    .exactOptional(),
});

const selector = z.object({
  matchLabels: z.record(z.string(), z.string().max(63)).describe('Labels that it has.').exactOptional(),
  matchExpressions: z
    .array(requirement)
    .max(32)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe('What else holds for its labels.')
    .exactOptional(),
});

const limits = z.object({
  namesPerNamespace: z
    .int()
    .min(1)
    .max(1_000_000)
    .describe('How many names each namespace, or each joined cluster, may have by this policy.')
    .exactOptional(),
  recordsPerObject: z
    .int()
    .min(1)
    .max(5000)
    .describe('How many DNS records one object may have by this policy.')
    .exactOptional(),
});

const isWithin = (name: string, zone: string) => name === zone || name.endsWith(`.${zone}`);

const spec = withRules(
  z.object({
    zone: domain.describe(
      'The domain that is closed by this: below it, only what policies for it allow may be claimed.',
    ),
    domains: z
      .array(domain)
      .min(1)
      .max(64)
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe('What may be claimed: these names and all below them; the whole zone if left out.')
      .exactOptional(),
    namespaces: selector
      .describe('The namespaces whose objects may claim it; `{}` selects all, none may if left out.')
      .exactOptional(),
    clusters: z
      .array(text(63))
      .max(64)
      .meta({ 'x-kubernetes-list-type': 'atomic' })
      .describe(
        'The joined clusters whose exported services may have such names; `*` stands for all, none may if left out.',
      )
      .exactOptional(),
    wildcards: z.boolean().default(false).describe('Whether a name may begin with `*.`.'),
    delegations: z.boolean().default(false).describe('Whether NS records are allowed.'),
    limits: limits.describe('How much of it; no limit where left out.').exactOptional(),
  }),
  {
    cel: "!has(self.domains) || self.domains.all(d, d == self.zone || d.endsWith('.' + self.zone))",
    holds: ({ zone, domains = [] }) => domains.every((one) => isWithin(one, zone)),
    message: 'write domains that are in the zone',
    at: 'domains',
  },
);

export const namePolicy = defineKind({
  group: 'isthmus.dev',
  versions: ['v1alpha1'],
  kind: 'NamePolicy',
  plural: 'namepolicies',
  singular: 'namepolicy',
  shortNames: ['namepol'],
  categories: ['isthmus'],
  roads: ['proxy', 'expose', 'discover'],
  install: 'default',
  scope: 'Cluster',
  description:
    'Who may claim which DNS names and host names. A zone without any is open: first come, first served.',
  columns: [
    { name: 'Zone', type: 'string', jsonPath: '.spec.zone', description: 'The domain that it closes.' },
    ageColumn,
  ],
  spec: spec.describe('Who may claim what.'),
  normalise: (written) => ({
    ...written,
    spec: {
      ...written.spec,
      domains: written.spec.domains ?? [written.spec.zone],
      clusters: written.spec.clusters ?? [],
    },
  }),
});

export type NamePolicy = ResourceOf<typeof namePolicy>;
