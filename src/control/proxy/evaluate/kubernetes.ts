/** A proxy served in a Kubernetes cluster: its ports are those of pods, and its addresses come from Services, routers and Gateways. */
import { nodeIdsOf } from '../../../resources/common/node-ids.ts';
import type { KafkaProxyIngress } from '../../../resources/kroxylicious/kafka-proxy-ingress.ts';
import type { Learned } from '../../kernel/reconcile.ts';
import type { ConfigRejections } from '../config/checks.ts';
import type { Fault } from '../faults.ts';
import { CONTAINER_PORTS, MAX_NODES, SHARED, blockOwner, objectLabels } from '../names.ts';
import type { Observed, PlanSettings } from '../observed.ts';
import { allocationOf } from '../ports/blocks.ts';
import { MAX_CONFIG_BYTES } from '../config/config-size.ts';
import { podSettings } from '../config/planned-config.ts';
import type { Allocation, PortRequest } from '../ports/ports.ts';
import { NO_PORTS_LEFT, locate } from './addresses.ts';
import { createShare } from './broker-ports.ts';
import { evaluateIngress } from './ingress-models.ts';
import { objectFaults, sharedServiceFaults } from './object-faults.ts';
import type { EvaluatedIngress, Platform, ResolvedReferences } from './platform.ts';
import { overruledLabels, wishFaults } from './wishes.ts';

export function kubernetesPlatform(
  observed: Observed,
  settings: PlanSettings,
  learned: Learned<ConfigRejections>,
): Platform {
  const { snapshot, live, now, name, namespace } = observed;
  const proxy = snapshot.proxies.find(({ metadata }) => metadata.name === name);
  const knownPorts = allocationOf(proxy?.status?.portBlocks, live.services, now);
  return {
    serves: ({ spec }) => spec.proxyRef.name === name,
    ingress: (ingress) => evaluateIngress(ingress, observed),
    portRequests: (ingresses, clusters) =>
      portRequests(ingresses, clusters, observed, {
        held: knownPorts.held,
        maxNodes: proxy?.spec.limits?.maxNodesPerVirtualCluster ?? MAX_NODES,
      }),
    ports: CONTAINER_PORTS,
    knownPorts,
    ingressFaults: (ingress, { refused }) => [
      ...overruledLabels(ingress.spec.infrastructure, objectLabels(name)).map((fault) => ({
        ...fault,
        path: LABELS,
      })),
      ...(ingress.spec.clusterIP ? [] : sharedFaults(ingress, namespace, learned)),
      ...(refused.includes(blockOwner(SHARED, ingress.metadata.name)) ? [NO_PORTS] : []),
    ],
    address(request, { allocation }) {
      const { cluster, ingress, model, nodeIdRanges } = request;
      const owner = blockOwner(model.by === 'clusterIP' ? cluster : SHARED, ingress);
      const located = locate(request, allocation.held[owner], live, settings);
      const ofObjects = objectFaults(cluster, ingress, nodeIdsOf(nodeIdRanges), learned);
      const ofWishes = proxy ? wishFaults(request, model, proxy, live.kinds) : [];
      return { ...located, faults: [...located.faults, ...ofObjects, ...ofWishes] };
    },
    proxySettings: podSettings(proxy),
    maxConfigBytes: MAX_CONFIG_BYTES,
  };
}

const LABELS = ['spec', 'infrastructure', 'labels'];
const NO_PORTS: Fault = { reason: 'NoFreePorts', path: ['spec'], message: NO_PORTS_LEFT };

function sharedFaults(
  { metadata }: KafkaProxyIngress,
  namespace: string,
  learned: Learned<ConfigRejections>,
): Fault[] {
  return sharedServiceFaults(namespace, metadata.name, learned).map((fault) => ({
    ...fault,
    path: ['metadata', 'name'],
  }));
}

/**
 * Who needs ports for which nodes. Whatever is wrong with a virtual cluster, the ports it has stay its own: it may come back, and
 * its clients with it.
 */
function portRequests(
  ingresses: readonly EvaluatedIngress[],
  clusters: readonly ResolvedReferences[],
  { unreadable }: Observed,
  { held, maxNodes }: Pick<Allocation, 'held'> & { maxNodes: number },
): PortRequest[] {
  const requests = new Map<string, PortRequest>();
  const keep = (owner: string) => {
    if (held[owner] && !requests.has(owner)) requests.set(owner, { owner, nodes: undefined });
  };
  for (const { ingress } of ingresses) {
    const owner = blockOwner(SHARED, ingress.metadata.name);
    if (!ingress.spec.clusterIP) requests.set(owner, { owner, nodes: [] });
  }
  for (const { cluster, target, ingresses: named, isWhole } of clusters) {
    const share = createShare(maxNodes);
    for (const { name } of named) {
      const owner = blockOwner(cluster.metadata.name, name);
      const found = ingresses.find(({ ingress }) => ingress.metadata.name === name);
      const isHeld = isWhole && owner in held;
      if (isHeld) keep(blockOwner(SHARED, name));
      if (!found?.model || !target || isHeld) keep(owner);
      else if (found.ingress.spec.clusterIP)
        requests.set(owner, { owner, nodes: share.take(nodeIdsOf(target.nodeIdRanges), held[owner]) });
    }
  }
  for (const { object } of unreadable) {
    const { name } = object.metadata;
    for (const owner of Object.keys(held)) {
      if (owner.startsWith(`${name}/`) && object.kind === 'VirtualKafkaCluster') keep(owner);
      if (owner === blockOwner(SHARED, name) && object.kind === 'KafkaProxyIngress') keep(owner);
    }
  }
  return [...requests.values()];
}
