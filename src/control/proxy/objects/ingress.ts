/** What leads clients to the proxy: Services, Routes, TLSRoutes, and the DNS records that lead to them. */
import { isIPv6 } from 'node:net';
import type { AnyObject } from '../../../kube/object.ts';
import type { Infrastructure } from '../../../resources/common/infrastructure.ts';
import { nodeIdsOf } from '../../../resources/common/node-ids.ts';
import type { KafkaProxyIngress } from '../../../resources/kroxylicious/kafka-proxy-ingress.ts';
import type { KafkaProxy } from '../../../resources/kroxylicious/kafka-proxy.ts';
import type { GatewayAddress } from '../config/document.ts';
import {
  BACKEND_PORT,
  CLUSTER_LABEL,
  INGRESS_LABEL,
  bootstrapRouteName,
  clusterServiceName,
  nodeHost,
  nodePortName,
  nodeRouteName,
  podLabels,
  sharedServiceName,
} from '../names.ts';
import type { Point } from '../observed.ts';
import type { ResolvedTarget } from '../resolve/resolve.ts';
import type { GatewayParent } from '../evaluate/platform.ts';
import { combined, metadataOf } from './metadata.ts';

/** The name of the one port of a shared Service. */
const PORT_NAME = 'kafka-tls';
/** Low, so that clients follow soon when a load balancer gets another address. */
const RECORD_TTL_SECONDS = 60;

/** One ingress of one virtual cluster, that works. */
export interface ServedIngress {
  proxy: KafkaProxy;
  cluster: string;
  ingress: KafkaProxyIngress;
  /** What the virtual cluster wants on the objects of this ingress. */
  wishes: Infrastructure;
  target: ResolvedTarget;
}

/** Developers' wishes count least; those for one ingress count more than those for the whole proxy. */
function metadata(name: string, { proxy, cluster, ingress, wishes }: ServedIngress) {
  const all = combined(wishes, proxy.spec.infrastructure, ingress.spec.infrastructure);
  return metadataOf(name, proxy, all, { [CLUSTER_LABEL]: cluster, [INGRESS_LABEL]: ingress.metadata.name });
}

/** The Service of a clusterIP ingress: the bootstrap port, and one port a broker, onto its block of container ports. */
export function clusterService(
  served: ServedIngress,
  address: Extract<GatewayAddress, { by: 'port' }>,
): AnyObject {
  const nodes = address.nodes.flatMap(({ start, end, offset }) =>
    nodeIdsOf([{ start, end }]).map((node) => ({
      name: nodePortName(node),
      index: offset + 1 + node - start,
    })),
  );
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata(clusterServiceName(served.cluster, served.ingress.metadata.name), served),
    spec: {
      type: 'ClusterIP',
      selector: podLabels(served.proxy.metadata.name),
      ports: [{ name: 'bootstrap', index: 0 }, ...nodes].map(({ name, index }) => ({
        name,
        protocol: 'TCP',
        port: address.bootstrapPort + index,
        targetPort: address.listenPort + index,
      })),
    },
  };
}

/** The Service that all virtual clusters of an ingress share; server names tell them apart. */
export function sharedService(proxy: KafkaProxy, ingress: KafkaProxyIngress, targetPort: number): AnyObject {
  const { name } = ingress.metadata;
  const { loadBalancer, infrastructure } = ingress.spec;
  const all = combined(proxy.spec.infrastructure, infrastructure);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(sharedServiceName(name), proxy, all, { [INGRESS_LABEL]: name }),
    spec: {
      ...(loadBalancer ? balancerOf(loadBalancer) : { type: 'ClusterIP' }),
      selector: podLabels(proxy.metadata.name),
      ports: [{ name: PORT_NAME, protocol: 'TCP', port: loadBalancer?.port ?? BACKEND_PORT, targetPort }],
    },
  };
}

