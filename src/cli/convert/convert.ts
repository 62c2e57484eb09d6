/**
 * Manifests of Kroxylicious' own operator (0.2x) as ours. Pure. What has the right form already stays as it is, so converting twice is
 * the same as once; what cannot be taken over is told, never left out in silence.
 */
import { isRecord, mapOf, nameKey, without } from './fields.ts';
import type { Fields } from './fields.ts';
import { filterSpec } from './filter.ts';
import { clusterRefSpec, targetOf } from './kafka-service.ts';
import { proxySpec } from './proxy.ts';
import { ingressSpec, virtualClusterSpec } from './virtual-cluster.ts';
import type { TlsOfIngress } from './virtual-cluster.ts';

/** Something that a person has to look at. */
export interface Remark {
  /** `Kind/name`. */
  object: string;
  field: string;
  message: string;
}

/** Tells of something in the object at hand. */
export type Tell = (field: string, message: string) => void;

export interface Converted {
  documents: Fields[];
  remarks: Remark[];
}

const GROUP = 'kroxylicious.io/';
const SIDECAR_GROUP = 'sidecar.kroxylicious.io/';
/** What an API server has put there. */
const SERVERS_OWN = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'selfLink',
];

export function convert(documents: readonly unknown[]): Converted {
  const remarks: Remark[] = [];
  const given = documents.filter(isRecord);
  const services = new Map(given.filter(isService).map((one) => [nameKey(one), mapOf(one['spec'])]));
  const tls: TlsOfIngress = new Map();
  // Virtual clusters first: what they say of TLS belongs to the ingresses here.
  const clusters = new Map(
    given
      .filter((one) => one['kind'] === 'VirtualKafkaCluster' && isTheirs(one))
      .map((one) => [one, virtualCluster(one, services, tls, tellerOf(one, remarks))]),
  );
  const converted = given.flatMap((one) => {
    const made = clusters.get(one) ?? convertOne(one, services, tls, tellerOf(one, remarks));
    return made === undefined ? [] : [made];
  });
  return { documents: converted, remarks };
}

const isTheirs = ({ apiVersion }: Fields) => typeof apiVersion === 'string' && apiVersion.startsWith(GROUP);
const isService = (one: Fields) => one['kind'] === 'KafkaService' && isTheirs(one);

const tellerOf = (document: Fields, remarks: Remark[]): Tell => {
  const object = `${String(document['kind'])}/${String(mapOf(document['metadata'])['name'])}`;
  return (field, message) => void remarks.push({ object, field, message });
};

function virtualCluster(
  document: Fields,
  services: ReadonlyMap<string, Fields>,
  tls: TlsOfIngress,
  tell: Tell,
): Fields {
  const spec = mapOf(document['spec']);
  const reference = mapOf(spec['targetKafkaServiceRef']);
  const service = services.get(nameKey(document, String(reference['name'])));
  if ('targetKafkaServiceRef' in spec && !service)
    tell(
      'spec.targetKafkaServiceRef',
      `the KafkaService ${String(reference['name'])} is not among what was given: taken for one with bootstrapServers and without a client certificate`,
    );
  const { namespace } = mapOf(document['metadata']);
  const target =
    'targetKafkaServiceRef' in spec ? targetOf(String(reference['name']), service, namespace, tell) : {};
  const rest = virtualClusterSpec(document, without(spec, 'targetKafkaServiceRef'), tls, tell);
  return clean(document, { ...rest, ...target });
}

/** Undefined where nothing is left of it. */
function convertOne(
  document: Fields,
  services: ReadonlyMap<string, Fields>,
  tls: TlsOfIngress,
  tell: Tell,
): Fields | undefined {
  const { apiVersion, kind } = document;
  const spec = mapOf(document['spec']);
  if (typeof apiVersion === 'string' && apiVersion.startsWith(SIDECAR_GROUP)) {
    tell('', 'sidecars are not made here; serve its clients by a VirtualKafkaCluster');
    return undefined;
  }
  if (!isTheirs(document)) return document;
  if (kind === 'KafkaProxy') return clean(document, proxySpec(spec, tell));
  if (kind === 'KafkaProxyIngress')
    return clean(document, ingressSpec(spec, tls.get(nameKey(document)), tell));
  if (kind === 'KafkaProtocolFilter')
    return { ...clean(document, filterSpec(spec, tell)), apiVersion: 'filter.kroxylicious.io/v1alpha1' };
  if (kind !== 'KafkaService') return document;
  const made = clusterRefSpec(services.get(nameKey(document))!, tell);
  // A Kafka of Strimzi is referred to by the virtual cluster itself.
  return made === undefined ? undefined : { ...clean(document, made), kind: 'KafkaClusterRef' };
}

/** Without what an API server added. */
function clean(document: Fields, spec: Fields): Fields {
  const metadata = without(mapOf(document['metadata']), ...SERVERS_OWN);
  return { ...without(document, 'status'), metadata, spec };
}
