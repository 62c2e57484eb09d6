/** The configuration document of a proxy, from what it should serve. `isthmus proxy` reads it; docs/proxy.md describes it. */
import { createHash } from 'node:crypto';
import type { FilterModule } from '../../../ops/filter-module.ts';
import type { TlsParameters } from '../../../resources/common/tls.ts';
import { hashOf, isJsonObject } from '../../../kube/json.ts';
import type { ProxyProtocol } from '../../../resources/kroxylicious/proxy-limits.ts';
import type { NodePorts } from '../ports/ports.ts';
import type { KeyPair, ResolvedFilter, ResolvedTarget, ServerTls } from '../resolve/resolve.ts';

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
      proxyProtocol?: ProxyProtocol;
    }
  | {
      by: 'sni';
      bootstrapHost: string;
      brokerPattern: string;
      /** What clients connect to. */
      port: number;
      listenPort: number;
      bindAddress?: string;
      proxyProtocol?: ProxyProtocol;
    };

export interface ServedIngress {
  name: string;
  /** Absent where the ingress speaks plain TCP. */
  tls: ServerTls | undefined;
  address: GatewayAddress;
}

/** A virtual cluster with its references followed and its addresses decided. */
export interface ServedCluster {
  name: string;
  ingresses: ServedIngress[];
  target: ResolvedTarget;
  filters: readonly ResolvedFilter[];
  /** Whether the filters are those of before, of which another virtual cluster may have newer ones by the same names. */
  hasHeldFilters: boolean;
}

export interface ProxySettings {
  management?: {
    bindAddress: string;
    port: number;
    tokenFile: string;
    metricsTokenFile: string;
    tls: { certificateFile: string; keyFile: string };
  };
  workers?: number;
  limits?: object;
  targetPolicy?: {
    allow: readonly string[];
    bootstrap: 'named' | 'checked';
    identityHosts?: readonly string[];
  };
  /** How long requests on their way may take when the proxy ends, or a virtual cluster changes. */
  network?: { proxy: { shutdownTimeout: string } };
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
  const definitions = new Map<string, ResolvedFilter>();
  const names = new Map<string, string>();
  const keep: Keep = (text) => {
    const name = names.get(text) ?? pemName(text);
    names.set(text, name);
    return { pem: name };
  };
  const drainTimeout = settings.network?.proxy.shutdownTimeout;
  const isOld = ({ hasHeldFilters }: ServedCluster) => Number(hasHeldFilters);
  const virtualClusters = clusters
    // What is new has the names of filters; what is old gets out of its way.
    .toSorted((a, b) => isOld(a) - isOld(b))
    .map((cluster) => ({
      ...virtualCluster(cluster, keep, definitions),
      ...(drainTimeout !== undefined && { drainTimeout }),
    }));
  const pems = [...names].map(([text, name]) => [name, text] as const);
  const filters = [...definitions.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const modules = new Map(filters.flatMap(({ module }) => (module ? [[module.name, module]] : [])));
  return {
    ...settings,
    filterDefinitions: filters.map(({ module: _, ...definition }) => definition),
    ...(modules.size > 0 && {
      filterModules: [...modules.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    }),
    virtualClusters: virtualClusters.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    ...(pems.length > 0 && { pem: Object.fromEntries(pems.toSorted(([a], [b]) => (a < b ? -1 : 1))) }),
  };
}

/** Adds a filter of before, and says by which name: not by its own, which has no `#`, if that means something else now. */
function defineHeld(filter: ResolvedFilter, definitions: Map<string, ResolvedFilter>): string {
  const { type, config } = filter;
  const hash = hashOf([type, config]);
  const other = definitions.get(filter.name);
  const isSame = !other || hashOf([other.type, other.config]) === hash;
  const name = isSame ? filter.name : `${ownName(filter)}#${hash.slice(0, 8)}`;
  definitions.set(name, { ...filter, name });
  return name;
}

/** The name of a filter of before in its own time. */
export const ownName = ({ name }: Pick<ResolvedFilter, 'name'>) => name.split('#')[0]!;

/** The names in `pem` that a part of the document refers to. */
export function pemNamesIn(value: unknown, names = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const item of value) pemNamesIn(item, names);
  else if (isJsonObject(value)) {
    if (typeof value['pem'] === 'string') names.add(value['pem']);
    else for (const inner of Object.values(value)) pemNamesIn(inner, names);
  }
  return names;
}

/** 128 bits: short enough for a thousand references, and nobody finds another text for a name. */
const pemName = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

function virtualCluster(
  { name, target, ingresses, filters, hasHeldFilters }: ServedCluster,
  keep: Keep,
  definitions: Map<string, ResolvedFilter>,
): ClusterDocument {
  const define = (filter: ResolvedFilter) => {
    if (hasHeldFilters) return defineHeld(filter, definitions);
    definitions.set(filter.name, filter);
    return filter.name;
  };
  return {
    name,
    targetCluster: targetCluster(target, keep),
    gateways: ingresses.map((served) => gateway(served, keep)),
    filters: filters.map(define),
  };
}

function targetCluster({ bootstrapServers, tls }: ResolvedTarget, keep: Keep): object {
  if (!tls) return { bootstrapServers };
  const trust = tls.trust === undefined ? {} : { trust: { certificates: keep(tls.trust) } };
  const key = tls.key ? { key: keyDocument(tls.key, keep) } : {};
  return { bootstrapServers, tls: { ...key, ...trust, ...parameters(tls.parameters) } };
}

function gateway({ name, tls, address }: ServedIngress, keep: Keep): object {
  return {
    name,
    ...(address.bindAddress === undefined ? {} : { bindAddress: address.bindAddress }),
    ...(address.by === 'port' ? portIdentifiesNode(address) : sniHostIdentifiesNode(address)),
    ...(address.proxyProtocol && { proxyProtocol: address.proxyProtocol }),
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
