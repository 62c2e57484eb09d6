/** What anchors have in common: the ports that are a cluster's, and how far clients from outside get. */
import { z } from 'zod';
import { listBy, text } from '../schema.ts';

const port = z.object({
  name: text(63).describe('What it is for, e.g. a listener.'),
  port: z.int().min(1).max(65_535).describe('The port.'),
});

export const reservedPorts = listBy('name', port, 256).describe('Ports that are reserved for the cluster.');

/** Names that are granted to a listener. */
export const grantedNames = z.object({
  name: text(63).describe('The listener.'),
  pattern: text(253).describe('The names of its brokers, with `$(id)` for the node id.'),
  since: text(64)
    .describe('Since when they are granted; left out while NamePolicies no longer allow them.')
    .exactOptional(),
  count: z.int().min(1).describe('How many names that is, with the one to begin at.'),
});

/** What is said of all of them. */
export const GRANTED_NAMES =
  'Host names outside that are granted to the cluster: nobody else gets them meanwhile.';

const addresses = z.array(text(253)).max(16).meta({ 'x-kubernetes-list-type': 'atomic' });

const step = z.enum(['resolve', 'connect', 'tls', 'versions', 'login', 'metadata', 'identity']);
const count = z.int().min(0).max(1_000_000);

const exposed = z.object({
  name: text(63).describe('The listener, and the node id or `bootstrap`.'),
  address: text(300).describe('What clients outside are told.'),
  expected: addresses.describe('The addresses that this should lead to.'),
  answered: addresses.describe('The addresses that it led to when it was last probed.'),
  reached: z.boolean().describe('Whether a client gets through.'),
  failed: step.describe('The step at which a client ends.').exactOptional(),
  problem: z.string().max(1024).describe('What is wrong there.').exactOptional(),
});

export const exposedEndpoints = listBy('name', exposed, 1024).describe(
  'How far a client from outside gets, for each name and address that clients are told.',
);

const unreached = z.object({
  name: text(63).describe('The listener, and the node id or `bootstrap`.'),
  failed: step.describe('The step at which a client ends.'),
  problem: z.string().max(1024).describe('What is wrong there.'),
  answered: addresses
    .describe('The addresses that the name leads to, where those are others than it should.')
    .exactOptional(),
});

const triedSources = z.object({
  name: text(63).describe('A listener with `allowedSources`, none of which the place is in.'),
  connected: z.boolean().describe('Whether a connection came about all the same.'),
  proven: z
    .boolean()
    .describe(
      'Whether somebody else got through there at the time: only then it shows something that no connection came about.',
    )
    .exactOptional(),
});

const vantage = z.object({
  name: text(63).describe('The joined Kubernetes cluster.'),
  problem: z.string().max(1024).describe('Why nobody could look from there.').exactOptional(),
  reached: count.describe('How many names and addresses lead a client through.').default(0),
  unreached: count.describe('How many do not.').default(0),
  endpoints: listBy('name', unreached, 16)
    .describe('The first of those that do not, and where a client ends.')
    .default([]),
  sources: listBy('name', triedSources, 256)
    .describe('Listeners that do not let this place in, and whether that is so.')
    .exactOptional(),
});

export const vantages = listBy('name', vantage, 8).describe(
  'How far a client gets from other clusters, for each that the operator is to look from.',
);

/** What is seen from another cluster. */
export type SeenFrom = z.output<typeof vantage>;

/** What the last probe amounts to. */
export const REACH_COLUMNS = [
  {
    name: 'DNS',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="DNSPropagated")].status',
    description: 'Whether the names of exposed brokers lead to where they are.',
  },
  {
    name: 'Reachable',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Reachable")].status',
    description: 'Whether a client from outside gets through to every broker.',
  },
  {
    name: 'Unreached',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Reachable")].message',
    description: 'Which brokers are not reached, and where a client ends.',
    wide: true,
  },
] as const;
