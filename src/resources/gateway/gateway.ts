import { z } from 'zod';
import { foreignConditions } from '../common/conditions.ts';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { gatewayApi } from './group.ts';

const listener = z.looseObject({
  name: z.string().describe('The section that a route attaches to.'),
  hostname: z.string().describe('The host names it serves; all if left out.').exactOptional(),
  port: z.int().describe('The port it serves.'),
  protocol: z.string().describe('What it speaks; TLS for us.'),
  tls: z
    .looseObject({ mode: z.string().describe('Terminate or Passthrough.').exactOptional() })
    .describe('TLS of the listener.')
    .exactOptional(),
  allowedRoutes: z.record(z.string(), z.unknown()).describe('Which routes may attach.').exactOptional(),
});

const address = z.looseObject({ type: z.string().exactOptional(), value: z.string().exactOptional() });

export const gateway = defineKind({
  ...gatewayApi,
  versions: ['v1beta1', 'v1'],
  kind: 'Gateway',
  plural: 'gateways',
  singular: 'gateway',
  shortNames: ['gtw'],
  description: 'A way into the cluster, which routes attach to.',
  spec: z.looseObject({
    gatewayClassName: z.string().describe('Who implements it.').exactOptional(),
    listeners: z.array(listener).describe('What it serves.').default([]),
  }),
  status: z.looseObject({
    addresses: z.array(address).describe('Where it can be reached.').exactOptional(),
    listeners: z
      .array(z.looseObject({ name: z.string(), conditions: foreignConditions.exactOptional() }))
      .describe('The state of each listener.')
      .exactOptional(),
    conditions: foreignConditions.exactOptional(),
  }),
  normalise: (written) => written,
});

export type Gateway = ResourceOf<typeof gateway>;
