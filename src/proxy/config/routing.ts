/** How clients are told apart by port or by server name, from what a gateway's part of the configuration says. */
import type { Place } from './key-material.ts';
import type { NodeIdRange, PortRouting, SniRouting } from './model.ts';
import type { GatewayDocument } from './schema.ts';

const DEFAULT_RANGES = [{ start: 0, end: 2 }];
const NODE_ID = '$(nodeId)';

/** A place further down in the configuration. */
export const inside = (path: string, place: Place): Place => ({
  ...place,
  problem: (key, message) => place.problem(`${path}${key ? '.' : ''}${key}`, message),
});

export function routingOf(
  document: GatewayDocument,
  cluster: string,
  place: Place,
): PortRouting | SniRouting {
  const { portIdentifiesNode: port, sniHostIdentifiesNode: sni } = document;
  if ((port === undefined) === (sni === undefined))
    place.problem('', 'exactly one of portIdentifiesNode and sniHostIdentifiesNode is needed');
  if (sni) {
    if (!document.tls) place.problem('tls', 'is needed with sniHostIdentifiesNode');
    return sniRouting(sni, cluster, inside('sniHostIdentifiesNode', place));
  }
  return portRouting(
    port ?? { bootstrapAddress: { host: '', port: 1 } },
    cluster,
    inside('portIdentifiesNode', place),
  );
}

function portRouting(
  document: NonNullable<GatewayDocument['portIdentifiesNode']>,
  cluster: string,
  place: Place,
): PortRouting {
  const { bootstrapAddress: bootstrap } = document;
  const nodeStartPort = document.nodeStartPort ?? document.brokerStartPort ?? bootstrap.port + 1;
  const pattern = named(document.advertisedBrokerAddressPattern ?? bootstrap.host, cluster);
  if (/:\d+$/.test(pattern) && !pattern.includes(']'))
    place.problem('advertisedBrokerAddressPattern', 'has a port; the ports count up from nodeStartPort');
  const ranges = withOffsets(document.nodeIdRanges ?? DEFAULT_RANGES);
  overlaps(ranges, place);
  const listen = document.listen ?? { bootstrapPort: bootstrap.port, nodeStartPort };
  const lastOffset = Math.max(...ranges.map(({ start, end, portOffset }) => portOffset + end - start));
  const last = Math.max(nodeStartPort, listen.nodeStartPort) + lastOffset;
  if (last > 65_535) place.problem('nodeIdRanges', `the last node would need port ${last}`);
  return {
    by: 'port',
    bootstrap: named(bootstrap, cluster),
    brokerHost: pattern,
    nodeStartPort,
    listen,
    nodeIdRanges: ranges,
  };
}

type RangeDocument = Omit<NodeIdRange, 'portOffset'> & { portOffset?: number | undefined };

/** Ports count up from range to range, unless one says where its own begin. */
function withOffsets(ranges: readonly RangeDocument[]): NodeIdRange[] {
  let next = 0;
  return ranges.map(({ start, end, portOffset = next }) => {
    next = portOffset + end - start + 1;
    return { start, end, portOffset };
  });
}

function overlaps(ranges: NodeIdRange[], place: Place): void {
  const sorted = ranges.toSorted((a, b) => a.start - b.start);
  for (const [i, range] of sorted.entries()) {
    const next = sorted[i + 1];
    if (next && next.start <= range.end)
      place.problem('nodeIdRanges', `${range.start}-${range.end} and ${next.start}-${next.end} overlap`);
  }
}

function sniRouting(
  document: NonNullable<GatewayDocument['sniHostIdentifiesNode']>,
  cluster: string,
  place: Place,
): SniRouting {
  const bootstrap = named(document.bootstrapAddress, cluster);
  const pattern = named(document.advertisedBrokerAddressPattern, cluster);
  const [, host = pattern, port] = /^(.*?)(?::(\d+))?$/.exec(pattern) ?? [];
  if (host.split(NODE_ID).length !== 2)
    place.problem('advertisedBrokerAddressPattern', `must contain ${NODE_ID} once`);
  return {
    by: 'sni',
    bootstrap,
    brokerHostPattern: host,
    brokerPort: port === undefined ? bootstrap.port : Number(port),
    listenPort: document.listenPort ?? document.bootstrapAddress.port,
  };
}

/** Puts the virtual cluster's name where the text asks for it. */
function named(text: string, cluster: string): string;
function named(address: { host: string; port: number }, cluster: string): { host: string; port: number };
function named(value: string | { host: string; port: number }, cluster: string) {
  const fill = (text: string) => text.replaceAll('$(virtualClusterName)', cluster);
  return typeof value === 'string' ? fill(value) : { ...value, host: fill(value.host) };
}