/** What a Service says of its load balancer. */
function balancerOf(ours: NonNullable<KafkaProxyIngress['spec']['loadBalancer']>): object {
  const { class: loadBalancerClass, sourceRanges, externalTrafficPolicy, ipFamilyPolicy } = ours;
  const { allocateNodePorts: allocateLoadBalancerNodePorts } = ours;
  return {
    type: 'LoadBalancer',
    ...(loadBalancerClass !== undefined && { loadBalancerClass }),
    ...(sourceRanges && { loadBalancerSourceRanges: sourceRanges }),
    ...(externalTrafficPolicy && { externalTrafficPolicy }),
    ...(ipFamilyPolicy && { ipFamilyPolicy }),
    ...(allocateLoadBalancerNodePorts !== undefined && { allocateLoadBalancerNodePorts }),
  };
}

/** Each name of a served: of its route, and of nothing else. */
function routeNames({ cluster, ingress, target }: ServedIngress): string[] {
  const { name } = ingress.metadata;
  const nodes = nodeIdsOf(target.nodeIdRanges).map((node) => nodeRouteName(cluster, name, node));
  return [bootstrapRouteName(cluster, name), ...nodes];
}

/** `labels`: those that the router asks for, which count more than a developer's. */
export function routes(served: ServedIngress, labels: Infrastructure['labels']): AnyObject[] {
  const labelled = { ...served, wishes: combined(served.wishes, { annotations: {}, labels }) };
  return routeNames(served).map((name) => ({
    apiVersion: 'route.openshift.io/v1',
    kind: 'Route',
    metadata: metadata(name, labelled),
    spec: {
      // The router adds its domain, and says in the status what has become of it.
      subdomain: name,
      to: { kind: 'Service', name: sharedServiceName(served.ingress.metadata.name), weight: 100 },
      port: { targetPort: PORT_NAME },
      tls: { termination: 'passthrough', insecureEdgeTerminationPolicy: 'None' },
      wildcardPolicy: 'None',
    },
  }));
}

export function tlsRoutes(
  served: ServedIngress,
  parent: GatewayParent,
  domain: string,
  version: string,
): AnyObject[] {
  const group = 'gateway.networking.k8s.io';
  return routeNames(served).map((name) => ({
    apiVersion: `${group}/${version}`,
    kind: 'TLSRoute',
    metadata: metadata(name, served),
    spec: {
      parentRefs: [{ group, kind: 'Gateway', ...parent }],
      hostnames: [`${name}.${domain}`],
      rules: [
        {
          backendRefs: [
            {
              group: '',
              kind: 'Service',
              name: sharedServiceName(served.ingress.metadata.name),
              port: BACKEND_PORT,
              weight: 1,
            },
          ],
        },
      ],
    },
  }));
}

/** The records that make the host names lead to the load balancer or Gateway. */
export function dnsEndpoint(
  served: ServedIngress,
  { bootstrapHost, brokerPattern }: Extract<GatewayAddress, { by: 'sni' }>,
  points: readonly Point[],
): AnyObject {
  const nodes = nodeIdsOf(served.target.nodeIdRanges).map((node) => nodeHost(brokerPattern, node));
  return {
    apiVersion: 'externaldns.k8s.io/v1alpha1',
    kind: 'DNSEndpoint',
    metadata: metadata(clusterServiceName(served.cluster, served.ingress.metadata.name), served),
    // A broker that is alone may have the name that clients begin at.
    spec: { endpoints: [...new Set([bootstrapHost, ...nodes])].flatMap((host) => records(host, points)) },
  };
}

/** Addresses where there are any: a CNAME could not stand beside them. */
function records(dnsName: string, points: readonly Point[]): object[] {
  const ips = points.flatMap(({ ip }) => ip ?? []);
  const hostnames = points.flatMap(({ hostname }) => hostname ?? []);
  const targetsOf = {
    A: ips.filter((ip) => !isIPv6(ip)),
    AAAA: ips.filter((ip) => isIPv6(ip)),
    CNAME: ips.length > 0 ? [] : hostnames.slice(0, 1),
  };
  return Object.entries(targetsOf)
    .filter(([, targets]) => targets.length > 0)
    .map(([recordType, targets]) => ({ dnsName, recordType, targets, recordTTL: RECORD_TTL_SECONDS }));
}
