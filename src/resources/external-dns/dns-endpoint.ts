import { z } from 'zod';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { orEmpty, text, withRules } from '../schema.ts';

const RECORD_TYPES = [
  'A',
  'AAAA',
  'CNAME',
  'DNAME',
  'MX',
  'NAPTR',
  'NS',
  'PTR',
  'SRV',
  'TLSA',
  'TXT',
] as const;

const endpoint = withRules(
  z.looseObject({
    dnsName: text(254).describe('The name of the record.'),
    recordType: z.enum(RECORD_TYPES).describe('The type of the record.'),
    targets: z.array(z.string().max(4096)).max(1000).describe('What the record says.').exactOptional(),
    recordTTL: z.int().min(0).max(0x7fff_ffff).describe('How many seconds it may be cached.').exactOptional(),
    setIdentifier: z.string().max(255).describe('Tells records of one name and type apart.').exactOptional(),
    labels: z.record(z.string(), z.string()).describe('Labels for external-dns.').exactOptional(),
    providerSpecific: z
      .array(z.looseObject({ name: z.string().max(253), value: z.string().max(4096).exactOptional() }))
      .max(100)
      .describe('Settings for the DNS provider.')
      .exactOptional(),
  }),
  {
    cel: "!(self.recordType in ['A', 'AAAA']) || !has(self.targets) || self.targets.all(t, !t.endsWith('.'))",
    holds: ({ recordType, targets = [] }) =>
      (recordType !== 'A' && recordType !== 'AAAA') || !targets.some((target) => target.endsWith('.')),
    message: 'write addresses without a dot at the end: external-dns skips the record otherwise',
    at: 'targets',
  },
  {
    cel: "self.recordType != 'SRV' || !has(self.targets) || self.targets.all(t, t.endsWith('.'))",
    holds: ({ recordType, targets = [] }) =>
      recordType !== 'SRV' || targets.every((target) => target.endsWith('.')),
    message: "write SRV targets as '<priority> <weight> <port> <host>', the host with a dot at the end",
    at: 'targets',
  },
);

export const dnsEndpoint = defineKind({
  group: 'externaldns.k8s.io',
  versions: ['v1alpha1'],
  kind: 'DNSEndpoint',
  plural: 'dnsendpoints',
  singular: 'dnsendpoint',
  shortNames: [],
  categories: ['isthmus'],
  roads: ['expose', 'discover'],
  install: 'choice',
  approval: 'https://github.com/kubernetes-sigs/external-dns/pull/2007',
  description: 'DNS records, for external-dns to publish and for the DNS server of this project to answer.',
  columns: [],
  spec: orEmpty(
    z.looseObject({ endpoints: z.array(endpoint).max(1000).default([]).describe('The records.') }),
  ).describe('The records.'),
  status: z
    .looseObject({
      observedGeneration: z.int().describe('The generation that external-dns has seen.').exactOptional(),
    })
    .describe('Written by external-dns.'),
  normalise: (written) => written,
});

export type DnsEndpoint = ResourceOf<typeof dnsEndpoint>;
