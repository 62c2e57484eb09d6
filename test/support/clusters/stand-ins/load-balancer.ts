/**
 * Stands in for a cloud's load balancers, which no registry has. Services of type LoadBalancer get a public address of
 * their own; what arrives there is passed on to node ports, with the client's address, by the router between clusters.
 * Written to the Service: what a cloud writes, its finalizer and `status.loadBalancer`, as an address or as a name.
 */
import { balancerAddresses } from '../addresses.ts';
import type { ClusterAddresses } from '../addresses.ts';
import { startLoop } from '../api.ts';
import type { Api, Loop } from '../api.ts';
import type { Cluster } from '../cluster.ts';
import type { Clusters } from '../clusters.ts';

const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';

interface Service {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    finalizers?: string[];
    deletionTimestamp?: string;
  };
  spec: {
    type: string;
    externalTrafficPolicy?: string;
    ports: { port: number; nodePort?: number; protocol: string }[];
  };
  status: { loadBalancer: { ingress?: object[] } };
}

interface EndpointSlice {
  metadata: { namespace: string; labels?: Record<string, string> };
  endpoints: { nodeName?: string; conditions: { ready?: boolean } }[] | null;
}

interface Balancer {
  address: string;
  service: Service;
  /** Internal addresses of the nodes that traffic is sent to. */
  nodes: string[];
}

/** The router's rules for a cluster's load balancers. A balancer without nodes swallows what it gets. */
export function balancerRules(table: string, balancers: readonly Balancer[]): string {
  const rules = balancers.flatMap(({ address, service, nodes }) =>
    service.spec.ports.flatMap(({ port, nodePort, protocol }) => {
      const targets = nodes.map((node, i) => `${i} : ${node}`).join(', ');
      if (nodePort === undefined || nodes.length === 0) return [];
      const [kind, pick] = [protocol.toLowerCase(), `numgen inc mod ${nodes.length} map { ${targets} }`];
      return [`ip daddr ${address} ${kind} dport ${port} dnat to ${pick} : ${nodePort}`];
    }),
  );
  const chain = ['type nat hook prerouting priority dstnat - 5', ...rules].map((line) => `    ${line}`);
  return `table ip ${table}\ndelete table ip ${table}\ntable ip ${table} {\n  chain arrive {\n${chain.join('\n')}\n  }\n}\n`;
}

/** Nodes to send to: with `externalTrafficPolicy: Local`, those that have a ready pod of the Service. */
function nodesFor(service: Service, slices: readonly EndpointSlice[], cluster: Cluster): string[] {
  const { name, namespace } = service.metadata;
  const own = slices.filter(
    ({ metadata }) =>
      metadata.namespace === namespace && metadata.labels?.['kubernetes.io/service-name'] === name,
  );
  const local = new Set(
    own
      .flatMap(({ endpoints }) => endpoints ?? [])
      .filter(({ conditions }) => conditions.ready !== false)
      .map(({ nodeName }) => nodeName),
  );
  const isLocal = service.spec.externalTrafficPolicy === 'Local';
  return cluster.nodes
    .filter((node) => node.isUp && (!isLocal || local.has(node.name)))
    .map((node) => node.addresses.internal);
}

async function writeFinalizers(api: Api, { metadata }: Service, finalizers: string[]): Promise<void> {
  const path = `/api/v1/namespaces/${metadata.namespace}/services/${metadata.name}`;
  await api.ask('PATCH', path, { metadata: { finalizers } });
}

/** Gives addresses to Services, for as long as they live. */
function createPool({ index }: ClusterAddresses): {
  of(uid: string): string;
  keep(uids: ReadonlySet<string>): void;
} {
  const given = new Map<string, string>();
  return {
    of(uid) {
      const taken = new Set(given.values());
      const address = given.get(uid) ?? balancerAddresses(index).find((each) => !taken.has(each));
      if (address === undefined) throw new Error('all load balancers of the cluster are in use');
      given.set(uid, address);
      return address;
    },
    keep(uids) {
      for (const uid of given.keys()) if (!uids.has(uid)) given.delete(uid);
    },
  };
}

/** Provides the cluster's load balancers until it is stopped. With `names`, Services get a name instead of an address. */
export function startLoadBalancers(clusters: Clusters, cluster: Cluster, { names = false } = {}): Loop {
  const { api } = cluster.controlPlane;
  const pool = createPool(cluster.addresses);
  const table = `balancers${cluster.addresses.index}`;
  let loaded = '';

  async function write(service: Service, address: string): Promise<void> {
    const { name, namespace, uid, finalizers = [] } = service.metadata;
    if (!finalizers.includes(FINALIZER)) await writeFinalizers(api, service, [...finalizers, FINALIZER]);
    const hostname = `lb-${uid.slice(0, 8)}.${cluster.name}.cloud.test`;
    const ingress = [names ? { hostname } : { ip: address, ipMode: 'VIP' }];
    if (JSON.stringify(service.status.loadBalancer.ingress) === JSON.stringify(ingress)) return;
    if (names) await clusters.outside.setName(hostname, [address]);
    const path = `/api/v1/namespaces/${namespace}/services/${name}/status`;
    await api.ask('PATCH', path, { status: { loadBalancer: { ingress } } });
  }

  return startLoop(async () => {
    const services = await api.list<Service>('/api/v1/services');
    const slices = await api.list<EndpointSlice>('/apis/discovery.k8s.io/v1/endpointslices');
    if (!services || !slices) return; // what was served stays so while nobody answers
    const wanted = services.filter(
      ({ spec, metadata }) => spec.type === 'LoadBalancer' && metadata.deletionTimestamp === undefined,
    );
    pool.keep(new Set(wanted.map(({ metadata }) => metadata.uid)));
    const balancers = wanted.map((service) => ({
      service,
      address: pool.of(service.metadata.uid),
      nodes: nodesFor(service, slices, cluster),
    }));
    const rules = balancerRules(table, balancers);
    if (rules !== loaded) await clusters.router(rules);
    loaded = rules;
    for (const { service, address } of balancers) await write(service, address);
    for (const service of services)
      if (!wanted.includes(service) && service.metadata.finalizers?.includes(FINALIZER))
        await writeFinalizers(
          api,
          service,
          service.metadata.finalizers.filter((each) => each !== FINALIZER),
        );
  });
}
