import { z } from 'zod';
import { conditions, observedGeneration } from '../common/conditions.ts';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { ageColumn } from '../kroxylicious/group.ts';
import {
  GRANTED_NAMES,
  REACH_COLUMNS,
  exposedEndpoints,
  grantedNames,
  reservedPorts,
  vantages,
} from './exposure.ts';
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
  retiring: z
    .boolean()
    .describe('Whether it is to stay, and to be no broker any more once it is empty.')
    .exactOptional(),
  formatted: z
    .array(text(63))
    .max(64)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe(
      'Its volumes that have had data: one of these that is empty has lost it, and is not formatted again.',
    )
    .default([]),
});

const target = z.object({
  name: text(63).describe('The Kubernetes cluster; `local` is the one of the operator.'),
  networkId: text(63).describe('What the network calls it.').exactOptional(),
});

const givenAddresses = z.object({
  name: text(63).describe('The listener, and the node id or `bootstrap`.'),
  addresses: z
    .array(text(253))
    .max(8)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe('Addresses, or host names.'),
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

const directoryId = text(22, {
  matching: /^[A-Za-z0-9_-]{22}$/,
  otherwise: 'write the id of a directory as Kafka does: 22 characters of URL-safe Base64',
});

const voter = z.object({
  id: nodeId.describe('The node id of the controller.'),
  directoryId: directoryId.describe('The id of the directory that has its metadata log.'),
});

const quorum = z.object({
  initial: listBy(
    'id',
    voter.extend({
      host: text(253).describe('The name that others know it by.'),
      used: z
        .boolean()
        .describe(
          'Whether that directory has been in use, or the node is gone: nothing is formatted for it any more.',
        ),
    }),
    1024,
  ).describe('The voters that the metadata log begins with.'),
  change: voter
    .extend({
      do: z.enum(['add', 'remove']).describe('What Kafka was, or is about to be, asked for.'),
      since: text(64).describe('Since when.'),
    })
    .describe('The change of voters that is under way.')
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
    targets: listBy('name', target, 64)
      .describe('The Kubernetes clusters that may have something of the Kafka.')
      .default([]),
    ports: reservedPorts.default([]),
    addresses: listBy('name', givenAddresses, 4096)
      .describe('Addresses that load balancers of the cluster were given.')
      .default([]),
    names: listBy('name', grantedNames, 256).describe(GRANTED_NAMES).default([]),
    inFlight: inFlight.describe('The restart that is under way.').exactOptional(),
    quorum: quorum
      .describe(
        'How controllers come and go (KIP-853); left out where the voters are in the configuration of every node.',
      )
      .exactOptional(),
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

const ids = z.array(nodeId).max(1024).meta({ 'x-kubernetes-list-type': 'atomic' });

const milliseconds = z.number().min(0).max(600_000);

const latency = z.object({
  name: text(63).describe('The other Kubernetes cluster, as the network calls it.'),
  p50Ms: milliseconds.describe('Half of the round trips there took less, in milliseconds.'),
  p99Ms: milliseconds.describe('All but one in a hundred took less.'),
});

const controllerVersion = text(63).describe('The version of the pod-set controller there, as it said last.');

const targetStatus = z.object({
  name: text(63).describe('The Kubernetes cluster, as the network calls it.'),
  reachable: z.boolean().describe('Whether it answers the operator.'),
  since: text(64).describe('Since when it does not.').exactOptional(),
  problem: z.string().max(1024).describe('Why not.').exactOptional(),
  pools: listBy(
    'name',
    z.object({
      name: text(253).describe('The KafkaNodePool.'),
      nodes: ids.describe('Its node ids.'),
      ready: ids.describe('Those whose pods are ready; none while nobody can see them.'),
    }),
    256,
  ).describe('What is there of the Kafka.'),
  latencies: listBy('name', latency, 64)
    .describe('How far away the others are, as it said last.')
    .exactOptional(),
  controllerVersion: controllerVersion.exactOptional(),
});

const status = z.object({
  observedGeneration: observedGeneration.exactOptional(),
  conditions: conditions.exactOptional(),
  exposed: exposedEndpoints.exactOptional(),
  vantages: vantages.exactOptional(),
  targets: listBy('name', targetStatus, 64)
    .describe('The Kubernetes clusters of a Kafka over several of them.')
    .exactOptional(),
  latencies: listBy('name', latency, 64)
    .describe(
      'How far away other clusters of the Kafka are from this one, as the pod-set controller here measures.',
    )
    .exactOptional(),
  controllerVersion: controllerVersion.exactOptional(),
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
    ...REACH_COLUMNS,
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
