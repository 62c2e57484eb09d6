import { z } from 'zod';
import { FIELD_PATTERN, MAX_PACKAGE_NAME, PACKAGE_NAME } from '../../ops/filter-module.ts';
import { conditions, observedGeneration } from '../common/conditions.ts';
import { infrastructure, normaliseInfrastructure } from '../common/infrastructure.ts';
import { port } from '../common/names.ts';
import { networkPolicyPeer } from '../common/network-policy.ts';
import { nodeId } from '../common/node-ids.ts';
import { resourceRequirements } from '../common/quantity.ts';
import { filterRefs } from '../common/refs.ts';
import { defineKind, nameAtMost, nameIsLabel } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { listBy, orEmpty, text } from '../schema.ts';
import { proxyLimits, targetPolicy } from './proxy-limits.ts';
import { proxyTemplate } from './proxy-template.ts';
import { KROXYLICIOUS, ageColumn, conditionColumn, ours } from './group.ts';

const proxy = z.object({
  replicas: z.int().min(0).max(1000).default(1).describe('How many pods.'),
  paused: z
    .boolean()
    .describe(
      'Restarts no pods: what needs a restart (an upgrade, `template`, `logLevel`) waits until this is off again. Configuration and `replicas` go on as ever.',
    )
    .exactOptional(),
  resources: resourceRequirements.exactOptional(),
  template: proxyTemplate
    .describe('Where the pods run, and what they run. A change restarts them.')
    .exactOptional(),
});

const filterModule = z.object({
  name: text(MAX_PACKAGE_NAME, {
    matching: PACKAGE_NAME,
    otherwise: 'write the name of an npm package as the image has it, never a path or an address',
  }).describe('The package.'),
  secretFields: z
    .array(text(253, { matching: FIELD_PATTERN, otherwise: 'write names of fields with dots between them' }))
    .max(32)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe(
      'The fields of its filters’ config in which placeholders may stand for Secrets, such as `auth.password`; `*` is any one step. The package sees their values, and nothing else quotes them.',
    )
    .exactOptional(),
});

const management = z.object({
  podMonitor: z
    .boolean()
    .describe(
      'Whether a PodMonitor is made, by which the Prometheus operator collects the metrics of the pods. Labels that it is to have stand in `infrastructure.labels`; let Prometheus connect by `allowedSources`.',
    )
    .exactOptional(),
  allowedSources: z
    .array(networkPolicyPeer)
    .max(32)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe(
      'Who may connect to the management port of the pods beside the operator: Prometheus, say. It needs a token for more than health.',
    )
    .exactOptional(),
});

const spec = z.object({
  management: management.describe('The port for health and metrics.').exactOptional(),
  // Filled in down to `replicas`, because the scale subresource reads an absent number as none.
  infrastructure: orEmpty(
    infrastructure.extend({ proxy: orEmpty(proxy).describe('The proxy’s own pods.') }),
  ).describe('What runs the proxy, and what is put on all objects that the operator makes for it.'),
  defaultFilterRefs: filterRefs
    .describe('The filters of virtual clusters that name none of their own, in order.')
    .exactOptional(),
  limits: proxyLimits.describe('What clients may cost. Everything has a finite default.').exactOptional(),
  targetPolicy: targetPolicy
    .describe(
      'Where brokers may be that virtual clusters name, or that their brokers name. If left out, everywhere but at special addresses.',
    )
    .exactOptional(),
  logLevel: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('How much the pods log. A change restarts them.'),
  filterModules: listBy('name', filterModule, 64)
    .describe('The npm packages that filters of type `module:` may come from; none if left out.')
    .exactOptional(),
  mandatoryFilterRefs: z
    .object({
      first: filterRefs
        .describe('Those that a request meets before any other, and a response after.')
        .exactOptional(),
      last: filterRefs
        .describe('Those that a request meets after any other, and a response before.')
        .exactOptional(),
    })
    .describe(
      'The filters of every virtual cluster, around its own or the default ones; no virtual cluster can leave them out.',
    )
    .exactOptional(),
});

const releasedAt = z
  .string()
  .max(64)
  .describe('Since when nothing serves them; they are kept until nobody can be connected any more.')
  .exactOptional();

const nodePorts = z.object({
  start: nodeId.describe('The first node id.'),
  end: nodeId.describe('The last node id, which belongs to the range.'),
  port: port.describe('The port of the first node; those of the others follow.'),
  releasedAt,
});

