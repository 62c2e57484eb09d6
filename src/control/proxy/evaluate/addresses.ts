/** Where clients find one ingress of one virtual cluster, and where the proxy listens for it. */
import { nodeIdsOf } from '../../../resources/common/node-ids.ts';
import type { GatewayAddress } from '../config/document.ts';
import type { Reason } from '../faults.ts';
import {
  NODE_ID,
  ROUTE_PORT,
  bootstrapRouteName,
  clusterServiceName,
  namedPattern,
  nodeHost,
  nodeRouteName,
  serviceHost,
} from '../names.ts';
import type { Live, PlanSettings, Point } from '../observed.ts';
import { extentOf } from '../ports/node-ports.ts';
import type { HeldBlock } from '../ports/ports.ts';
import { nodesServed } from './broker-ports.ts';
import { waitsFor } from './ingress-models.ts';
import type { AddressRequest, AddressResult, IngressModel } from './platform.ts';

export const NO_PORTS_LEFT = 'no container ports are left; use another KafkaProxy';

/** Decides the address, or says what it still waits for. */
export function locate(
  request: AddressRequest,
  /** Its block, or the one port of its ingress; undefined where there was no room. */
  block: HeldBlock | undefined,
  live: Live,
  settings: PlanSettings,
): AddressResult {
  const { model } = request;
  if (!block) return nowhere('NoFreePorts', NO_PORTS_LEFT);
  const { start: containerPort } = block;
  if (model.by === 'clusterIP') return byService(request, model.port, block, settings);
  if (model.by === 'unavailable') return nowhere('NotSupported', model.message);
  if (model.by === 'route') return byRoutes(request, model.router, containerPort, live);
  const located =
    model.by === 'loadBalancer'
      ? byLoadBalancer(request, model, containerPort)
      : byGateway(request, model, containerPort, live);
  const waits = waitsFor(model, request.ingress);
  if (waits !== undefined) located.faults.unshift({ reason: 'AddressPending', message: waits });
  return located;
}

function nowhere(reason: Reason, message: string): AddressResult {
  return { address: undefined, hosts: [], points: [], faults: [{ reason, message }] };
}

function byService(
  { cluster, ingress, namespace, nodeIdRanges }: AddressRequest,
  port: number,
  block: HeldBlock,
  { clusterDomain }: PlanSettings,
): AddressResult {
  const { nodes, without } = nodesServed(nodeIdRanges, block);
  if (nodes.length === 0) return nowhere('NoFreePorts', NO_PORTS_LEFT);
  const last = port + extentOf(nodes);
  if (last > 65_535)
    return nowhere('Invalid', `the last broker would need port ${last}; lower clusterIP.port`);
  const host = serviceHost(clusterServiceName(cluster, ingress), namespace, clusterDomain);
  const address: GatewayAddress = {
    by: 'port',
    bootstrapHost: host,
    bootstrapPort: port,
    brokerHost: host,
    listenPort: block.start,
    nodes,
  };
  return { address, hosts: [host], points: [], faults: without };
}

interface SniNames {
  bootstrapHost: string;
  brokerPattern: string;
  port: number;
}

function bySni(
  names: SniNames,
  { nodeIdRanges }: AddressRequest,
  listenPort: number,
  points: Point[],
): AddressResult {
  const nodes = nodeIdsOf(nodeIdRanges).map((node) => nodeHost(names.brokerPattern, node));
  const hosts = [names.bootstrapHost, ...nodes];
  return { address: { by: 'sni', ...names, listenPort }, hosts, points, faults: [] };
}

function byLoadBalancer(
  request: AddressRequest,
  { bootstrapPattern, brokerPattern, port, points }: Extract<IngressModel, { by: 'loadBalancer' }>,
  listenPort: number,
): AddressResult {
  const { cluster } = request;
  const names = {
    bootstrapHost: namedPattern(bootstrapPattern, cluster),
    brokerPattern: namedPattern(brokerPattern, cluster),
    port,
  };
  return bySni(names, request, listenPort, points);
}

function byGateway(
  request: AddressRequest,
  { domain, port, parent, points }: Extract<IngressModel, { by: 'gateway' }>,
  listenPort: number,
  { tlsRoutes }: Live,
): AddressResult {
  const { cluster, ingress } = request;
  const names = {
    bootstrapHost: `${bootstrapRouteName(cluster, ingress)}.${domain}`,
    brokerPattern: `${nodeRouteName(cluster, ingress, NODE_ID)}.${domain}`,
    port,
  };
  const located = bySni(names, request, listenPort, points);
  const mine = routeNames(request);
  for (const { metadata, status } of tlsRoutes.filter(({ metadata }) => mine.includes(metadata.name))) {
    const said = (status?.parents ?? []).flatMap(({ conditions = [] }) => conditions);
    const refusal = said.find(({ type, status }) => type === 'Accepted' && status === 'False');
    if (!refusal) continue;
    const message = `Gateway "${parent.name}" does not accept TLSRoute "${metadata.name}": ${refusal.message ?? refusal.reason}`;
    located.faults.push({ reason: 'RouteNotAccepted', message });
  }
  return located;
}

function routeNames({ cluster, ingress, nodeIdRanges }: AddressRequest): string[] {
  const nodes = nodeIdsOf(nodeIdRanges).map((node) => nodeRouteName(cluster, ingress, node));
  return [bootstrapRouteName(cluster, ingress), ...nodes];
}

/** A router chooses the host names; they are known when it has admitted the Routes. */
function byRoutes(request: AddressRequest, router: string, listenPort: number, live: Live): AddressResult {
  const { cluster, ingress, nodeIdRanges } = request;
  const faults: AddressResult['faults'] = [];
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
  const located = bySni({ bootstrapHost, brokerPattern, port: ROUTE_PORT }, request, listenPort, []);
  return { ...located, faults };
}

function admittedHost(
  name: string,
  router: string,
  { routes }: Live,
  faults: AddressResult['faults'],
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
