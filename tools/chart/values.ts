/** What can be chosen in the chart: a row for each choice of `isthmus install`, by the same name. */
import { DEFAULT_ROADS, OPERATOR_ROADS } from '../../src/control/roads.ts';
import { LOG_LEVELS } from '../../src/ops/log.ts';
import { VERSION } from '../../src/ops/version.ts';
import { FOREIGN_PROJECTS } from '../../src/resources/registry.ts';

/**
 * How a value gets into a template. `text`, `count`: always there. `optional`: a text that may be empty. `list`: joined by commas.
 * `images`: a line for each version. `yaml`: as Kubernetes spells it.
 */
export type Form = 'text' | 'count' | 'optional' | 'list' | 'images' | 'yaml' | 'choice';

export interface Value {
  form: Form;
  fallback: unknown;
  help: string;
  schema: object;
}

const text = { type: 'string' };
const texts = { type: 'array', items: { type: 'string', minLength: 1 }, uniqueItems: true };
const objects = { type: 'array', items: { type: 'object' } };
const named = { type: 'object', additionalProperties: { type: 'string' } };

const value = (form: Form, fallback: unknown, help: string, schema: object): Value => ({
  form,
  fallback,
  help,
  schema,
});
const optional = (help: string, schema: object = text) => value('optional', '', help, schema);

export const VALUES: Readonly<Record<string, Value>> = {
  image: value('text', `isthmus:${VERSION}`, 'The container image.', { type: 'string', minLength: 1 }),
  proxyImage: optional('What proxies run; empty: the same image.'),
  imagePullSecrets: value(
    'yaml',
    [],
    'Secrets that the image is pulled with: [{ name: registry }].',
    objects,
  ),
  replicas: value('count', 2, 'Operator pods; one leads, the others wait.', { type: 'integer', minimum: 1 }),
  roads: value('list', [...DEFAULT_ROADS], `Which roads are served, of ${OPERATOR_ROADS.join(', ')}.`, {
    ...texts,
    items: { enum: [...OPERATOR_ROADS] },
    minItems: 1,
  }),
  watchNamespaces: value(
    'list',
    [],
    'Look only into these namespaces, which must be there, and have rights nowhere else; none: all of them.',
    { ...texts, items: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' } },
  ),
  crds: value(
    'choice',
    { install: true, projects: [] },
    `install: our own CRDs, and the roles for people. projects: also the CRDs of these, for clusters that do not have them, of ${FOREIGN_PROJECTS.join(', ')}.`,
    {
      type: 'object',
      additionalProperties: false,
      properties: {
        install: { type: 'boolean' },
        projects: { ...texts, items: { enum: [...FOREIGN_PROJECTS] } },
      },
    },
  ),
  filterModules: value(
    'list',
    [],
    'npm packages in the image that filters of any KafkaProxy may come from.',
    texts,
  ),
  kafkaImages: value('images', {}, 'What nodes of a version of Kafka run: { 4.3.1: my/kafka:4.3.1 }.', named),
  clusterId: optional('What node pools call this cluster; empty: local.'),
  clusterDomain: optional('The domain of the cluster’s Services; empty: cluster.local.'),
  probeResolver: optional('The DNS server that clients outside use, for probes of exposed brokers.'),
  probeNetworks: value(
    'list',
    [],
    'Networks of special addresses at which brokers are probed all the same.',
    texts,
  ),
  probeFrom: value('list', [], 'Joined clusters from which exposed brokers are looked at, too.', texts),
  externalDnsMetrics: optional('Where external-dns tells its metrics.'),
  podMonitor: value(
    'choice',
    false,
    'Also PodMonitors, for the Prometheus operator: metrics of the operator and of brokers.',
    {
      type: 'boolean',
    },
  ),
  console: value('choice', false, 'Also the console, for all who log in with a token of the cluster.', {
    type: 'boolean',
  }),
  logLevel: optional('How much the operator logs; empty: info.', { enum: ['', ...LOG_LEVELS] }),
  nodeSelector: value('yaml', {}, 'Labels of the nodes that the operator runs on.', named),
  tolerations: value('yaml', [], 'Taints of nodes that it may run on all the same.', objects),
  priorityClassName: optional('The PriorityClass of its pods.'),
};

/** JSON Schema of the values: Helm refuses what does not fit. */
export function valuesSchema(): object {
  const schemas = Object.entries(VALUES).map(([name, { schema, help }]) => [
    name,
    { ...schema, description: help },
  ]);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    additionalProperties: false,
    // Helm gives these to every chart that is part of another.
    properties: { ...Object.fromEntries(schemas), global: { type: 'object' } },
  };
}
