/** A proxy served on this machine: what a Service would do in a cluster, a local port does here. */
import type { EvaluatedIngress, IngressModel, Platform } from '../control/proxy/evaluate/platform.ts';
import type { GatewayAddress, ProxySettings } from '../control/proxy/config/document.ts';
import { limitSettings } from '../control/proxy/config/planned-config.ts';
import { nodesServed } from '../control/proxy/evaluate/broker-ports.ts';
import { blockOwner, namedPattern } from '../control/proxy/names.ts';
import type { Allocation, NodePorts, PortRequest } from '../control/proxy/ports/ports.ts';
import { nodeIdsOf } from '../resources/common/node-ids.ts';
import type { KafkaProxy } from '../resources/kroxylicious/kafka-proxy.ts';
import type { KafkaProxyIngress } from '../resources/kroxylicious/kafka-proxy-ingress.ts';

export const BIND_ADDRESS = '127.0.0.1';
const PORTS = { first: 1, last: 65_535 };

export function machinePlatform(knownPorts: Allocation, proxy: KafkaProxy | undefined): Platform {
  /** Plain addresses where there is no certificate that would have to name one. */
  const hosts = new Map<string, string>();
  return {
    // All that is in a folder is served by one process.
    serves: () => true,
    ingress(ingress): EvaluatedIngress {
      const isPlain = ingress.spec.clusterIP?.protocol === 'TCP';
      hosts.set(ingress.metadata.name, isPlain ? BIND_ADDRESS : 'localhost');
      return { ingress, model: modelOf(ingress), faults: [] };
    },
    portRequests: (_ingresses, clusters) =>
      clusters.flatMap(({ cluster, target, ingresses }) =>
        ingresses.flatMap(({ name, found }): PortRequest[] => {
          const { clusterIP } = found?.ingress?.spec ?? {};
          if (!clusterIP) return [];
          const owner = blockOwner(cluster.metadata.name, name);
          return [{ owner, nodes: target && nodeIdsOf(target.nodeIdRanges), from: clusterIP.port }];
        }),
      ),
    ports: PORTS,
    knownPorts,
    ingressFaults: () => [],
    address({ cluster, ingress, model, nodeIdRanges }, { allocation, refused }) {
      const nothing = { address: undefined, hosts: [], points: [], faults: [] };
      if (model.by === 'unavailable')
        return { ...nothing, faults: [{ reason: 'NotSupported', message: model.message }] };
      if (model.by === 'loadBalancer') return { ...nothing, address: namedAddress(cluster, model) };
      const owner = blockOwner(cluster, ingress);
      const block = allocation.held[owner];
      // An ingress that is not for this virtual cluster asked for none; what is wrong is said where it was looked for.
      if (!block && !refused.includes(owner)) return nothing;
      const { nodes = [], without } = block ? nodesServed(nodeIdRanges, block) : {};
      if (!block || nodes.length === 0)
        return { ...nothing, faults: [{ reason: 'NoFreePorts', message: 'no port is left for it' }] };
      const host = hosts.get(ingress) ?? BIND_ADDRESS;
      return { ...nothing, address: portAddress(host, block.start, nodes), faults: without ?? [] };
    },
    proxySettings: { workers: 1, ...(proxy && { ...limitSettings(proxy.spec), ...targetSettings(proxy) }) },
    maxConfigBytes: Infinity,
  };
}

/** Whoever writes the folder names the bootstrap servers as well, and may mean those of this machine. */
function targetSettings({ spec }: KafkaProxy): Pick<ProxySettings, 'targetPolicy'> {
  const { targetPolicy } = spec;
  return targetPolicy ? { targetPolicy: { allow: [], ...targetPolicy, bootstrap: 'named' } } : {};
}

function modelOf({ metadata, spec }: KafkaProxyIngress): IngressModel {
  const { clusterIP, loadBalancer, openShiftRoute } = spec;
  if (clusterIP) return { by: 'clusterIP', port: clusterIP.port };
  if (loadBalancer) {
    const { bootstrapAddressPattern, brokerAddressPattern, port } = loadBalancer;
    const patterns = { bootstrapPattern: bootstrapAddressPattern, brokerPattern: brokerAddressPattern };
    return { by: 'loadBalancer', port, ...patterns, points: [] };
  }
  const needed = openShiftRoute ? 'OpenShift' : 'a Gateway';
  const message = `KafkaProxyIngress "${metadata.name}" needs ${needed}; on this machine use clusterIP or loadBalancer`;
  return { by: 'unavailable', message };
}

/** A load balancer's virtual clusters share its one port and are told apart by name. */
function namedAddress(
  cluster: string,
  { port, bootstrapPattern, brokerPattern }: Extract<IngressModel, { by: 'loadBalancer' }>,
): GatewayAddress {
  return {
    by: 'sni',
    bootstrapHost: namedPattern(bootstrapPattern, cluster),
    brokerPattern: namedPattern(brokerPattern, cluster),
    port,
    listenPort: port,
    bindAddress: BIND_ADDRESS,
  };
}

/** The others get a block of ports each. */
function portAddress(host: string, port: number, nodes: readonly NodePorts[]): GatewayAddress {
  return {
    by: 'port',
    bootstrapHost: host,
    bootstrapPort: port,
    brokerHost: host,
    listenPort: port,
    nodes,
    bindAddress: BIND_ADDRESS,
  };
}
