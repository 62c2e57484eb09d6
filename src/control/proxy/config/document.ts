/** The configuration document of a proxy, from what it should serve. `isthmus proxy` reads it; docs/proxy.md describes it. */
import { createHash } from 'node:crypto';
import type { FilterModule } from '../../../ops/filter-module.ts';
import type { TlsParameters } from '../../../resources/common/tls.ts';
import type { NodePorts } from '../ports/ports.ts';
import type {
  KeyPair,
  ResolvedCluster,
  ResolvedFilter,
  ResolvedIngress,
  ResolvedTarget,
  ServerTls,
} from '../resolve/resolve.ts';

/** Where an ingress of a virtual cluster is reached, and where the proxy listens for it. */
export type GatewayAddress =
  | {
      by: 'port';
      bootstrapHost: string;
      /** What clients connect to. */
      bootstrapPort: number;
      brokerHost: string;
      listenPort: number;
      /** Which node has which port behind these two. */
      nodes: readonly NodePorts[];
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

/** As much of the document as is read back. */
export interface ProxyDocument {
  filterDefinitions: readonly FilterDefinition[];
  /** The packages that those definitions may name. */
  filterModules?: readonly FilterModule[];
  virtualClusters: readonly ClusterDocument[];
  /** Keys and certificates, each once however many use it, by a name that depends on nothing but the text. */
  pem?: Record<string, string>;
}

export type FilterDefinition = Omit<ResolvedFilter, 'module'>;

export interface ClusterDocument {
  name: string;
  targetCluster: object;
  gateways: object[];
  filters: string[];
}

/** Stands for a key or certificate: its name in `pem`. */
export interface PemReference {
  pem: string;
}

type Keep = (text: string) => PemReference;

/** The whole document. Pure; the order of its parts depends on names only, so that an unchanged snapshot gives an unchanged text. */
export function proxyConfig(clusters: readonly ServedCluster[], settings: ProxySettings): ProxyDocument {
  const sorted = clusters.toSorted((a, b) => (a.cluster.metadata.name < b.cluster.metadata.name ? -1 : 1));
  const definitions = new Map(
    sorted.flatMap(({ filters }) => filters.map((filter) => [filter.name, filter])),
  );
  const names = new Map<string, string>();
  const keep: Keep = (text) => {
    const name = names.get(text) ?? pemName(text);
    names.set(text, name);
    return { pem: name };
  };
  const virtualClusters = sorted.map((cluster) => virtualCluster(cluster, keep));
  const pems = [...names].map(([text, name]) => [name, text] as const);
  const filters = [...definitions.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const modules = new Map(filters.flatMap(({ module }) => (module ? [[module.name, module]] : [])));
  return {
    ...settings,
    filterDefinitions: filters.map(({ module: _, ...definition }) => definition),
    ...(modules.size > 0 && {
      filterModules: [...modules.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    }),
    virtualClusters,
    ...(pems.length > 0 && { pem: Object.fromEntries(pems.toSorted(([a], [b]) => (a < b ? -1 : 1))) }),
  };
}

/** 128 bits: short enough for a thousand references, and nobody finds another text for a name. */
const pemName = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

function virtualCluster({ cluster, target, ingresses, filters }: ServedCluster, keep: Keep): ClusterDocument {
  return {
    name: cluster.metadata.name,
    targetCluster: targetCluster(target, keep),
    gateways: ingresses.map((served) => gateway(served, keep)),
    filters: filters.map(({ name }) => name),
  };
}

function targetCluster({ bootstrapServers, tls }: ResolvedTarget, keep: Keep): object {
  if (!tls) return { bootstrapServers };
  const trust = tls.trust === undefined ? {} : { trust: { certificates: keep(tls.trust) } };
  const key = tls.key ? { key: keyDocument(tls.key, keep) } : {};
  return { bootstrapServers, tls: { ...key, ...trust, ...parameters(tls.parameters) } };
}

function gateway({ ingress, tls, address }: ServedIngress, keep: Keep): object {
  return {
    name: ingress.metadata.name,
    ...(address.bindAddress === undefined ? {} : { bindAddress: address.bindAddress }),
    ...(address.by === 'port' ? portIdentifiesNode(address) : sniHostIdentifiesNode(address)),
    ...(tls ? { tls: serverTls(tls, keep) } : {}),
  };
}

function portIdentifiesNode(address: Extract<GatewayAddress, { by: 'port' }>): object {
  const { bootstrapHost, bootstrapPort, brokerHost, listenPort, nodes } = address;
  return {
    portIdentifiesNode: {
      bootstrapAddress: `${bootstrapHost}:${bootstrapPort}`,
      advertisedBrokerAddressPattern: brokerHost,
      nodeStartPort: bootstrapPort + 1,
      nodeIdRanges: nodeIdRanges(nodes),
      listen: { bootstrapPort: listenPort, nodeStartPort: listenPort + 1 },
    },
  };
}

/** Ports count up from range to range, unless a range says where its own begin. */
function nodeIdRanges(nodes: readonly NodePorts[]): object[] {
  let next = 0;
  return nodes.map(({ start, end, offset }) => {
    const isNext = offset === next;
    next = offset + end - start + 1;
    return { start, end, ...(!isNext && { portOffset: offset }) };
  });
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

function serverTls({ keys, trust, clientAuth, parameters: rules }: ServerTls, keep: Keep): object {
  const anchors =
    trust === undefined ? {} : { trust: { certificates: keep(trust), trustOptions: { clientAuth } } };
  return { key: keys.map((key) => keyDocument(key, keep)), ...anchors, ...parameters(rules) };
}

const keyDocument = ({ certificate, privateKey }: KeyPair, keep: Keep) => ({
  certificate: keep(certificate),
  privateKey: keep(privateKey),
});

function parameters({ protocols, cipherSuites }: TlsParameters): object {
  return { ...(protocols && { protocols }), ...(cipherSuites && { cipherSuites }) };
}
