import { z } from 'zod';
import { plainStatus } from '../common/conditions.ts';
import { allowedInfrastructure, normaliseAllowed } from '../common/allowed-infrastructure.ts';
import { infrastructure, normaliseInfrastructure } from '../common/infrastructure.ts';
import { bootstrapPattern, brokerPattern, dnsLabel, normaliseHostPattern, port } from '../common/names.ts';
import { inNamespace, refAcross } from '../common/refs.ts';
import { protocol, tlsParameters } from '../common/tls.ts';
import { defineKind, nameAtMost, nameIsLabel } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { text, withRules } from '../schema.ts';
import { network, proxyProtocol } from './proxy-limits.ts';
import { KROXYLICIOUS, ageColumn, conditionColumn, ours, proxyColumn, proxyRef } from './group.ts';

const DEFAULT_PORT = 9082;
/** The IngressController that every OpenShift cluster has. */
const DEFAULT_CONTROLLER = { name: 'default', namespace: 'openshift-ingress-operator' };

const servicePort = port.default(DEFAULT_PORT).describe('The port that clients connect to first.');

const clusterIP = z.object({
  protocol: protocol.describe('TCP in the clear, or TLS.'),
  port: servicePort,
});

const loadBalancer = z.object({
  bootstrapAddressPattern: bootstrapPattern.describe(
    'The host name to begin at; $(virtualClusterName) is replaced for each virtual cluster.',
  ),
  brokerAddressPattern: brokerPattern.describe(
    'The host name of each broker; $(nodeId) and $(virtualClusterName) are replaced.',
  ),
  port: servicePort,
  class: text(317)
    .describe('Who makes the load balancer (loadBalancerClass); Kubernetes lets it be chosen once.')
    .exactOptional(),
  sourceRanges: z
    .array(network)
    .max(64)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .describe('The networks that may connect, where the load balancer can tell; all if left out.')
    .exactOptional(),
  externalTrafficPolicy: z
    .enum(['Cluster', 'Local'])
    .describe('Local keeps the addresses of clients, and sends nothing to nodes without a pod.')
    .exactOptional(),
  ipFamilyPolicy: z
    .enum(['SingleStack', 'PreferDualStack', 'RequireDualStack'])
    .describe('Whether it has addresses of IPv4 and IPv6.')
    .exactOptional(),
  allocateNodePorts: z
    .boolean()
    .describe('False where the load balancer reaches pods by themselves and needs no ports of nodes.')
    .exactOptional(),
});

const openShiftRoute = z.object({
  resourceRef: refAcross('IngressController', 'operator.openshift.io')
    .describe(
      'The IngressController that serves the Routes; `default` in `openshift-ingress-operator` if left out.',
    )
    .exactOptional(),
});

const gateway = z.object({
  type: z.literal('TLSRoute').default('TLSRoute').describe('The kind of route to make.'),
  resourceRef: refAcross('Gateway', 'gateway.networking.k8s.io')
    .extend({
      sectionName: dnsLabel.describe('The TLS passthrough listener of the Gateway.').exactOptional(),
    })
    .describe('The Gateway to attach to.'),
});

const WAYS = ['clusterIP', 'loadBalancer', 'openShiftRoute', 'gateway'] as const;

const spec = withRules(
  z.object({
    proxyRef: proxyRef.describe('The proxy that traffic gets to.'),
    clusterIP: clusterIP.describe('From inside the cluster, by a Service.').exactOptional(),
    loadBalancer: loadBalancer
      .describe('From outside, by a Service of type LoadBalancer. TLS only.')
      .exactOptional(),
    openShiftRoute: openShiftRoute.describe('From outside, by OpenShift Routes. TLS only.').exactOptional(),
    gateway: gateway.describe('From outside, by TLSRoutes of a Gateway. TLS only.').exactOptional(),
    infrastructure: infrastructure
      .describe('What is put on the objects that the operator makes for this ingress.')
      .exactOptional(),
    allowedInfrastructure: allowedInfrastructure
      .describe(
        'What virtual clusters may have put on their objects of this ingress: keys, or beginnings of keys and `*`. The operator’s own are never theirs.',
      )
      .exactOptional(),
    proxyProtocol: proxyProtocol
      .describe('The PROXY protocol, by which a load balancer in front says who the client is.')
      .exactOptional(),
    tls: tlsParameters
      .describe('How TLS is spoken to clients. Keys belong to the virtual cluster.')
      .exactOptional(),
  }),
  {
    cel: `[${WAYS.map((way) => `has(self.${way})`).join(', ')}].filter(given, given).size() == 1`,
    holds: (spec) => WAYS.filter((way) => spec[way] !== undefined).length === 1,
    message: `name exactly one of ${WAYS.join(', ')}; a second way in needs a KafkaProxyIngress of its own`,
  },
  {
    cel: "!has(self.tls) || !has(self.clusterIP) || self.clusterIP.protocol == 'TLS'",
    holds: ({ tls, clusterIP }) =>
      tls === undefined || clusterIP === undefined || clusterIP.protocol === 'TLS',
    message: 'set clusterIP.protocol to TLS, or remove tls: over TCP nothing would be encrypted',
    at: 'tls',
  },
);

type Written = z.output<typeof spec>;

function normaliseSpec(written: Written, namespace: string) {
  const { loadBalancer, openShiftRoute, gateway, ...rest } = written;
  return {
    ...rest,
    infrastructure: normaliseInfrastructure(written.infrastructure),
    allowedInfrastructure: normaliseAllowed(written.allowedInfrastructure),
    ...(loadBalancer && {
      loadBalancer: {
        ...loadBalancer,
        bootstrapAddressPattern: normaliseHostPattern(loadBalancer.bootstrapAddressPattern),
        brokerAddressPattern: normaliseHostPattern(loadBalancer.brokerAddressPattern),
      },
    }),
    ...(openShiftRoute && {
      openShiftRoute: {
        resourceRef: openShiftRoute.resourceRef
          ? inNamespace(openShiftRoute.resourceRef, namespace)
          : {
              kind: 'IngressController' as const,
              group: 'operator.openshift.io' as const,
              ...DEFAULT_CONTROLLER,
            },
      },
    }),
    ...(gateway && { gateway: { ...gateway, resourceRef: inNamespace(gateway.resourceRef, namespace) } }),
  };
}

export const kafkaProxyIngress = defineKind({
  ...ours,
  group: KROXYLICIOUS,
  kind: 'KafkaProxyIngress',
  plural: 'kafkaproxyingresses',
  singular: 'kafkaproxyingress',
  shortNames: ['kpi'],
  description: 'A way for traffic to get to a proxy.',
  columns: [
    proxyColumn,
    conditionColumn('Ready', 'Whether traffic can get in by it.'),
    conditionColumn('Accepted', 'Whether the proxy can use it.'),
    conditionColumn('ResolvedRefs', 'Whether everything it refers to is there.'),
    ageColumn,
  ],
  spec: spec.describe('The way in: exactly one of clusterIP, loadBalancer, openShiftRoute and gateway.'),
  status: plainStatus,
  rules: [nameAtMost(50, 'the name of its Service begins with it'), nameIsLabel()],
  normalise: (written) => ({ ...written, spec: normaliseSpec(written.spec, written.metadata.namespace) }),
});

export type KafkaProxyIngress = ResourceOf<typeof kafkaProxyIngress>;
