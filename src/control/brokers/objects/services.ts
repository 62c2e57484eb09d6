/** How clients and nodes find each other within a Kubernetes cluster, and who may. */
import type { AnyObject } from '../../../kube/object.ts';
import { serviceExport } from '../../../resources/multicluster/service-export.ts';
import { brokerServiceName, outsideServiceName } from '../expose/names.ts';
import { hasRole, nodesOf } from '../model/cluster.ts';
import type { BrokerCluster, Listener, Role } from '../model/cluster.ts';
import {
  BROKER_ROLE_LABEL,
  CONTROL_PLANE_PORT,
  METRICS_PORT,
  POD_LABEL,
  REPLICATION_PORT,
  bootstrapServiceName,
  disruptionBudgetName,
  headlessServiceName,
  listenerPortName,
  networkPolicyName,
  podName,
  podSelector,
  serviceAccountName,
} from '../model/names.ts';
import { exportsServices } from '../stretch/network.ts';
import { metadataOf, ownedByKafka, wishesOf } from './metadata.ts';

interface ServiceWishes {
  ipFamilyPolicy: string;
  ipFamilies: string[];
}

const port = (name: string, number: number) => ({ name, port: number, targetPort: number, protocol: 'TCP' });

const clientPorts = ({ listeners }: BrokerCluster) =>
  listeners
    .filter(({ exposure }) => exposure === undefined)
    .map(({ name, port: number }) => port(listenerPortName(name), number));

function service(cluster: BrokerCluster, name: string, template: string, spec: object): AnyObject {
  const wishes = wishesOf<ServiceWishes>(cluster.template, template);
  const { ipFamilyPolicy, ipFamilies } = wishes;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadataOf(cluster, name, wishes), ownerReferences: ownedByKafka(cluster) },
    spec: { ...spec, ...(ipFamilyPolicy && { ipFamilyPolicy }), ...(ipFamilies && { ipFamilies }) },
  };
}

/** Gives every node its name, also before it is ready: controllers elect a leader by these. */
export function headlessService(cluster: BrokerCluster): AnyObject {
  return service(cluster, headlessServiceName(cluster.name), 'brokersService', {
    type: 'ClusterIP',
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    selector: podSelector(cluster.name),
    ports: [
      port('tcp-ctrlplane', CONTROL_PLANE_PORT),
      port('tcp-replication', REPLICATION_PORT),
      ...clientPorts(cluster),
    ],
  });
}

/** Where clients begin. */
export function bootstrapService(cluster: BrokerCluster): AnyObject {
  return service(cluster, bootstrapServiceName(cluster.name), 'bootstrapService', {
    type: 'ClusterIP',
    selector: { ...podSelector(cluster.name), [BROKER_ROLE_LABEL]: 'true' },
    ports: [port('tcp-replication', REPLICATION_PORT), ...clientPorts(cluster)],
  });
}

/** Makes both Services known to the other clusters, where the network does it that way: each where there are pods behind it. */
export function serviceExports(cluster: BrokerCluster): AnyObject[] {
  if (!exportsServices(cluster)) return [];
  const behind = (role?: Role) => nodesOf(cluster).some(({ node }) => !role || hasRole(node, role));
  const names = [
    ...(behind() ? [headlessServiceName(cluster.name)] : []),
    ...(behind('broker') ? [bootstrapServiceName(cluster.name)] : []),
  ];
  return names.map((name) => ({
    apiVersion: `${serviceExport.group}/${serviceExport.versions[0]}`,
    kind: serviceExport.kind,
    metadata: { ...metadataOf(cluster, name), ownerReferences: ownedByKafka(cluster) },
  }));
}

