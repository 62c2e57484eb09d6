/** Exported services of clusters whose pod addresses cannot be reached: node ports are used instead. */
import type { KubeObject } from '../../../kube/object.ts';
import type { ObservedExport } from '../observe.ts';
import { NODE_PORTS_LABEL } from '../names.ts';
import { familiesOf, familyOf, familySpec, hasPublishedEndpoints, isHeadless } from '../objects.ts';
import type { EndpointPort, EndpointSlice, Service, ServiceExport, ServicePort } from '../objects.ts';

/** How a service is reached by node ports. */
export interface NodePortAccess {
  /** Addresses of the nodes. */
  addresses: readonly string[];
  /** The NodePort Service that was made for it, if the exported Service has no suitable node ports. */
  nodePortService: Service | undefined;
}

/** The NodePort Service that an export needs, if any; or why it cannot be reached by node ports. */
export type NodePortPlan = { nodePortService: KubeObject | undefined } | { problem: string };

/** Whether every node forwards every port of the Service. With externalTrafficPolicy Local only the nodes of its pods do. */
function hasNodePorts({ spec }: Service): boolean {
  const ports = spec?.ports ?? [];
  return (
    spec?.externalTrafficPolicy !== 'Local' && ports.length > 0 && ports.every(({ nodePort }) => nodePort)
  );
}

/** Plans the NodePort Service of an exported Service, under this name. */
export function planNodePorts(service: Service, owner: ServiceExport, name: string): NodePortPlan {
  const { spec = {}, metadata } = service;
  if (isHeadless(service))
    return { problem: 'a headless Service cannot be reached by node ports: its clients need pod addresses' };
  if (hasNodePorts(service)) return { nodePortService: undefined };
  if (!spec.selector || Object.keys(spec.selector).length === 0)
    return { problem: 'a Service without selector cannot get node ports; change its type to NodePort' };
  const { selector, publishNotReadyAddresses, sessionAffinity, sessionAffinityConfig } = spec;
  const ports = (spec.ports ?? []).map(({ nodePort: _own, ...port }) => port);
  const { apiVersion, kind } = owner;
  const ownerReferences = [{ apiVersion, kind, name: owner.metadata.name, uid: owner.metadata.uid ?? '' }];
  const labels = { [NODE_PORTS_LABEL]: metadata.name };
  return {
    nodePortService: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: metadata.namespace, labels, ownerReferences },
      spec: {
        type: 'NodePort',
        selector,
        ports,
        ...(publishNotReadyAddresses && { publishNotReadyAddresses }),
        // A client that stays on one node must stay on one pod behind it.
        ...(sessionAffinity && { sessionAffinity }),
        ...(sessionAffinityConfig && { sessionAffinityConfig }),
        ...familySpec(familiesOf(service)),
      },
    } as KubeObject,
  };
}

/** The contents of an imported EndpointSlice. */
export type SliceContents = Pick<EndpointSlice, 'addressType' | 'endpoints' | 'ports'>;

/** The slices of a service that is reached by node ports; or why there are none. */
export function nodePortSlices(one: ObservedExport, access: NodePortAccess): SliceContents[] | string {
  const { cluster, service } = one;
  if (!service || isHeadless(service))
    return `cluster ${cluster} is reached by node ports, but the service is headless`;
  const carrier = [service, access.nodePortService].find((each) => each && hasNodePorts(each));
  if (!carrier)
    return `cluster ${cluster} has no node ports for the service; configure its Isthmus with "reach: nodes"`;
  const served = familiesOf(carrier);
  const addresses = access.addresses.filter((address) => served.includes(familyOf(address) ?? ''));
  if (addresses.length === 0) return `cluster ${cluster} has no reachable node`;
  // Without ready pods a node would refuse or drop the connection.
  const isServed = hasPublishedEndpoints(one);
  const ports = (service.spec?.ports ?? []).flatMap((port) => nodePort(port, carrier));
  const families = new Set(addresses.map(familyOf));
  return [...families].map((addressType) => ({
    addressType: addressType!,
    endpoints: addresses
      .filter((address) => isServed && familyOf(address) === addressType)
      .map((address) => ({ addresses: [address] })),
    ports,
  }));
}

/** A port of the exported Service, with its name and the number of its node port. */
function nodePort(
  { name, port, protocol = 'TCP', appProtocol }: ServicePort,
  carrier: Service,
): EndpointPort[] {
  const same = carrier.spec?.ports?.find(
    (each) => each.port === port && (each.protocol ?? 'TCP') === protocol,
  );
  if (!same?.nodePort) return [];
  return [{ ...(name && { name }), port: same.nodePort, protocol, ...(appProtocol && { appProtocol }) }];
}
