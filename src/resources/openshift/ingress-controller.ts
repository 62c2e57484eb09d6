import { z } from 'zod';
import { foreignConditions } from '../common/conditions.ts';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { orEmpty } from '../schema.ts';

export const ingressController = defineKind({
  group: 'operator.openshift.io',
  versions: ['v1'],
  kind: 'IngressController',
  plural: 'ingresscontrollers',
  singular: 'ingresscontroller',
  shortNames: [],
  categories: [],
  roads: ['proxy'],
  install: 'never',
  description: 'Serves Routes (OpenShift).',
  columns: [],
  spec: orEmpty(
    z.looseObject({
      domain: z.string().describe('The domain of its Routes.').exactOptional(),
      routeSelector: z
        .record(z.string(), z.unknown())
        .describe('Which Routes it serves; all if left out.')
        .exactOptional(),
      namespaceSelector: z
        .record(z.string(), z.unknown())
        .describe('From which namespaces; all if left out.')
        .exactOptional(),
    }),
  ),
  status: z.looseObject({
    domain: z.string().describe('The domain of its Routes.').exactOptional(),
    conditions: foreignConditions.exactOptional(),
  }),
  normalise: (written) => written,
});

export type IngressController = ResourceOf<typeof ingressController>;
