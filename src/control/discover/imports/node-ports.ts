/** Exported services where pod addresses lead nowhere: ports of the exporter's nodes lead to them instead. */
import type { KubeObject } from '../../../kube/object.ts';
import type { SeenExport } from '../records/export-records.ts';
import { NODE_PORTS_LABEL } from '../names.ts';
import { familiesOf, familyOf, familySpec, isHeadless, publishedEndpoints } from '../objects.ts';
import type { EndpointPort, EndpointSlice, Service, ServiceExport, ServicePort } from '../objects.ts';

/** The way to a service through the nodes of its cluster. */
export interface NodeWay {
  /** Addresses of the nodes. */
  addresses: readonly string[];
  /** The Service that is there to have node ports, if the exported one has none that would do. */
  companion: Service | undefined;
}

/** What a cluster makes so that its export can be reached by node ports; or why it cannot be. */
export type NodePortOffer = { companion: KubeObject | undefined } | { problem: string };

/** Whether every node leads to the service by each of its ports. With the policy `Local` only the nodes of its pods do. */
function hasNodePorts({ spec }: Service): boolean {
  const ports = spec?.ports ?? [];
  return (
    spec?.externalTrafficPolicy !== 'Local' && ports.length > 0 && ports.every(({ nodePort }) => nodePort)
  );
}

/** Plans the companion of an exported Service, under this name. */
export function offerNodePorts(service: Service, owner: ServiceExport, name: string): NodePortOffer {
  const { spec = {}, metadata } = service;
  if (isHeadless(service))
    return { problem: 'a headless Service cannot be reached by node ports: its clients want pod addresses' };
  if (hasNodePorts(service)) return { companion: undefined };
  if (!spec.selector || Object.keys(spec.selector).length === 0)
    return { problem: 'a Service without selector cannot be given node ports; make it of type NodePort' };
  const { selector, publishNotReadyAddresses, sessionAffinity, sessionAffinityConfig } = spec;
  const ports = (spec.ports ?? []).map(({ nodePort: _own, ...port }) => port);
  const { apiVersion, kind } = owner;
  const ownerReferences = [{ apiVersion, kind, name: owner.metadata.name, uid: owner.metadata.uid ?? '' }];
  const labels = { [NODE_PORTS_LABEL]: metadata.name };
  return {
    companion: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: metadata.namespace, labels, ownerReferences },
      spec: {
        type: 'NodePort',
        selector,
        ports,
        ...(publishNotReadyAddresses && { publishNotReadyAddresses }),
        // A client that is kept to one node must be kept to one pod behind it, too.
        ...(sessionAffinity && { sessionAffinity }),
        ...(sessionAffinityConfig && { sessionAffinityConfig }),
        ...familySpec(familiesOf(service)),
      },
    } as KubeObject,
  };
}

/** What the slices of an import hold. */
export type SliceContents = Pick<EndpointSlice, 'addressType' | 'endpoints' | 'ports'>;

/** The slices of a service that is reached through nodes; or why there are none. */
export function nodeSlices(one: SeenExport, way: NodeWay): SliceContents[] | string {
  const { cluster, service, slices } = one;
  if (!service || isHeadless(service))
    return `cluster ${cluster} is reached by node ports, and a headless service cannot be`;
  const carrier = [service, way.companion].find((each) => each && hasNodePorts(each));
  if (!carrier)
    return `cluster ${cluster} offers no node ports for it; the program there has to be told: reach: nodes`;
  const served = familiesOf(carrier);
  const addresses = way.addresses.filter((address) => served.includes(familyOf(address) ?? ''));
  if (addresses.length === 0) return `cluster ${cluster} has no node that could be reached`;
  // A node would refuse, or swallow, what nobody behind it answers.
  const isServed = slices.some((slice) => publishedEndpoints(slice, service).length > 0);
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

/** A port of the exported Service as it is reached: under its own name, with the number that nodes have for it. */
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
