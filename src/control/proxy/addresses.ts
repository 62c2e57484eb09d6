/** Where clients find one ingress of one virtual cluster, and where the proxy listens for it. */
import { nodeIdsOf } from '../../resources/common/node-ids.ts';
import type { NodeIdRange } from '../../resources/common/node-ids.ts';
import type { GatewayAddress } from './config.ts';
import type { Fault, Reason } from './faults.ts';
import {
  NODE_ID,
  ROUTE_PORT,
  bootstrapRouteName,
  clusterServiceName,
  namedPattern,
  nodeHost,
  nodeRouteName,
  serviceHost,
} from './names.ts';
import type { Live, PlanSettings, Point } from './observed.ts';
import { waitsFor } from './ways.ts';
import type { Way } from './ways.ts';

/** One ingress of one virtual cluster, with all that its address depends on. */
export interface Doorway {
  cluster: string;
  ingress: string;
  namespace: string;
  way: Way;
  /** Unknown where the target is. */
  nodeIdRanges: readonly NodeIdRange[];
  /** The first port of its block, or the one port of its ingress; undefined where there was no room. */
  containerPort: number | undefined;
}

export interface Located {
  /** Absent as long as it cannot be known. */
  address: GatewayAddress | undefined;
  /** Every host name that clients will connect to. */
  hosts: string[];
  points: Point[];
  faults: Omit<Fault, 'path'>[];
}

/** Decides the address, or says what it still waits for. */
export function locate(doorway: Doorway, live: Live, settings: PlanSettings): Located {
  const { way, containerPort } = doorway;
  if (containerPort === undefined)
    return nowhere('NoFreePorts', 'no container ports are left; use another KafkaProxy');
  if (way.by === 'clusterIP') return byService(doorway, way.port, containerPort, settings);
  if (way.by === 'route') return byRoutes(doorway, way.router, containerPort, live);
  const located =
    way.by === 'loadBalancer'
      ? byLoadBalancer(doorway, way, containerPort)
      : byGateway(doorway, way, containerPort, live);
  const waits = waitsFor(way, doorway.ingress);
  if (waits !== undefined) located.faults.unshift({ reason: 'AddressPending', message: waits });
  return located;
}

function nowhere(reason: Reason, message: string): Located {
  return { address: undefined, hosts: [], points: [], faults: [{ reason, message }] };
}

function byService(
  { cluster, ingress, namespace, nodeIdRanges }: Doorway,
  port: number,
  listenPort: number,
  { clusterDomain }: PlanSettings,
): Located {
  const last = port + nodeIdsOf(nodeIdRanges).length;
  if (last > 65_535)
    return nowhere('Invalid', `the last broker would need port ${last}; lower clusterIP.port`);
  const host = serviceHost(clusterServiceName(cluster, ingress), namespace, clusterDomain);
  const address: GatewayAddress = {
    by: 'port',
    bootstrapHost: host,
    bootstrapPort: port,
    brokerHost: host,
    listenPort,
  };
  return { address, hosts: [host], points: [], faults: [] };
}

interface SniNames {
  bootstrapHost: string;
  brokerPattern: string;
  port: number;
}

function bySni(names: SniNames, { nodeIdRanges }: Doorway, listenPort: number, points: Point[]): Located {
  const nodes = nodeIdsOf(nodeIdRanges).map((node) => nodeHost(names.brokerPattern, node));
  const hosts = [names.bootstrapHost, ...nodes];
  return { address: { by: 'sni', ...names, listenPort }, hosts, points, faults: [] };
}

function byLoadBalancer(
  doorway: Doorway,
  { bootstrapPattern, brokerPattern, port, points }: Extract<Way, { by: 'loadBalancer' }>,
  listenPort: number,
): Located {
  const { cluster } = doorway;
  const names = {
    bootstrapHost: namedPattern(bootstrapPattern, cluster),
    brokerPattern: namedPattern(brokerPattern, cluster),
    port,
  };
  return bySni(names, doorway, listenPort, points);
}

