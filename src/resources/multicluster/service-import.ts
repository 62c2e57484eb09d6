import { z } from 'zod';
import { foreignConditions } from '../common/conditions.ts';
import { dnsLabel, port } from '../common/names.ts';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { listBy } from '../schema.ts';
import { multicluster } from './group.ts';

const servicePort = z.looseObject({
  name: z.string().describe('The name of the port.').exactOptional(),
  port: port.describe('Its number.'),
  protocol: z.enum(['TCP', 'UDP', 'SCTP']).default('TCP').describe('Its protocol.'),
  appProtocol: z.string().describe('What is spoken on it.').exactOptional(),
});

const spec = z.looseObject({
  type: z
    .enum(['ClusterSetIP', 'Headless'])
    .describe('One address for all clusters, or the addresses of the pods.'),
  ports: z.array(servicePort).describe('The ports of the service.'),
  ips: z.array(z.string()).max(2).describe('The addresses of the service, for ClusterSetIP.').exactOptional(),
  sessionAffinity: z.string().describe('Whether a client stays with one pod.').exactOptional(),
});

export const serviceImport = defineKind({
  ...multicluster,
  kind: 'ServiceImport',
  plural: 'serviceimports',
  singular: 'serviceimport',
  shortNames: ['svcim', 'svcimport'],
  description: 'A service that some of the joined clusters export, as this cluster sees it.',
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.type', description: 'ClusterSetIP or Headless.' },
    { name: 'IP', type: 'string', jsonPath: '.spec.ips', description: 'The addresses of the service.' },
    {
      name: 'Age',
      type: 'date',
      jsonPath: '.metadata.creationTimestamp',
      description: 'How long it has been there.',
    },
  ],
  spec: spec.describe('The service.'),
  status: z
    .looseObject({
      clusters: listBy('cluster', z.looseObject({ cluster: dnsLabel.describe('The cluster.') }), 128)
        .describe('The clusters that export it.')
        .exactOptional(),
      conditions: foreignConditions.exactOptional(),
    })
    .describe('Where it comes from.'),
  normalise: (written) => written,
});

export type ServiceImport = ResourceOf<typeof serviceImport>;
