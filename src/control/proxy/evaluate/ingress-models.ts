/** Evaluates ingresses in a cluster: whether the model that each describes can be had there, and where it leads. */
import type { Gateway } from '../../../resources/gateway/gateway.ts';
import type { KafkaProxyIngress } from '../../../resources/kroxylicious/kafka-proxy-ingress.ts';
import type { Fault } from '../faults.ts';
import { objectLabels, sharedServiceName } from '../names.ts';
import type { Observed, Point } from '../observed.ts';
import { reportInto } from '../resolve/references.ts';
import type { Report } from '../resolve/references.ts';
import type { EvaluatedIngress, IngressModel } from './platform.ts';
import { labelsOf, selectorText, selects } from '../../shared/selector.ts';
import { find } from '../snapshot.ts';

/** Finds out what an ingress needs, or reports what it lacks. */
export function evaluateIngress(ingress: KafkaProxyIngress, observed: Observed): EvaluatedIngress {
  const faults: Fault[] = [];
  const { spec, metadata } = ingress;
  if (!find(observed.snapshot.proxies, metadata.namespace, spec.proxyRef.name)) {
    const message = `no KafkaProxy is named "${spec.proxyRef.name}"`;
    faults.push({ reason: 'ReferencedResourcesNotFound', path: ['spec', 'proxyRef', 'name'], message });
  }
  const model = modelOf(ingress, observed, faults);
  const waits = model && waitsFor(model, metadata.name);
  if (waits !== undefined) faults.push({ reason: 'AddressPending', path: ['spec'], message: waits });
  return { ingress, model, faults };
}

/** What has to say yet where a way leads; undefined if all is known. */
export function waitsFor(model: IngressModel, ingress: string): string | undefined {
  if (model.by === 'loadBalancer' && model.points.length === 0)
    return `Service "${sharedServiceName(ingress)}" has no address yet; the cluster's load balancer gives it one`;
  if (model.by === 'gateway' && model.points.length === 0)
    return `Gateway "${model.parent.name}" has no address yet`;
  return undefined;
}

function modelOf(ingress: KafkaProxyIngress, observed: Observed, faults: Fault[]): IngressModel | undefined {
  const { clusterIP, loadBalancer, openShiftRoute, gateway } = ingress.spec;
  if (clusterIP) return { by: 'clusterIP', port: clusterIP.port };
  if (loadBalancer) {
    const { bootstrapAddressPattern, brokerAddressPattern, port } = loadBalancer;
    const name = sharedServiceName(ingress.metadata.name);
    const service = observed.live.services.find(({ metadata }) => metadata.name === name);
    const points = service?.status?.loadBalancer?.ingress?.map(pointOf) ?? [];
    const patterns = { bootstrapPattern: bootstrapAddressPattern, brokerPattern: brokerAddressPattern };
    return { by: 'loadBalancer', port, ...patterns, points };
  }
  if (openShiftRoute)
    return routeModel(openShiftRoute, ingress, observed, reportInto(faults, ['spec', 'openShiftRoute']));
  return gateway && gatewayModel(gateway, ingress, observed, reportInto(faults, ['spec', 'gateway']));
}

function routeModel(
  { resourceRef }: NonNullable<KafkaProxyIngress['spec']['openShiftRoute']>,
  ingress: KafkaProxyIngress,
  { snapshot, live }: Observed,
  report: Report,
): IngressModel | undefined {
  const { ingressControllers, namespaceLabels } = snapshot.cluster;
  if (!live.kinds.route || !ingressControllers) {
    const message = 'this cluster has no Routes: they exist on OpenShift only; use gateway or loadBalancer';
    return report('RequestedResourceKindNotSupported', message);
  }
  const { name, namespace } = resourceRef;
  const controller = find(ingressControllers, namespace, name);
  if (!controller) {
    const message = `no IngressController is named "${name}" in namespace "${namespace}"`;
    return report('ReferencedResourcesNotFound', message);
  }
  const { routeSelector = {}, namespaceSelector = {} } = controller.spec;
  const own = ingress.metadata.namespace;
  if (namespaceLabels && !selects(namespaceSelector, namespaceLabels)) {
    const message = `IngressController "${name}" takes no Routes from namespace "${own}": its namespaceSelector asks for the labels ${selectorText(namespaceSelector)}; label the namespace so, or name another`;
    return report('InvalidReferencedResource', message);
  }
  const proxy = find(snapshot.proxies, own, ingress.spec.proxyRef.name);
  const labels = labelsOf(routeSelector);
  const ofAdmins = { ...proxy?.spec.infrastructure.labels, ...ingress.spec.infrastructure.labels };
  if (!selects(routeSelector, { ...labels, ...ofAdmins, ...objectLabels(ingress.spec.proxyRef.name) })) {
    const message = `IngressController "${name}" takes only Routes with the labels ${selectorText(routeSelector)}; set them in spec.infrastructure.labels, or name another`;
    return report('InvalidReferencedResource', message);
  }
  return { by: 'route', router: name, labels };
}

