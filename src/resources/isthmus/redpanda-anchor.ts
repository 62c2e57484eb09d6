import { z } from 'zod';
import { conditions } from '../common/conditions.ts';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { ageColumn } from '../kroxylicious/group.ts';
import { listBy, text } from '../schema.ts';
import { GRANTED_NAMES, REACH_COLUMNS, exposedEndpoints, grantedNames, reservedPorts } from './exposure.ts';

/** Its brokers may be called by more than their id, and where clients begin is not always called like them. */
export const grantOfRedpanda = grantedNames.extend({
  pattern: text(300).describe('The names of its brokers, with `$(id)` for the number of the broker.'),
  bootstrap: text(253).describe('Where clients begin.'),
});

const spec = z.object({
  cluster: z
    .object({ name: text(253).describe('Its name.'), uid: text(64).describe('Its uid.') })
    .describe('The Cluster that this is about, or was.'),
  ports: reservedPorts.default([]),
  names: listBy('name', grantOfRedpanda, 16).describe(GRANTED_NAMES).exactOptional(),
});

const status = z.object({
  conditions: conditions.exactOptional(),
  exposed: exposedEndpoints.exactOptional(),
});

export const redpandaAnchor = defineKind({
  group: 'isthmus.dev',
  versions: ['v1alpha1'],
  kind: 'RedpandaAnchor',
  plural: 'redpandaanchors',
  singular: 'redpandaanchor',
  shortNames: ['rpanchor'],
  categories: ['isthmus'],
  roads: ['expose'],
  install: 'default',
  description:
    'What must not be forgotten of an exposed Redpanda cluster, and would not fit into the status of its Cluster: the port of the nodes, which stays its own when it is deleted, the names of its brokers, and how far clients get.',
  columns: [
    {
      name: 'Cluster',
      type: 'string',
      jsonPath: '.spec.cluster.name',
      description: 'The Cluster that it is about.',
    },
    {
      name: 'Port',
      type: 'string',
      jsonPath: '.spec.ports[*].port',
      description: 'The ports of the nodes that are its own.',
    },
    ...REACH_COLUMNS,
    ageColumn,
  ],
  spec: spec.describe('What must not be forgotten.'),
  status: status.describe('Written by the operator.'),
  normalise: (written) => written,
});

export type RedpandaAnchor = ResourceOf<typeof redpandaAnchor>;
