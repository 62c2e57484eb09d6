import { z } from 'zod';
import { foreignConditions } from '../common/conditions.ts';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { orEmpty } from '../schema.ts';
import { multicluster } from './group.ts';

const spec = z.looseObject({
  exportedLabels: z
    .record(z.string(), z.string())
    .describe('Labels of the service that the other clusters see.')
    .exactOptional(),
  exportedAnnotations: z
    .record(z.string(), z.string())
    .describe('Annotations of the service that the other clusters see.')
    .exactOptional(),
});

export const serviceExport = defineKind({
  ...multicluster,
  kind: 'ServiceExport',
  plural: 'serviceexports',
  singular: 'serviceexport',
  shortNames: ['svcex', 'svcexport'],
  description: 'Makes the Service of the same name and namespace known to the other clusters.',
  columns: [
    {
      name: 'Age',
      type: 'date',
      jsonPath: '.metadata.creationTimestamp',
      description: 'How long it has been there.',
    },
  ],
  spec: orEmpty(spec).describe('What the other clusters see of the Service.'),
  status: z
    .looseObject({ conditions: foreignConditions.exactOptional() })
    .describe('Whether the Service is exported.'),
  normalise: (written) => written,
});

export type ServiceExport = ResourceOf<typeof serviceExport>;
