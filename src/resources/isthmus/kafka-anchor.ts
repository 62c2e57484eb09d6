import { z } from 'zod';
import { conditions, observedGeneration } from '../common/conditions.ts';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { ageColumn } from '../kroxylicious/group.ts';
import { listBy, text, withRules } from '../schema.ts';

/** What Kafka's own tools take for the id of a cluster: a UUID in URL-safe Base64. */
const clusterId = text(22, {
  matching: /^[A-Za-z0-9_-]{22}$/,
  otherwise: 'write the cluster id as Kafka does: 22 characters of URL-safe Base64',
});

const uid = text(64);
const nodeId = z.int().min(0).max(2_147_483_647);

const node = z.object({
  id: nodeId.describe('The node id.'),
  pool: text(253).describe('The KafkaNodePool that it belongs to.'),
  target: text(63)
    .describe('The Kubernetes cluster that it is in; the one of the operator if left out.')
    .exactOptional(),
  roles: z
    .array(z.enum(['broker', 'controller']))
    .max(2)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe('What it is.')
    .default([]),
  leaving: z.boolean().describe('Whether it is to go once it is empty.').default(false),
  formatted: z
    .array(text(63))
    .max(64)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe(
      'Its volumes that have had data: one of these that is empty has lost it, and is not formatted again.',
    )
    .default([]),
});

const port = z.object({
  name: text(63).describe('What it is for, e.g. a listener.'),
  port: z.int().min(1).max(65_535).describe('The port.'),
});

const givenAddresses = z.object({
  name: text(63).describe('The listener, and the node id or `bootstrap`.'),
  addresses: z
    .array(text(253))
    .max(8)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe('Addresses, or host names.'),
});

const grantedNames = z.object({
  name: text(63).describe('The listener.'),
  pattern: text(253).describe('The names of its brokers, with `$(id)` for the node id.'),
  since: text(64)
    .describe('Since when they are granted; left out while NamePolicies no longer allow them.')
    .exactOptional(),
  count: z.int().min(1).describe('How many names that is, with the one to begin at.'),
});

const restart = z.object({
  node: nodeId.describe('The node that is being restarted.'),
  podUid: uid.describe('The pod that was, or is about to be, deleted for it.'),
  since: text(64).describe('Since when.'),
  why: text(4096).describe('Why.'),
});

const inFlight = restart.extend({
  earlier: restart
    .describe('Another restart that is not over either: its node may wait for this one, which was down.')
    .exactOptional(),
});

const spec = withRules(
  z.object({
    clusterId: clusterId.describe('The id that storage is formatted with. It never changes.'),
    epoch: z
      .int()
      .min(1)
      .max(Number.MAX_SAFE_INTEGER)
      .describe(
        'Raised by whoever takes the cluster over. It never goes down, and pod sets of an older one are ignored.',
      ),
    holder: text(253).describe(
      'The namespace of the operator that decides about the cluster. Another one leaves it alone.',
    ),
    kafka: z
      .object({ name: text(253).describe('Its name.'), uid: uid.describe('Its uid.') })
      .describe('The Kafka that this is about.'),
    nodes: listBy('id', node, 1024).describe('Every node id that was ever given out.').default([]),
    network: text(63).describe('How pods of different clusters reach each other.').exactOptional(),
    ports: listBy('name', port, 256).describe('Ports that are reserved for the cluster.').default([]),
    addresses: listBy('name', givenAddresses, 4096)
      .describe('Addresses that load balancers of the cluster were given.')
      .default([]),
    names: listBy('name', grantedNames, 256)
      .describe('Host names outside that are granted to the cluster: nobody else gets them meanwhile.')
      .default([]),
    inFlight: inFlight.describe('The restart that is under way.').exactOptional(),
  }),
  {
    // Only an API server knows what it was before.
    cel: 'self.epoch >= oldSelf.epoch',
    holds: () => true,
    message: 'keep the epoch or raise it: whoever has lost the cluster must not get it back this way',
    at: 'epoch',
  },
  {
    cel: 'self.clusterId == oldSelf.clusterId',
    holds: () => true,
    message: 'keep the cluster id: storage is formatted with it',
    at: 'clusterId',
  },
);

const podFacts = z.object({
  name: text(253).describe('The pod.'),
  uid: uid.describe('Its uid.'),
  ready: z.boolean().describe('Whether it is ready.'),
  revision: z.string().max(253).describe('The revision that it was made from.').exactOptional(),
  node: z.string().max(253).describe('The Kubernetes node that it runs on.').exactOptional(),
  zone: z.string().max(63).describe('The zone of that node.').exactOptional(),
  address: z.string().max(253).describe('The address of that node.').exactOptional(),
});

const addresses = z.array(text(253)).max(16).meta({ 'x-kubernetes-list-type': 'atomic' });

const exposed = z.object({
  name: text(63).describe('The listener, and the node id or `bootstrap`.'),
  address: text(300).describe('What clients outside are told.'),
  expected: addresses.describe('The addresses that this should lead to.'),
  answered: addresses.describe('The addresses that it led to when it was last probed.'),
  reached: z.boolean().describe('Whether a client gets through.'),
  failed: z
    .enum(['resolve', 'connect', 'tls', 'versions', 'login', 'metadata', 'identity'])
    .describe('The step at which a client ends.')
    .exactOptional(),
  problem: z.string().max(1024).describe('What is wrong there.').exactOptional(),
});

const status = z.object({
  observedGeneration: observedGeneration.exactOptional(),
  conditions: conditions.exactOptional(),
  exposed: listBy('name', exposed, 1024)
    .describe('How far a client from outside gets, for each name and address that clients are told.')
    .exactOptional(),
  pods: listBy('name', podFacts, 1024).describe('What is known of the pods in this cluster.').exactOptional(),
});

export const kafkaAnchor = defineKind({
  group: 'isthmus.dev',
  versions: ['v1alpha1'],
  kind: 'KafkaAnchor',
  plural: 'kafkaanchors',
  singular: 'kafkaanchor',
  shortNames: ['kanchor'],
  categories: ['isthmus'],
  roads: ['expose', 'stretch'],
  install: 'default',
  description:
    'What must never be forgotten of a Kafka cluster: its id, its node ids, which disks had data, and who decides. Written by the operator before anything else exists.',
  columns: [
    {
      name: 'Kafka',
      type: 'string',
      jsonPath: '.spec.kafka.name',
      description: 'The Kafka that it is about.',
    },
    { name: 'Epoch', type: 'integer', jsonPath: '.spec.epoch', description: 'How often it was taken over.' },
    { name: 'Holder', type: 'string', jsonPath: '.spec.holder', description: 'Who decides.' },
    {
      name: 'In Flight',
      type: 'integer',
      jsonPath: '.spec.inFlight.node',
      description: 'The node that is being restarted.',
    },
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
    {
      name: 'Cluster ID',
      type: 'string',
      jsonPath: '.spec.clusterId',
      description: 'The id that storage is formatted with.',
      wide: true,
    },
    ageColumn,
  ],
  spec: spec.describe('What must not be forgotten.'),
  status: status.describe('Written by the operator.'),
  normalise: (written) => written,
});

export type KafkaAnchor = ResourceOf<typeof kafkaAnchor>;
