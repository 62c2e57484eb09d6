import { z } from 'zod';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { gatewayApi } from './group.ts';

export const referenceGrant = defineKind({
  ...gatewayApi,
  versions: ['v1beta1', 'v1'],
  kind: 'ReferenceGrant',
  plural: 'referencegrants',
  singular: 'referencegrant',
  shortNames: ['refgrant'],
  description: 'Allows references from other namespaces into the one that it is in.',
  spec: z.looseObject({
    from: z
      .array(z.looseObject({ group: z.string(), kind: z.string(), namespace: z.string() }))
      .describe('Who may refer.')
      .default([]),
    to: z
      .array(z.looseObject({ group: z.string(), kind: z.string(), name: z.string().exactOptional() }))
      .describe('To what; to all of a kind where there is no name.')
      .default([]),
  }),
  status: z.looseObject({}),
  normalise: (written) => written,
});

export type ReferenceGrant = ResourceOf<typeof referenceGrant>;
