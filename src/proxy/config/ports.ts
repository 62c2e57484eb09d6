import type { GatewayConfig, NodeIdRange, VirtualClusterConfig } from './model.ts';

/** What a connection at a port, or at a server name of it, is for. */
export interface Endpoint {
  cluster: string;
  gateway: string;
  /** The broker that is meant; undefined is any of them. */
  node: number | undefined;
}

/** A local port, and who is behind it. */
export interface Claim {
  host: string | undefined;
  port: number;
  tls: boolean;
  /** One endpoint, or the gateways whose server names decide. */
  endpoint: Endpoint | undefined;
  sni: { cluster: string; gateway: GatewayConfig }[];
}

export const claimKey = (host: string | undefined, port: number) => `${host ?? '*'}:${port}`;

/** The node ids of the ranges, in the order in which they get their ports. */
export function* nodeIds(ranges: readonly NodeIdRange[]): Generator<number> {
  for (const { start, end } of ranges) for (let id = start; id <= end; id++) yield id;
}

/** Every local port of the virtual clusters. Two of them may share a port only if server names tell them apart. */
export function portClaims(clusters: readonly VirtualClusterConfig[]): {
  claims: Map<string, Claim>;
  conflicts: string[];
} {
  const claims = new Map<string, Claim>();
  const conflicts: string[] = [];
  for (const cluster of clusters) {
    for (const gateway of cluster.gateways) {
      for (const claim of claimsOf(cluster.name, gateway)) {
        const problem = addClaim(claims, claim);
        if (problem) conflicts.push(`virtualClusters[${cluster.name}].gateways[${gateway.name}]: ${problem}`);
      }
    }
  }
  conflicts.push(...wildcardConflicts(claims), ...nameConflicts(claims));
  return { claims, conflicts };
}

function claimsOf(cluster: string, gateway: GatewayConfig): Claim[] {
  const { routing, name, bindAddress: host } = gateway;
  const base = { host, tls: gateway.tls !== undefined };
  if (routing.by === 'sni')
    return [{ ...base, port: routing.listenPort, endpoint: undefined, sni: [{ cluster, gateway }] }];
  const at = (port: number, node: number | undefined): Claim => ({
    ...base,
    port,
    endpoint: { cluster, gateway: name, node },
    sni: [],
  });
  const nodes = [...nodeIds(routing.nodeIdRanges)];
  return [
    at(routing.listen.bootstrapPort, undefined),
    ...nodes.map((node, i) => at(routing.listen.nodeStartPort + i, node)),
  ];
}

const owner = (claim: Claim) => claim.endpoint?.cluster ?? claim.sni[0]?.cluster ?? '?';

function addClaim(claims: Map<string, Claim>, claim: Claim): string | undefined {
  const key = claimKey(claim.host, claim.port);
  const taken = claims.get(key);
  if (!taken) {
    claims.set(key, claim);
    return undefined;
  }
  if (taken.endpoint || claim.endpoint)
    return `port ${claim.port} is taken by virtual cluster ${owner(taken)}`;
  taken.sni.push(...claim.sni);
  return undefined;
}

/** Listening on every address of a port and on one of them at once does not go together. */
function wildcardConflicts(claims: Map<string, Claim>): string[] {
  return [...claims.values()]
    .filter((claim) => claim.host !== undefined && claims.has(claimKey(undefined, claim.port)))
    .map(
      (claim) =>
        `virtualClusters[${owner(claim)}]: port ${claim.port} is bound to ${claim.host} and to every address`,
    );
}

function nameConflicts(claims: Map<string, Claim>): string[] {
  return [...claims.values()].flatMap(({ sni, port }) => {
    const seen = new Map<string, string>();
    return sni.flatMap(({ cluster, gateway: { routing } }) => {
      if (routing.by !== 'sni') return [];
      return [routing.bootstrap.host, routing.brokerHostPattern].flatMap((pattern) => {
        const name = pattern.toLowerCase();
        const other = seen.get(name);
        seen.set(name, cluster);
        return other === undefined
          ? []
          : [`virtualClusters[${cluster}]: ${name} on port ${port} is also of ${other}`];
      });
    });
  });
}
