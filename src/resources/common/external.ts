/** How brokers are reached from outside on a port of their node: the same for Kafka and Redpanda. */
import { z } from 'zod';
import { text } from '../schema.ts';

/** The zone in which every broker gets a name. */
export const subdomain = text(230, {
  matching: /^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*$/,
  otherwise: 'write a DNS name such as kafka.example.com, without a dot at the end',
}).describe(
  'The zone for the brokers: they are called <id>.<subdomain>, and all of them bootstrap.<subdomain>.',
);

/** Where the port number comes from. */
export const portStrategy = z
  .enum(['reserve', 'range'])
  .describe(
    'Where the host port comes from: `reserve` takes a free node port by a Service without selector; `range` one outside the node ports, for networks that refuse those (Cilium).',
  );