function byGateway(
  doorway: Doorway,
  { domain, port, parent, points }: Extract<Way, { by: 'gateway' }>,
  listenPort: number,
  { tlsRoutes }: Live,
): Located {
  const { cluster, ingress } = doorway;
  const names = {
    bootstrapHost: `${bootstrapRouteName(cluster, ingress)}.${domain}`,
    brokerPattern: `${nodeRouteName(cluster, ingress, NODE_ID)}.${domain}`,
    port,
  };
  const located = bySni(names, doorway, listenPort, points);
  const mine = routeNames(doorway);
  for (const { metadata, status } of tlsRoutes.filter(({ metadata }) => mine.includes(metadata.name))) {
    const said = (status?.parents ?? []).flatMap(({ conditions = [] }) => conditions);
    const refusal = said.find(({ type, status }) => type === 'Accepted' && status === 'False');
    if (!refusal) continue;
    const message = `Gateway "${parent.name}" does not accept TLSRoute "${metadata.name}": ${refusal.message ?? refusal.reason}`;
    located.faults.push({ reason: 'RouteNotAccepted', message });
  }
  return located;
}

function routeNames({ cluster, ingress, nodeIdRanges }: Doorway): string[] {
  const nodes = nodeIdsOf(nodeIdRanges).map((node) => nodeRouteName(cluster, ingress, node));
  return [bootstrapRouteName(cluster, ingress), ...nodes];
}

/** A router chooses the host names; they are known when it has admitted the Routes. */
function byRoutes(doorway: Doorway, router: string, listenPort: number, live: Live): Located {
  const { cluster, ingress, nodeIdRanges } = doorway;
  const faults: Located['faults'] = [];
  const hostOf = (name: string) => admittedHost(name, router, live, faults);
  const bootstrapHost = hostOf(bootstrapRouteName(cluster, ingress));
  const nodes = nodeIdsOf(nodeIdRanges).map((node) => ({
    node,
    host: hostOf(nodeRouteName(cluster, ingress, node)),
  }));
  const patterns = nodes.flatMap(({ node, host }) => {
    if (host === undefined) return [];
    const label = nodeRouteName(cluster, ingress, node);
    return host.startsWith(`${label}.`)
      ? [nodeRouteName(cluster, ingress, NODE_ID) + host.slice(label.length)]
      : [host];
  });
  const brokerPattern = patterns[0];
  const waiting = nodes.filter(({ host }) => host === undefined).length + (bootstrapHost ? 0 : 1);
  if (waiting > 0 && faults.length === 0) {
    const message = `${waiting} of ${nodes.length + 1} Routes have no host name yet; IngressController "${router}" gives them theirs`;
    faults.push({ reason: 'AddressPending', message });
  }
  if (bootstrapHost === undefined || brokerPattern === undefined)
    return { address: undefined, hosts: [], points: [], faults };
  if (patterns.some((pattern) => pattern !== brokerPattern || !pattern.includes(NODE_ID)))
    return nowhere('RouteNotAccepted', `IngressController "${router}" changed the host names of the Routes`);
  const located = bySni({ bootstrapHost, brokerPattern, port: ROUTE_PORT }, doorway, listenPort, []);
  return { ...located, faults };
}

function admittedHost(
  name: string,
  router: string,
  { routes }: Live,
  faults: Located['faults'],
): string | undefined {
  const route = routes.find(({ metadata }) => metadata.name === name);
  const state = route?.status?.ingress?.find(({ routerName }) => routerName === router);
  const admitted = state?.conditions?.find(({ type }) => type === 'Admitted');
  if (admitted?.status === 'True') return state?.host?.toLowerCase();
  if (admitted?.status === 'False') {
    const message = `IngressController "${router}" does not admit Route "${name}": ${admitted.message ?? admitted.reason}`;
    faults.push({ reason: 'RouteNotAccepted', message });
  }
  return undefined;
}
