import { z } from 'zod';
import { foreignConditions, observedGeneration } from '../common/conditions.ts';
import { hostPattern, portStrategy, subdomain } from '../common/external.ts';
import { quantity } from '../common/quantity.ts';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { asStructural, orEmpty, withRules } from '../schema.ts';
import { isExternal, oneWish } from './external-wishes.ts';

const kept = z.record(z.string(), z.unknown());

const external = withRules(
  z.looseObject({
    enabled: z.boolean().default(false).describe('Whether this API can be reached from outside.'),
    subdomain: subdomain.exactOptional(),
    hostPattern: hostPattern.exactOptional(),
    portStrategy: portStrategy.exactOptional(),
    endpointTemplate: z
      .string()
      .describe(
        'A Go template for the first part of a broker’s name, e.g. `broker-{{.Index}}`. Understood are `.Index`, `.HostIP` and `add .Index 1`.',
      )
      .exactOptional(),
    portTemplate: z.string().describe('A Go template for the port that clients are told.').exactOptional(),
    preferredAddressType: z
      .enum(['ExternalDNS', 'ExternalIP', 'InternalDNS', 'InternalIP', 'Hostname'])
      .describe('Which address of the node clients are told, where there is no subdomain.')
      .exactOptional(),
    excludeFromService: z.boolean().describe('Whether the NodePort Service leaves it out.').exactOptional(),
  }),
  {
    cel: '!has(self.endpointTemplate) || has(self.subdomain)',
    holds: ({ endpointTemplate, subdomain }) => endpointTemplate === undefined || subdomain !== undefined,
    message: 'add a subdomain: endpointTemplate makes only the first label of a name',
    at: 'endpointTemplate',
  },
  {
    cel: '!has(self.preferredAddressType) || !has(self.subdomain)',
    holds: ({ preferredAddressType, subdomain }) =>
      preferredAddressType === undefined || subdomain === undefined,
    message: 'remove subdomain or preferredAddressType: clients are told either names or addresses',
    at: 'preferredAddressType',
  },
  {
    cel: '!has(self.endpointTemplate) || !has(self.hostPattern)',
    holds: ({ endpointTemplate, hostPattern: pattern }) =>
      endpointTemplate === undefined || pattern === undefined,
    message: 'remove endpointTemplate or hostPattern: both name the brokers',
    at: 'endpointTemplate',
  },
);

const secretRef = z.looseObject({ name: z.string().describe('The Secret, in the same namespace.') });

const tls = z.looseObject({
  enabled: z.boolean().describe('Whether it speaks TLS.').exactOptional(),
  requireClientAuth: z.boolean().describe('Whether clients must show a certificate.').exactOptional(),
  nodeSecretRef: secretRef
    .describe('Has the certificate of the brokers, `tls.crt`, and its key, `tls.key`.')
    .exactOptional(),
  clientCACertRef: secretRef
    .describe('Has the authority of clients’ certificates, `ca.crt`.')
    .exactOptional(),
});

const api = z.looseObject({
  name: z.string().describe('The name of the listener.').exactOptional(),
  port: z
    .int()
    .min(0)
    .max(65_535)
    .describe(
      'The port it binds; 0 for one of the operator’s choice. Of an external listener it is the port of the nodes.',
    )
    .exactOptional(),
  external: external.describe('How it is reached from outside the cluster.').exactOptional(),
  authenticationMethod: z
    .enum(['none', 'sasl', 'mtls_identity', 'http_basic'])
    .describe('How clients say who they are.')
    .exactOptional(),
  tls: tls.describe('TLS of this listener.').exactOptional(),
});

const configuration = z.looseObject({
  rpcServer: z.looseObject({ port: z.int().exactOptional() }).describe('Between brokers.').exactOptional(),
  kafkaApi: z
    .array(api)
    .max(16)
    .describe('The Kafka API: one listener inside, and those for outside.')
    .exactOptional(),
  adminApi: z.array(api).max(16).describe('The admin API.').exactOptional(),
  pandaproxyApi: z.array(api).max(16).describe('Kafka over HTTP.').exactOptional(),
  schemaRegistry: api.describe('The schema registry.').exactOptional(),
  autoCreateTopics: z.boolean().describe('Whether topics are made when clients name them.').exactOptional(),
  groupTopicPartitions: z
    .int()
    .min(1)
    .describe('Partitions of the topic that has the offsets of groups.')
    .exactOptional(),
  developerMode: z
    .boolean()
    .describe('Whether it shares its machine with others, and checks nothing of it.')
    .exactOptional(),
  additionalCommandlineArguments: z
    .record(z.string(), z.string())
    .describe('Further arguments of Redpanda’s command line, without the dashes.')
    .exactOptional(),
});

const amounts = z.record(z.string(), quantity);

const resources = z.looseObject({
  requests: amounts.describe('What a broker is promised.').exactOptional(),
  limits: amounts.describe('What a broker may use at most.').exactOptional(),
  redpanda: amounts
    .describe(
      'What of it Redpanda takes: `cpu` and `memory`; otherwise what is requested, less a tenth of the memory.',
    )
    .exactOptional(),
});

const storage = z.looseObject({
  capacity: quantity.describe('The size of each broker’s disk; 100Gi if left out.').exactOptional(),
  storageClassName: z.string().describe('The class of the disks.').exactOptional(),
});

const intOrText = z.union([z.int().min(0), z.string()]);

