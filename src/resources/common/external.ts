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

/** The host names of brokers. */
export const hostPattern = text(253, {
  matching: /^([-A-Za-z0-9.]|\$\((id|subdomain|cluster)\))+$/,
  otherwise: 'write a host name; it has $(id) in it, and may have $(cluster) and $(subdomain)',
}).describe(
  'The name of each broker: $(id) is its node id, $(cluster) the cluster’s name; $(id).$(subdomain) if left out. With `bootstrap` for the id it is the name of all.',
);

/** Which address of a node clients are told, or is put into DNS. */
export const preferredAddressType = z
  .enum(['ExternalDNS', 'ExternalIP', 'InternalDNS', 'InternalIP', 'Hostname'])
  .describe('Which address of a node is taken if it has several kinds; ExternalIP first if left out.');

/** Who may connect. */
export const allowedSources = z
  .array(
    text(43, {
      matching: /^[0-9A-Fa-f:.]+\/[0-9]{1,3}$/,
      otherwise: 'write a network as in 192.0.2.0/24',
    }),
  )
  .max(256)
  .describe('Networks that may connect, as in 192.0.2.0/24; everyone if left out.');

/** Where the port number comes from. */
export const portStrategy = z
  .enum(['reserve', 'range'])
  .describe(
    'Where the host port comes from: `reserve` takes a free node port by a Service without selector; `range` one outside the node ports, for networks that refuse those (Cilium).',
  );
