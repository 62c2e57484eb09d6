import { z } from 'zod';
import { foreignConditions } from '../common/conditions.ts';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { gatewayApi } from './group.ts';

const parentRef = z.looseObject({
  group: z.string().exactOptional(),
  kind: z.string().exactOptional(),
  name: z.string().describe('The Gateway.'),
  namespace: z.string().exactOptional(),
  sectionName: z.string().describe('Its listener.').exactOptional(),
});

const backendRef = z.looseObject({
  name: z.string().describe('The Service.'),
  namespace: z.string().exactOptional(),
  port: z.int().describe('Its port.').exactOptional(),
});

export const tlsRoute = defineKind({
  ...gatewayApi,
  versions: ['v1alpha2', 'v1alpha3', 'v1'],
  kind: 'TLSRoute',
  plural: 'tlsroutes',
  singular: 'tlsroute',
  shortNames: [],
  description: 'Sends TLS connections to a Service by the host name that they ask for.',
  spec: z.looseObject({
    parentRefs: z.array(parentRef).describe('The Gateways it attaches to.').exactOptional(),
    hostnames: z.array(z.string()).describe('The host names it is for.').exactOptional(),
    rules: z
      .array(z.looseObject({ backendRefs: z.array(backendRef).exactOptional() }))
      .describe('Where connections go.')
      .default([]),
  }),
  status: z.looseObject({
    parents: z
      .array(
        z.looseObject({
          parentRef,
          controllerName: z.string().exactOptional(),
          conditions: foreignConditions.exactOptional(),
        }),
      )
      .describe('What each Gateway says about the route.')
      .exactOptional(),
  }),
  normalise: (written) => written,
});

export type TlsRoute = ResourceOf<typeof tlsRoute>;
