import type { Address, GatewayConfig, PortRouting, SniRouting } from '../config/model.ts';

/** The addresses of a gateway: which one a broker is reached at, and which broker a server name means. */
export interface Addressing {
  bootstrap: Address;
  /** Where clients find the broker; undefined if the gateway has no place for it. */
  advertise: (node: number) => Address | undefined;
}

const NODE_ID = '$(nodeId)';
const LARGEST_NODE_ID = 0x7fff_ffff;

export function addressingOf({ routing }: GatewayConfig): Addressing {
  return routing.by === 'port' ? byPort(routing) : bySni(routing);
}

function byPort({ bootstrap, brokerHost, nodeStartPort, nodeIdRanges }: PortRouting): Addressing {
  return {
    bootstrap,
    advertise(node) {
      const range = nodeIdRanges.find(({ start, end }) => node >= start && node <= end);
      if (!range) return undefined;
      const port = nodeStartPort + range.portOffset + node - range.start;
      return { host: brokerHost.replace(NODE_ID, String(node)), port };
    },
  };
}

function bySni({ bootstrap, brokerHostPattern, brokerPort }: SniRouting): Addressing {
  return {
    bootstrap,
    advertise: (node) =>
      node < 0 ? undefined : { host: brokerHostPattern.replace(NODE_ID, String(node)), port: brokerPort },
  };
}

/** What a TLS server name means to a gateway: its bootstrap address, one of its brokers, or nothing. */
export function matchServerName(
  routing: SniRouting,
  serverName: string,
): { node: number | undefined } | undefined {
  const name = serverName.toLowerCase().replace(/\.$/, '');
  if (name === routing.bootstrap.host.toLowerCase()) return { node: undefined };
  const [before = '', after = ''] = routing.brokerHostPattern.toLowerCase().split(NODE_ID.toLowerCase());
  if (!name.startsWith(before) || !name.endsWith(after)) return undefined;
  const digits = name.slice(before.length, name.length - after.length);
  if (!/^(0|[1-9]\d{0,9})$/.test(digits)) return undefined;
  const node = Number(digits);
  return node <= LARGEST_NODE_ID ? { node } : undefined;
}
