/** The configuration document of a proxy, from what it should serve. `isthmus proxy` reads it; docs/proxy.md describes it. */
import type { TlsParameters } from '../../resources/common/tls.ts';
import type { KeyPair, ResolvedCluster, ResolvedIngress, ResolvedTarget, ServerTls } from './resolve.ts';

/** Where an ingress of a virtual cluster is reached, and where the proxy listens for it. */
export type GatewayAddress =
  | {
      by: 'port';
      bootstrapHost: string;
      /** What clients connect to; the nodes' ports count up from the next one. */
      bootstrapPort: number;
      brokerHost: string;
      listenPort: number;
      bindAddress?: string;
    }
  | {
      by: 'sni';
      bootstrapHost: string;
      brokerPattern: string;
      /** What clients connect to. */
      port: number;
      listenPort: number;
      bindAddress?: string;
    };

export interface ServedIngress extends ResolvedIngress {
  address: GatewayAddress;
}

/** A virtual cluster with its addresses decided. */
export interface ServedCluster extends ResolvedCluster {
  ingresses: ServedIngress[];
}

export interface ProxySettings {
  management?: { bindAddress: string; port: number };
  workers?: number;
}

/** The whole document. Pure; the order of its parts depends on names only, so that an unchanged world gives an unchanged text. */
export function proxyConfig(clusters: readonly ServedCluster[], settings: ProxySettings): object {
  const sorted = clusters.toSorted((a, b) => (a.cluster.metadata.name < b.cluster.metadata.name ? -1 : 1));
  const definitions = new Map(
    sorted.flatMap(({ filters }) => filters.map((filter) => [filter.name, filter])),
  );
  return {
    ...settings,
    filterDefinitions: [...definitions.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    virtualClusters: sorted.map(virtualCluster),
  };
}

function virtualCluster({ cluster, target, ingresses, filters }: ServedCluster): object {
  return {
    name: cluster.metadata.name,
    targetCluster: targetCluster(target),
    gateways: ingresses.map((served) => gateway(served, target)),
    filters: filters.map(({ name }) => name),
  };
}

function targetCluster({ bootstrapServers, tls }: ResolvedTarget): object {
  if (!tls) return { bootstrapServers };
  const trust = tls.trust === undefined ? {} : { trust: { certificates: tls.trust } };
  const key = tls.key ? { key: keyDocument(tls.key) } : {};
  return { bootstrapServers, tls: { ...key, ...trust, ...parameters(tls.parameters) } };
}

function gateway({ ingress, tls, address }: ServedIngress, target: ResolvedTarget): object {
  return {
    name: ingress.metadata.name,
    ...(address.bindAddress === undefined ? {} : { bindAddress: address.bindAddress }),
    ...(address.by === 'port' ? portIdentifiesNode(address, target) : sniHostIdentifiesNode(address)),
    ...(tls ? { tls: serverTls(tls) } : {}),
  };
}

function portIdentifiesNode(
  address: Extract<GatewayAddress, { by: 'port' }>,
  target: ResolvedTarget,
): object {
  const { bootstrapHost, bootstrapPort, brokerHost, listenPort } = address;
  return {
    portIdentifiesNode: {
      bootstrapAddress: `${bootstrapHost}:${bootstrapPort}`,
      advertisedBrokerAddressPattern: brokerHost,
      nodeStartPort: bootstrapPort + 1,
      nodeIdRanges: target.nodeIdRanges,
      listen: { bootstrapPort: listenPort, nodeStartPort: listenPort + 1 },
    },
  };
}

function sniHostIdentifiesNode(address: Extract<GatewayAddress, { by: 'sni' }>): object {
  const { bootstrapHost, brokerPattern, port, listenPort } = address;
  return {
    sniHostIdentifiesNode: {
      bootstrapAddress: `${bootstrapHost}:${port}`,
      advertisedBrokerAddressPattern: `${brokerPattern}:${port}`,
      listenPort,
    },
  };
}

function serverTls({ keys, trust, clientAuth, parameters: rules }: ServerTls): object {
  const anchors = trust === undefined ? {} : { trust: { certificates: trust, trustOptions: { clientAuth } } };
  return { key: keys.map(keyDocument), ...anchors, ...parameters(rules) };
}

const keyDocument = ({ certificate, privateKey }: KeyPair) => ({ certificate, privateKey });

function parameters({ protocols, cipherSuites }: TlsParameters): object {
  return { ...(protocols && { protocols }), ...(cipherSuites && { cipherSuites }) };
}
