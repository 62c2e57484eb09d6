/** Drops the fields that discovery does not need: a cluster has many Services and EndpointSlices. */
import type { ObjectMeta } from '../../../kube/object.ts';
import {
  FQDN_ANNOTATION,
  HOSTNAME_ANNOTATION,
  IMPORTED_NAMESPACE_LABEL,
  IMPORTED_SERVICE_LABEL,
  NODE_PORTS_LABEL,
  SERVICE_NAME_LABEL,
  SOURCE_CLUSTER_LABEL,
} from '../names.ts';
import type { EndpointSlice, Service } from '../objects.ts';

const ANNOTATIONS = [FQDN_ANNOTATION, HOSTNAME_ANNOTATION];
const LABELS = [
  SERVICE_NAME_LABEL,
  IMPORTED_SERVICE_LABEL,
  IMPORTED_NAMESPACE_LABEL,
  SOURCE_CLUSTER_LABEL,
  NODE_PORTS_LABEL,
];

const SERVICE_FIELDS = [
  'type',
  'clusterIP',
  'clusterIPs',
  'externalName',
  'publishNotReadyAddresses',
  'sessionAffinity',
  'sessionAffinityConfig',
  'internalTrafficPolicy',
  'externalTrafficPolicy',
  'trafficDistribution',
  'ports',
  'selector',
] as const satisfies readonly (keyof NonNullable<Service['spec']>)[];

export function trimService({ apiVersion, kind, metadata, spec = {}, status }: Service): Service {
  const kept = Object.fromEntries(
    SERVICE_FIELDS.flatMap((field) => (spec[field] === undefined ? [] : [[field, spec[field]]])),
  ) as NonNullable<Service['spec']>;
  // The addresses of other Services tell their IP families.
  if (spec.ipFamilies && spec.clusterIP === 'None') kept.ipFamilies = spec.ipFamilies;
  const ingress = status?.loadBalancer?.ingress;
  return {
    apiVersion,
    kind,
    metadata: trimMetadata(metadata),
    spec: kept,
    ...(ingress && { status: { loadBalancer: { ingress } } }),
  };
}

export function trimSlice({
  apiVersion,
  kind,
  metadata,
  addressType,
  endpoints,
  ports,
}: EndpointSlice): EndpointSlice {
  const kept = (endpoints ?? []).map(({ addresses, hostname, nodeName, zone, hints, conditions }) => ({
    addresses,
    ...defined({ hostname, nodeName, zone, hints }),
    ...(conditions?.ready === false && { conditions: { ready: false } }),
  }));
  return {
    apiVersion,
    kind,
    metadata: trimMetadata(metadata),
    addressType,
    endpoints: kept,
    ports: ports ?? [],
  };
}

function trimMetadata({ annotations, labels, ...metadata }: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return {
    name,
    ...defined({ namespace, uid, resourceVersion, creationTimestamp }),
    annotations: pick(annotations, ANNOTATIONS),
    labels: pick(labels, LABELS),
  };
}

function pick(from: Record<string, string> = {}, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
}