const podDisruptionBudget = z.looseObject({
  enabled: z.boolean().describe('Whether there is one; yes if left out.').exactOptional(),
  minAvailable: asStructural(intOrText, { 'x-kubernetes-int-or-string': true })
    .describe('How many brokers must be left.')
    .exactOptional(),
  maxUnavailable: asStructural(intOrText, { 'x-kubernetes-int-or-string': true })
    .describe('How many brokers may be taken away at a time; 1 if left out.')
    .exactOptional(),
});

const spec = z.looseObject({
  image: z.string().describe('The container image.').exactOptional(),
  version: z.string().describe('Its tag.').exactOptional(),
  replicas: z.int().min(0).describe('How many brokers.').exactOptional(),
  annotations: z.record(z.string(), z.string()).describe('Annotations of the pods.').exactOptional(),
  resources: resources.describe('CPU and memory of each broker.').exactOptional(),
  storage: storage.describe('Where the brokers keep their data.').exactOptional(),
  podDisruptionBudget: podDisruptionBudget
    .describe('How many brokers whoever drains nodes may take away.')
    .exactOptional(),
  priorityClassName: z.string().describe('The priority of the pods.').exactOptional(),
  nodeSelector: z.record(z.string(), z.string()).describe('Labels of nodes for the pods.').exactOptional(),
  tolerations: z.array(kept).describe('Taints that the pods tolerate.').exactOptional(),
  superUsers: z
    .array(z.looseObject({ username: z.string() }))
    .describe('Users that may do everything.')
    .exactOptional(),
  enableSasl: z.boolean().describe('Whether clients have to log in.').exactOptional(),
  additionalConfiguration: z
    .record(z.string(), z.string())
    .describe('Further settings by section and name, e.g. `redpanda.default_topic_partitions: "3"`.')
    .exactOptional(),
  configuration: orEmpty(configuration).describe('The listeners and settings of the brokers.'),
  externalDNSSubdomain: subdomain
    .describe('The same as a listener in configuration.kafkaApi that is external and has this subdomain.')
    .exactOptional(),
  externalConnectivity: z
    .looseObject({
      // No default: who says false means it, beside another way to ask for it.
      enabled: z.boolean().describe('Whether brokers can be reached from outside.').exactOptional(),
      subdomain: subdomain.exactOptional(),
      hostPattern: hostPattern.exactOptional(),
    })
    .describe('The same as a listener in configuration.kafkaApi that is external.')
    .exactOptional(),
});

const addresses = z.array(z.string());

const nodes = z.looseObject({
  internal: addresses.describe('Of each broker, inside the cluster.').exactOptional(),
  external: addresses.describe('Of each broker, from outside.').exactOptional(),
  externalBootstrap: z
    .looseObject({
      ingress: z
        .array(
          z.looseObject({
            hostname: z.string().describe('The name of all brokers.').exactOptional(),
            ports: z
              .array(
                z.looseObject({
                  port: z.int().describe('The port.'),
                  protocol: z.string().describe('TCP.'),
                }),
              )
              .exactOptional(),
          }),
        )
        .exactOptional(),
    })
    .describe('Where clients from outside begin.')
    .exactOptional(),
  externalAdmin: addresses.describe('Of each broker’s admin API, from outside.').exactOptional(),
  externalPandaproxy: addresses.describe('Of each broker’s HTTP API, from outside.').exactOptional(),
});

const status = z.looseObject({
  observedGeneration: observedGeneration.exactOptional(),
  replicas: z.int().describe('How many brokers there are.').exactOptional(),
  readyReplicas: z.int().describe('How many of them are ready.').exactOptional(),
  currentReplicas: z.int().describe('How many brokers there are to be now.').exactOptional(),
  restarting: z.boolean().describe('Whether brokers are being restarted.').exactOptional(),
  version: z.string().describe('The version that runs.').exactOptional(),
  nodes: nodes.describe('The addresses of the brokers.').exactOptional(),
  conditions: foreignConditions.exactOptional(),
});

type WrittenSpec = z.output<typeof spec>;

/** The three ways to ask for an external Kafka listener, as the one that today's manifests use. */
function normaliseSpec({ externalDNSSubdomain, externalConnectivity, ...rest }: WrittenSpec): WrittenSpec {
  const { kafkaApi = [] } = rest.configuration;
  const wanted = externalDNSSubdomain !== undefined || externalConnectivity?.enabled === true;
  if (!wanted || kafkaApi.some(isExternal)) return rest;
  const zone = externalDNSSubdomain ?? externalConnectivity?.subdomain;
  const pattern = externalConnectivity?.hostPattern;
  const external = {
    enabled: true,
    ...(zone !== undefined && { subdomain: zone }),
    ...(pattern !== undefined && { hostPattern: pattern }),
  };
  return { ...rest, configuration: { ...rest.configuration, kafkaApi: [...kafkaApi, { external }] } };
}

export const redpandaCluster = defineKind({
  group: 'redpanda.vectorized.io',
  versions: ['v1alpha1'],
  kind: 'Cluster',
  plural: 'clusters',
  singular: 'cluster',
  shortNames: [],
  categories: ['redpanda', 'isthmus'],
  roads: ['expose'],
  install: 'choice',
  description:
    'A Redpanda cluster. The operator runs those that have the annotation `isthmus.dev/managed: "true"`.',
  columns: [
    { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', description: 'How many brokers.' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas', description: 'How many are ready.' },
    {
      name: 'External',
      type: 'string',
      jsonPath: '.status.nodes.external',
      description: 'Their addresses from outside.',
    },
  ],
  spec: orEmpty(spec).describe('The cluster.'),
  status: status.describe('Written by the operator.'),
  rules: oneWish,
  normalise: (written) => ({ ...written, spec: normaliseSpec(written.spec) }),
});

export type RedpandaCluster = ResourceOf<typeof redpandaCluster>;
