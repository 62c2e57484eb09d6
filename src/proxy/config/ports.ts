import { canonical } from './canonical.ts';
import type { GatewayConfig, NodeIdRange, Problem, ProxyProtocol, VirtualClusterConfig } from './model.ts';

/** Which broker of which virtual cluster a connection is for, by the gateway that it came through. */
export interface Destination {
  cluster: string;
  gateway: string;
  /** A broker's id; undefined is any of them (the bootstrap address). */
  node: number | undefined;
}

/** A local port, and the virtual clusters behind it. */
export interface PortBinding {
  host: string | undefined;
  port: number;
  tls: boolean;
  /** In place of that of the whole proxy. */
  proxyProtocol?: ProxyProtocol;
  /** One destination, or the gateways whose server names decide. */
  destination: Destination | undefined;
  sni: { cluster: string; gateway: GatewayConfig }[];
}

export const bindingKey = (host: string | undefined, port: number) => `${host ?? '*'}:${port}`;

/** The nodes of the ranges, and how far each one's port is behind the first. */
function* nodesWithOffset(ranges: readonly NodeIdRange[]): Generator<{ node: number; offset: number }> {
  for (const { start, end, portOffset } of ranges)
    for (let node = start; node <= end; node++) yield { node, offset: portOffset + node - start };
}

/**
 * Every local port of the virtual clusters. Two of them may share a port only if server names tell them apart; where they
 * do not, the first has it, and the conflict is the other's.
 */
export function portBindings(clusters: readonly VirtualClusterConfig[]): {
  bindings: Map<string, PortBinding>;
  conflicts: Problem[];
} {
  const bindings = new Map<string, PortBinding>();
  const conflicts: Problem[] = [];
  for (const cluster of clusters) {
    for (const gateway of cluster.gateways) {
      for (const binding of bindingsOf(cluster.name, gateway)) {
        const problem = addBinding(bindings, binding);
        if (problem) conflicts.push(conflict(cluster.name, `gateways[${gateway.name}]: ${problem}`));
      }
    }
  }
  conflicts.push(...wildcardConflicts(bindings), ...nameConflicts(bindings));
  return { bindings, conflicts };
}

const conflict = (cluster: string, problem: string): Problem => ({ cluster, problem, stage: 'load' });

function bindingsOf(cluster: string, gateway: GatewayConfig): PortBinding[] {
  const { routing, name, bindAddress: host } = gateway;
  const { proxyProtocol } = gateway;
  const base = { host, tls: gateway.tls !== undefined, ...(proxyProtocol && { proxyProtocol }) };
  if (routing.by === 'sni')
    return [{ ...base, port: routing.listenPort, destination: undefined, sni: [{ cluster, gateway }] }];
  const at = (port: number, node: number | undefined): PortBinding => ({
    ...base,
    port,
    destination: { cluster, gateway: name, node },
    sni: [],
  });
  const { bootstrapPort, nodeStartPort } = routing.listen;
  const nodes = [...nodesWithOffset(routing.nodeIdRanges)];
  return [at(bootstrapPort, undefined), ...nodes.map(({ node, offset }) => at(nodeStartPort + offset, node))];
}

const owner = (binding: PortBinding) => binding.destination?.cluster ?? binding.sni[0]?.cluster ?? '?';

function addBinding(bindings: Map<string, PortBinding>, binding: PortBinding): string | undefined {
  const key = bindingKey(binding.host, binding.port);
  const taken = bindings.get(key);
  if (!taken) {
    bindings.set(key, binding);
    return undefined;
  }
  if (taken.destination || binding.destination)
    return `port ${binding.port} is taken by virtual cluster ${owner(taken)}`;
  if (canonical(taken.proxyProtocol ?? null) !== canonical(binding.proxyProtocol ?? null))
    return `port ${binding.port} has another proxyProtocol at virtual cluster ${owner(taken)}`;
  taken.sni.push(...binding.sni);
  return undefined;
}

/** Listening on every address of a port and on one of them at once does not go together. */
function wildcardConflicts(bindings: Map<string, PortBinding>): Problem[] {
  return [...bindings.values()]
    .filter((binding) => binding.host !== undefined && bindings.has(bindingKey(undefined, binding.port)))
    .map((binding) =>
      conflict(owner(binding), `port ${binding.port} is bound to ${binding.host} and to every address`),
    );
}

function nameConflicts(bindings: Map<string, PortBinding>): Problem[] {
  return [...bindings.values()].flatMap(({ sni, port }) => {
    const seen = new Map<string, string>();
    return sni.flatMap(({ cluster, gateway: { routing } }) => {
      if (routing.by !== 'sni') return [];
      return [routing.bootstrap.host, routing.brokerHostPattern].flatMap((pattern) => {
        const name = pattern.toLowerCase();
        const other = seen.get(name);
        seen.set(name, cluster);
        return other === undefined ? [] : [conflict(cluster, `${name} on port ${port} is also of ${other}`)];
      });
    });
  });
}