const portBlock = z.object({
  virtualCluster: text(253).describe('The VirtualKafkaCluster that has these ports.'),
  ingress: text(253).describe('The ingress of it that has them.'),
  start: port.describe('The first port: the bootstrap address.'),
  count: z.int().min(1).max(65_535).describe('How many ports, one after another.'),
  nodes: z
    .array(nodePorts)
    .max(8192)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe('Which nodes have which of them; the rest is to spare.')
    .exactOptional(),
  releasedAt,
});

const hostGrant = z.object({
  virtualCluster: text(253).describe('The VirtualKafkaCluster that has these host names.'),
  ingress: text(253).describe('The ingress of it that has them.'),
  bootstrap: text(253).describe('The host name to bootstrap from.'),
  brokers: text(260).describe('The host names of its brokers, with `$(nodeId)`.'),
  count: z.int().min(1).describe('How many host names these are: what NamePolicies limit.').exactOptional(),
  since: z.string().max(64).describe('Since when. Of two that claim a name, the earlier has it.'),
});

const pod = z.object({
  name: text(253).describe('The pod.'),
  ready: z.boolean().describe('Whether it takes traffic.'),
  configVersion: text(128).describe('The configuration it has loaded.').exactOptional(),
});

const status = z.object({
  observedGeneration: observedGeneration.exactOptional(),
  conditions: conditions.exactOptional(),
  ingresses: listBy(
    'name',
    z.object({ name: text(253).describe('The ingress.'), conditions: conditions.exactOptional() }),
    256,
  )
    .describe('The state of each ingress of the proxy.')
    .exactOptional(),
  replicas: z.int().min(0).describe('How many pods there are.').exactOptional(),
  labelSelector: text(1024).describe('Selects those pods, for autoscalers.').exactOptional(),
  configVersion: text(128).describe('The configuration that the pods should have loaded.').exactOptional(),
  pods: listBy('name', pod, 1000).describe('What each pod has loaded.').exactOptional(),
  portBlocks: z
    .array(portBlock)
    .max(4096)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe('Which container ports belong to whom.')
    .exactOptional(),
  hostNames: z
    .array(hostGrant)
    .max(4096)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe('Which host names belong to whom.')
    .exactOptional(),
});

export const kafkaProxy = defineKind({
  ...ours,
  group: KROXYLICIOUS,
  kind: 'KafkaProxy',
  plural: 'kafkaproxies',
  singular: 'kafkaproxy',
  shortNames: ['kp'],
  description: 'A proxy for Kafka: pods that serve virtual clusters.',
  columns: [
    conditionColumn('Ready', 'Whether its pods serve the newest configuration.'),
    {
      name: 'Replicas',
      type: 'integer',
      jsonPath: '.status.replicas',
      description: 'How many pods there are.',
    },
    ageColumn,
  ],
  scale: {
    specReplicasPath: '.spec.infrastructure.proxy.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.labelSelector',
  },
  spec: orEmpty(spec).describe('How the proxy should run.'),
  status: status.describe('Written by the operator.'),
  rules: [nameAtMost(50, 'the names of its pods begin with it'), nameIsLabel()],
  normalise: (written) => ({
    ...written,
    spec: {
      ...written.spec,
      management: {
        podMonitor: written.spec.management?.podMonitor ?? false,
        allowedSources: written.spec.management?.allowedSources ?? [],
      },
      defaultFilterRefs: written.spec.defaultFilterRefs ?? [],
      filterModules: written.spec.filterModules ?? [],
      mandatoryFilterRefs: {
        first: written.spec.mandatoryFilterRefs?.first ?? [],
        last: written.spec.mandatoryFilterRefs?.last ?? [],
      },
      infrastructure: {
        ...written.spec.infrastructure,
        ...normaliseInfrastructure(written.spec.infrastructure),
      },
    },
  }),
});

export type KafkaProxy = ResourceOf<typeof kafkaProxy>;

/** Every filter that a proxy names for its virtual clusters. */
export function filterRefsOf({ defaultFilterRefs, mandatoryFilterRefs }: KafkaProxy['spec']) {
  return [...mandatoryFilterRefs.first, ...defaultFilterRefs, ...mandatoryFilterRefs.last];
}
