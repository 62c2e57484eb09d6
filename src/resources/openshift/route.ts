import { z } from 'zod';
import { foreignConditions } from '../common/conditions.ts';
import { asStructural } from '../schema.ts';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';

const targetPort = asStructural(z.union([z.int(), z.string()]), {
  'x-kubernetes-int-or-string': true,
  anyOf: [{ type: 'integer' }, { type: 'string' }],
});

export const route = defineKind({
  group: 'route.openshift.io',
  versions: ['v1'],
  kind: 'Route',
  plural: 'routes',
  singular: 'route',
  shortNames: [],
  categories: [],
  roads: ['proxy'],
  install: 'never',
  description: 'Sends connections for a host name to a Service (OpenShift).',
  columns: [],
  spec: z.looseObject({
    host: z.string().describe('The host name; one of the IngressController’s if left out.').exactOptional(),
    subdomain: z
      .string()
      .describe('The first labels of a host name in the domain of the controller.')
      .exactOptional(),
    to: z
      .looseObject({ kind: z.string().exactOptional(), name: z.string() })
      .describe('The Service.')
      .exactOptional(),
    port: z.looseObject({ targetPort }).describe('Its port.').exactOptional(),
    tls: z
      .looseObject({ termination: z.string().describe('`passthrough` for us.').exactOptional() })
      .describe('What is done with TLS.')
      .exactOptional(),
    wildcardPolicy: z.string().exactOptional(),
  }),
  status: z.looseObject({
    ingress: z
      .array(
        z.looseObject({
          host: z.string().describe('The host name it was given.').exactOptional(),
          routerName: z.string().describe('The IngressController.').exactOptional(),
          routerCanonicalHostname: z.string().describe('Where DNS has to point.').exactOptional(),
          conditions: foreignConditions.exactOptional(),
        }),
      )
      .describe('Who serves the Route.')
      .exactOptional(),
  }),
  normalise: (written) => written,
});

export type Route = ResourceOf<typeof route>;