/** A load balancer for each broker, and one to begin at. Traffic goes to the node of the broker, and nowhere in between. */
export function loadBalancers(cluster: BrokerCluster): AnyObject[] {
  return cluster.listeners.flatMap(({ name, port: number, exposure }) => {
    if (exposure?.by !== 'loadbalancer') return [];
    const { allowedSources } = exposure;
    const balancer = (called: string, template: string, selector: Readonly<Record<string, string>>) =>
      service(cluster, called, template, {
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Local',
        selector: { ...podSelector(cluster.name), ...selector },
        ports: [port(listenerPortName(name), number)],
        ...(allowedSources.length > 0 && { loadBalancerSourceRanges: allowedSources }),
      });
    const brokers = nodesOf(cluster).filter(({ node }) => hasRole(node, 'broker'));
    return [
      balancer(outsideServiceName(cluster.name, name), 'externalBootstrapService', {
        [BROKER_ROLE_LABEL]: 'true',
      }),
      ...brokers.map(({ pool, node }) =>
        balancer(brokerServiceName(cluster.name, pool.name, name, node.id), 'perPodService', {
          [POD_LABEL]: podName(cluster.name, pool.name, node.id),
        }),
      ),
    ];
  });
}

/** It has no rights, and the pods do not even get to show who they are. */
export function serviceAccount(cluster: BrokerCluster): AnyObject {
  const wishes = wishesOf(cluster.template, 'serviceAccount');
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: {
      ...metadataOf(cluster, serviceAccountName(cluster.name), wishes),
      ownerReferences: ownedByKafka(cluster),
    },
    automountServiceAccountToken: false,
  };
}

/**
 * Whoever drains a node of Kubernetes takes one node of Kafka at a time. It counts what must stay, not what may go: Kubernetes allows
 * `maxUnavailable` only for kinds that can be scaled, and with any other no pod may ever be evicted.
 */
export function podDisruptionBudget(cluster: BrokerCluster, nodes: number): AnyObject {
  const wishes = wishesOf<{ maxUnavailable: number }>(cluster.template, 'podDisruptionBudget');
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: {
      ...metadataOf(cluster, disruptionBudgetName(cluster.name), wishes),
      ownerReferences: ownedByKafka(cluster),
    },
    spec: {
      minAvailable: Math.max(0, nodes - (wishes.maxUnavailable ?? 1)),
      selector: { matchLabels: podSelector(cluster.name) },
    },
  };
}

/** Whom the ports between nodes are for, besides the nodes: pods of the operator. */
export interface OperatorPods {
  namespace: string;
  labels: Readonly<Record<string, string>>;
}

/** `elsewhere` has the networks of nodes in other Kubernetes clusters: no selector matches their pods. */
export function networkPolicy(
  cluster: BrokerCluster,
  operator: OperatorPods | undefined,
  elsewhere: readonly string[] | undefined,
): AnyObject {
  const nodes = { podSelector: { matchLabels: podSelector(cluster.name) } };
  const control = operator && {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': operator.namespace } },
    podSelector: { matchLabels: operator.labels },
  };
  const beyond = (elsewhere ?? []).map((cidr) => ({ ipBlock: { cidr } }));
  // An operator outside of the cluster has no address that is known here, nor have all nodes elsewhere; certificates alone keep others off then.
  const between = control && elsewhere ? { from: [nodes, control, ...beyond] } : {};
  // The operator looks at the certificates that clients are shown, and takes the way of those outside.
  const lookingAt = ({ tls, exposure }: Pick<Listener, 'tls' | 'exposure'>) =>
    control && (tls || exposure) ? [control] : [];
  const rule = (number: number, from: object) => ({ ports: [{ port: number, protocol: 'TCP' }], ...from });
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {
      ...metadataOf(cluster, networkPolicyName(cluster.name)),
      ownerReferences: ownedByKafka(cluster),
    },
    spec: {
      podSelector: { matchLabels: podSelector(cluster.name) },
      policyTypes: ['Ingress'],
      ingress: [
        rule(CONTROL_PLANE_PORT, between),
        rule(REPLICATION_PORT, between),
        ...(cluster.metrics ? [rule(METRICS_PORT, {})] : []),
        // Without anybody in the list it is for all.
        ...cluster.listeners.map(({ port: number, networkPolicyPeers: from, ...listener }) =>
          rule(number, !from ? {} : { from: [...from, ...(from.length > 0 ? lookingAt(listener) : [])] }),
        ),
      ],
    },
  };
}
