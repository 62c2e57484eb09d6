/** Reads back what was last served of a virtual cluster from its part of the configuration that was written last. */
import { z } from 'zod';
import { moduleOf } from '../../../ops/filter-module.ts';
import { countNodes } from '../../../resources/common/node-ids.ts';
import type { NodeIdRange } from '../../../resources/common/node-ids.ts';
import { tlsParameters } from '../../../resources/common/tls.ts';
import { proxyProtocol } from '../../../resources/kroxylicious/proxy-limits.ts';
import type { NodePorts } from '../ports/ports.ts';
import type { KeyPair, ResolvedFilter, ResolvedTarget, ServerTls } from '../resolve/resolve.ts';
import type { GatewayAddress, ProxyDocument } from './document.ts';
import type { ConfigPart } from './planned-config.ts';

export interface LastGood {
  name: string;
  /** Without node ids where all its ingresses go by server names: then nothing says them. */
  target: ResolvedTarget;
  filters: readonly ResolvedFilter[];
  ingresses: ReadonlyMap<string, LastGoodIngress>;
}

export interface LastGoodIngress {
  tls: ServerTls | undefined;
  address: GatewayAddress;
}

const pem = z.object({ pem: z.string() });
const key = z.object({ certificate: pem, privateKey: pem });

const serverTls = z.object({
  key: z.array(key),
  trust: z
    .object({
      certificates: pem,
      trustOptions: z.object({ clientAuth: z.enum(['REQUIRED', 'REQUESTED', 'NONE']) }),
    })
    .optional(),
  ...tlsParameters.shape,
});

const clientTls = z.object({
  key: key.optional(),
  trust: z.object({ certificates: pem }).optional(),
  ...tlsParameters.shape,
});

const ADDRESS = /^(.*):(\d+)$/;
const address = z
  .string()
  .regex(ADDRESS)
  .transform((text) => {
    const [, host = '', port] = ADDRESS.exec(text) ?? [];
    return { host, port: Number(port) };
  });

const range = z.object({ start: z.int(), end: z.int(), portOffset: z.int().optional() });

const gateway = z.object({
  name: z.string(),
  bindAddress: z.string().exactOptional(),
  portIdentifiesNode: z
    .object({
      bootstrapAddress: address,
      advertisedBrokerAddressPattern: z.string(),
      nodeIdRanges: z.array(range),
      listen: z.object({ bootstrapPort: z.int() }),
    })
    .optional(),
  sniHostIdentifiesNode: z
    .object({
      bootstrapAddress: address,
      advertisedBrokerAddressPattern: address,
      listenPort: z.int(),
    })
    .optional(),
  proxyProtocol: proxyProtocol.optional(),
  tls: serverTls.optional(),
});

const cluster = z.object({
  name: z.string(),
  targetCluster: z.object({ bootstrapServers: z.string(), tls: clientTls.optional() }),
  gateways: z.array(gateway),
  filters: z.array(z.string()),
});

type Gateway = z.output<typeof gateway>;
type Texts = (reference: { pem: string }) => string;

const known = new WeakMap<ProxyDocument, LastGood | undefined>();

/** Undefined if it is not as this version writes it: then nothing of it can be taken on. Each is read only once. */
export function readLastGood({ document }: Pick<ConfigPart, 'document'>): LastGood | undefined {
  if (!known.has(document)) known.set(document, lastGoodIn(document));
  return known.get(document);
}

function lastGoodIn(document: ProxyDocument): LastGood | undefined {
  const { filterDefinitions, filterModules = [], pem: texts = {}, virtualClusters } = document;
  const [written] = virtualClusters;
  const { data } = cluster.safeParse(written);
  if (!written || !data) return undefined;
  const textOf: Texts = (reference) => texts[reference.pem] ?? '';
  const ingresses = data.gateways.flatMap((one) => {
    const found = addressOf(one);
    return found
      ? [[one.name, { tls: one.tls && serverTlsOf(one.tls, textOf), address: found }] as const]
      : [];
  });
  const byName = new Map<string, ResolvedFilter>(
    filterDefinitions.map((one) => {
      const module = filterModules.find(({ name }) => name === moduleOf(one.type));
      return [one.name, { ...one, ...(module && { module }) }];
    }),
  );
  return {
    name: data.name,
    target: targetOf(data.targetCluster, nodeIdRangesIn(data.gateways), textOf),
    filters: data.filters.flatMap((name) => byName.get(name) ?? []),
    ingresses: new Map(ingresses),
  };
}

/** Of the ingress that knows most: one may have had no ports left for some. */
function nodeIdRangesIn(gateways: readonly Gateway[]): NodeIdRange[] {
  const known = gateways.map(({ portIdentifiesNode: by }) => by?.nodeIdRanges ?? []);
  const [most = []] = known.toSorted((a, b) => countNodes(b) - countNodes(a));
  return most.map(({ start, end }) => ({ start, end })).toSorted((a, b) => a.start - b.start);
}

function nodePortsOf(ranges: readonly z.output<typeof range>[]): NodePorts[] {
  let next = 0;
  return ranges.map(({ start, end, portOffset: offset = next }) => {
    next = offset + end - start + 1;
    return { start, end, offset };
  });
}

function targetOf(
  { bootstrapServers, tls }: z.output<typeof cluster>['targetCluster'],
  nodeIdRanges: ResolvedTarget['nodeIdRanges'],
  textOf: Texts,
): ResolvedTarget {
  if (!tls) return { bootstrapServers, nodeIdRanges, tls: undefined };
  const { key: pair, trust, ...parameters } = tls;
  return {
    bootstrapServers,
    nodeIdRanges,
    tls: {
      trust: trust && textOf(trust.certificates),
      key: pair && keyPairOf(pair, textOf),
      parameters,
    },
  };
}

function serverTlsOf(tls: z.output<typeof serverTls>, textOf: Texts): ServerTls {
  const { key: keys, trust, ...parameters } = tls;
  return {
    keys: keys.map((pair) => keyPairOf(pair, textOf)),
    trust: trust && textOf(trust.certificates),
    clientAuth: trust?.trustOptions.clientAuth ?? 'NONE',
    parameters,
  };
}

const keyPairOf = ({ certificate, privateKey }: z.output<typeof key>, textOf: Texts): KeyPair => ({
  certificate: textOf(certificate),
  privateKey: textOf(privateKey),
});

function addressOf({
  portIdentifiesNode: byPort,
  sniHostIdentifiesNode: bySni,
  bindAddress,
  proxyProtocol: announced,
}: Gateway): GatewayAddress | undefined {
  const bind = {
    ...(bindAddress !== undefined && { bindAddress }),
    ...(announced && { proxyProtocol: announced }),
  };
  if (byPort) {
    const { bootstrapAddress, advertisedBrokerAddressPattern: brokerHost, listen, nodeIdRanges } = byPort;
    const { host: bootstrapHost, port: bootstrapPort } = bootstrapAddress;
    const places = { listenPort: listen.bootstrapPort, nodes: nodePortsOf(nodeIdRanges) };
    return { by: 'port', bootstrapHost, bootstrapPort, brokerHost, ...places, ...bind };
  }
  if (!bySni) return undefined;
  const { bootstrapAddress, advertisedBrokerAddressPattern: pattern, listenPort } = bySni;
  const { host: bootstrapHost, port } = bootstrapAddress;
  return { by: 'sni', bootstrapHost, brokerPattern: pattern.host, port, listenPort, ...bind };
}
