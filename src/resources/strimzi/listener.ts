/** A listener of a Kafka: where clients connect, and how they are let in from outside. */
import { z } from 'zod';
import {
  allowedSources,
  hostPattern,
  portStrategy,
  preferredAddressType,
  subdomain,
} from '../common/external.ts';
import { text } from '../schema.ts';
import { kept } from './group.ts';

const TYPES = [
  'internal',
  'route',
  'loadbalancer',
  'nodeport',
  'ingress',
  'cluster-ip',
  'tlsroute',
  'hostport',
] as const;

const bootstrap = z.looseObject({
  host: z.string().describe('The host name to begin at.').exactOptional(),
  nodePort: z.int().describe('The node port to use.').exactOptional(),
  alternativeNames: z.array(z.string()).describe('More names for the certificates.').exactOptional(),
  annotations: z.record(z.string(), z.string()).describe('Annotations of its Service.').exactOptional(),
});

const brokerOverride = z.looseObject({
  broker: z.int().min(0).describe('The node id.').exactOptional(),
  host: z.string().describe('Its host name.').exactOptional(),
  advertisedHost: z.string().describe('The host name it gives to clients.').exactOptional(),
  advertisedPort: z.int().describe('The port it gives to clients.').exactOptional(),
  nodePort: z.int().describe('The node port to use.').exactOptional(),
});

export const configuration = z.looseObject({
  subdomain: subdomain.exactOptional(),
  portStrategy: portStrategy.exactOptional(),
  hostPattern: hostPattern.exactOptional(),
  preferredAddressType: preferredAddressType.exactOptional(),
  allowedSources: allowedSources.exactOptional(),
  bootstrap: bootstrap.describe('The address that clients begin at.').exactOptional(),
  brokers: z.array(brokerOverride).describe('What is different for single brokers.').exactOptional(),
  hostTemplate: z.string().describe('The host name of each broker; {nodeId} is replaced.').exactOptional(),
  advertisedHostTemplate: z.string().describe('The same, for what clients are told.').exactOptional(),
  preferredNodePortAddressType: z
    .string()
    .describe('Which address of a node is tried first, e.g. ExternalIP.')
    .exactOptional(),
  brokerCertChainAndKey: kept.describe('The Secret with a certificate of the user’s own.').exactOptional(),
});

export const listener = z.looseObject({
  name: text(11, {
    matching: /^[a-z0-9]+$/,
    otherwise: 'name the listener with lower-case letters and digits only',
  }).describe('At most 11 lower-case letters and digits.'),
  port: z.int().min(9092).max(65_535).describe('The port that brokers bind.'),
  type: z
    .enum(TYPES)
    .describe('How clients get there; `hostport` puts every broker on a port of its node, with a DNS name.'),
  tls: z.boolean().default(false).describe('Whether it speaks TLS.'),
  authentication: kept.describe('How clients prove who they are.').exactOptional(),
  networkPolicyPeers: z.array(kept).describe('Who may connect; everyone if left out.').exactOptional(),
  configuration: configuration.describe('More about the way in.').exactOptional(),
});