type Listener = Gateway['spec']['listeners'][number];

function gatewayModel(
  { resourceRef }: NonNullable<KafkaProxyIngress['spec']['gateway']>,
  { metadata }: KafkaProxyIngress,
  { snapshot, live }: Observed,
  report: Report,
): IngressModel | undefined {
  const { gateways } = snapshot.cluster;
  if (!live.kinds.gateway || live.kinds.tlsRoute === undefined || !gateways) {
    const message = 'this cluster has no Gateway or no TLSRoute: install the Gateway API with TLSRoutes';
    return report('RequestedResourceKindNotSupported', message);
  }
  const { name, namespace, sectionName } = resourceRef;
  const gateway = find(gateways, namespace, name);
  if (!gateway)
    return report('ReferencedResourcesNotFound', `no Gateway is named "${name}" in namespace "${namespace}"`);
  const { listeners } = gateway.spec;
  const listener = sectionName
    ? listeners.find((one) => one.name === sectionName)
    : listeners.find((one) => problemOf(one) === undefined);
  if (!listener) {
    const which = sectionName ? `listener "${sectionName}"` : 'listener for TLS passthrough';
    const has = listeners.map((one) => one.name).join(', ') || 'none';
    return report('ReferencedResourcesNotFound', `Gateway "${name}" has no ${which}; its listeners: ${has}`);
  }
  const problem = problemOf(listener) ?? refusalOf(listener, gateway, metadata.namespace, snapshot.cluster);
  if (problem)
    return report('InvalidReferencedResource', `listener "${listener.name}" of Gateway "${name}" ${problem}`);
  return {
    by: 'gateway',
    port: listener.port,
    domain: listener.hostname!.slice('*.'.length).toLowerCase(),
    parent: { name, namespace, sectionName: listener.name },
    points: gatewayPoints(gateway),
  };
}

/** Why a listener cannot carry us. */
function problemOf({ protocol, tls, hostname }: Listener): string | undefined {
  if (protocol !== 'TLS') return `speaks ${protocol}; it must be TLS with mode Passthrough`;
  if (tls?.mode !== 'Passthrough') return 'terminates TLS; set tls.mode to Passthrough';
  if (hostname === undefined)
    return 'has no hostname; give it one such as *.kafka.example.com, to name brokers in';
  if (!hostname.startsWith('*.'))
    return `is for ${hostname} only; every broker needs a name, so make it a wildcard such as *.${hostname}`;
  return undefined;
}

interface AllowedRoutes {
  namespaces?: { from?: string; selector?: unknown };
  kinds?: { group?: string; kind: string }[];
}

/** Why a listener does not let our routes attach. */
function refusalOf(
  listener: Listener,
  gateway: Gateway,
  namespace: string,
  { namespaceLabels }: Observed['snapshot']['cluster'],
): string | undefined {
  const { namespaces, kinds = [] } = (listener.allowedRoutes ?? {}) as AllowedRoutes;
  if (kinds.length > 0 && !kinds.some(({ kind }) => kind === 'TLSRoute'))
    return 'does not allow TLSRoutes; add the kind to allowedRoutes.kinds';
  const from = namespaces?.from ?? 'Same';
  const isAllowed =
    from === 'All' ||
    (from === 'Same' && gateway.metadata.namespace === namespace) ||
    // Labels that cannot be read are not held against anybody: the Gateway decides, and the route's status says how.
    (from === 'Selector' && (!namespaceLabels || selects(namespaces?.selector, namespaceLabels)));
  return isAllowed
    ? undefined
    : `does not allow routes from namespace "${namespace}"; change allowedRoutes.namespaces`;
}

function gatewayPoints({ status }: Gateway): Point[] {
  return (status?.addresses ?? []).flatMap(({ type = 'IPAddress', value }) => {
    if (value === undefined) return [];
    return [type === 'Hostname' ? { hostname: value } : { ip: value }];
  });
}

const pointOf = ({ ip, hostname }: Point): Point => ({
  ...(ip !== undefined && { ip }),
  ...(hostname !== undefined && { hostname }),
});
