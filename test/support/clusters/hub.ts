/**
 * The network between clusters: one router in a namespace of its own, with a bridge for each cluster's machines and a
 * line to the outside. It is also where the test itself stands: it reaches every API server, whatever is cut.
 */
import type { NodeTools } from '../install/node-tools.ts';
import { ALL_POD_NETWORKS, OUTSIDE } from './addresses.ts';
import type { ClusterAddresses, HostAddresses } from './addresses.ts';
import { makeNamespace } from './namespaces.ts';
import type { Namespace } from './namespaces.ts';
import type { Run } from './run.ts';

export interface Hub {
  readonly namespace: Namespace;
  readonly outside: Namespace;
  /** Makes a machine of the cluster: a namespace with an address in the cluster's network. */
  attach(name: string, port: string, address: string, cluster: ClusterAddresses): Promise<Namespace>;
  /** Pulls the plug: others see silence, not refusals. The namespace's own end goes too. */
  detach(port: string): Promise<void>;
  nft(rules: string): Promise<void>;
}

/** Interface names of the hub: the bridge of a cluster, and the port of its machine j (0 is the API server). */
export const bridgeOf = (cluster: number) => `c${cluster}`;
export const portOf = (cluster: number, machine: number) => `c${cluster}m${machine}`;

/**
 * Public addresses lead to machines one to one. Who comes from outside keeps his address and reaches nothing but public
 * addresses; a machine is seen under its public address by the outside, and by those whom it reached by theirs.
 */
export function routerRules(clusters: readonly ClusterAddresses[]): string {
  const hosts: HostAddresses[] = clusters.flatMap(({ controlPlane, nodes }) => [controlPlane, ...nodes]);
  const elements = (from: keyof HostAddresses, to: keyof HostAddresses) =>
    hosts.map((host) => `${host[from]} : ${host[to]}`).join(', ');
  return `
table ip router {
  map internal {
    type ipv4_addr : ipv4_addr
    elements = { ${elements('public', 'internal')} }
  }
  map public {
    type ipv4_addr : ipv4_addr
    elements = { ${elements('internal', 'public')} }
  }
  chain arrive {
    type nat hook prerouting priority dstnat
    dnat to ip daddr map @internal
  }
  chain guard {
    type filter hook forward priority filter
    iifname "outside" ct state established,related accept
    iifname "outside" ct status dnat accept
    iifname "outside" drop
  }
  chain leave {
    type nat hook postrouting priority srcnat
    ip daddr ${OUTSIDE.network} snat to ip saddr map @public
    ct status dnat snat to ip saddr map @public
  }
}
`;
}

async function connectOutside(hub: Namespace, outside: Namespace): Promise<void> {
  await hub.ip(
    `link add outside type veth peer name eth0 netns ${outside.file}`,
    `addr add ${OUTSIDE.gateway}/24 dev outside`,
    'link set outside up',
  );
  await outside.ip(
    `addr add ${OUTSIDE.client}/24 dev eth0`,
    `addr add ${OUTSIDE.dns}/24 dev eth0`,
    `addr add ${OUTSIDE.provider}/24 dev eth0`,
    'link set eth0 up',
    `route add default via ${OUTSIDE.gateway}`,
  );
}

/** Makes the router and the outside. With `routed`, pods of one cluster reach pods of the others. */
export async function makeHub(
  run: Run,
  { nft, env }: NodeTools,
  clusters: readonly ClusterAddresses[],
  routed: boolean,
): Promise<Hub> {
  const namespace = await makeNamespace(run, 'hub');
  const outside = await makeNamespace(run, 'outside');
  const hub: Hub = {
    namespace,
    outside,
    async attach(name, port, address, cluster) {
      const machine = await makeNamespace(run, name);
      await namespace.ip(
        `link add ${port} type veth peer name eth0 netns ${machine.file}`,
        `link set ${port} master ${bridgeOf(cluster.index)} up`,
        // A machine reaches its own public address, as in a cloud: what is translated on a bridge leaves where it came in.
        `link set dev ${port} type bridge_slave hairpin on`,
      );
      await machine.ip(
        `addr add ${address}/24 dev eth0`,
        'link set eth0 up',
        `route add default via ${cluster.gateway}`,
      );
      return machine;
    },
    detach: (port) => namespace.ip(`link del ${port}`),
    async nft(rules) {
      await namespace.run([nft, '-f', '-'], { stdin: rules, env });
    },
  };
  await connectOutside(namespace, outside);
  for (const { index, gateway, nodes } of clusters) {
    const bridge = bridgeOf(index);
    await namespace.ip(
      `link add ${bridge} type bridge`,
      `addr add ${gateway}/24 dev ${bridge}`,
      `link set ${bridge} up`,
    );
    const routes = nodes.map(({ podNetwork, internal }) => `route add ${podNetwork} via ${internal}`);
    if (routed) await namespace.ip(...routes);
  }
  // Where pods are not routed, packets to them end here at once instead of bouncing to a default route.
  await namespace.ip(`route add unreachable ${ALL_POD_NETWORKS}`);
  await hub.nft(routerRules(clusters));
  return hub;
}
