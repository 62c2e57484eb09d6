/** VirtualKafkaCluster and KafkaProxyIngress: who says what of TLS differs. */
import { isDeepStrictEqual } from 'node:util';
import type { Tell } from './convert.ts';
import { given, isEmpty, isRecord, listOf, mapOf, nameKey, without } from './fields.ts';
import type { Fields } from './fields.ts';
import { certificateOf, parametersOf, trustAnchorsOf } from './tls.ts';

/** Versions and cipher suites that virtual clusters ask for, by ingress: here they are the ingress' own. */
export type TlsOfIngress = Map<string, Fields>;

/** The ports that clients know: Kroxylicious has no choice of them. */
const PORTS = { clusterIP: 9292, loadBalancer: 9083 };

export function virtualClusterSpec(document: Fields, spec: Fields, tls: TlsOfIngress, tell: Tell): Fields {
  if (!('ingresses' in spec)) return spec;
  const ingresses = listOf(spec['ingresses']).map((one, at) => {
    const ingress = mapOf(one);
    const reference = ingress['ingressRef'];
    const name = isRecord(reference) ? reference['name'] : ingress['name'];
    const where = `spec.ingresses[${at}].tls`;
    if (!isRecord(ingress['tls'])) return given({ ...without(ingress, 'ingressRef'), name });
    const asked = parametersOf(ingress['tls']);
    if (!isEmpty(asked)) keep(tls, nameKey(document, String(name)), asked, where, tell);
    return given({
      ...without(ingress, 'ingressRef'),
      name,
      tls: tlsOf(ingress['tls'], where, tell),
    });
  });
  return { ...spec, ingresses };
}

function keep(tls: TlsOfIngress, key: string, asked: Fields, where: string, tell: Tell): void {
  const known = tls.get(key);
  if (known && !isDeepStrictEqual(known, asked))
    tell(
      where,
      'another virtual cluster asks for other protocols or cipherSuites at the same ingress, which has them now: give this one an ingress of its own',
    );
  else tls.set(key, asked);
}

function tlsOf(tls: Fields, where: string, tell: Tell): Fields {
  const certificate = certificateOf(tls);
  const clientAuth = tls['tlsClientAuthentication'];
  return given({
    ...without(
      tls,
      'certificateRef',
      'trustAnchorRef',
      'tlsClientAuthentication',
      'protocols',
      'cipherSuites',
    ),
    certificateRefs: certificate ? [certificate] : tls['certificateRefs'],
    ...trustAnchorsOf(tls, where, tell),
    trustOptions: clientAuth === undefined ? tls['trustOptions'] : { clientAuth },
  });
}

export function ingressSpec(spec: Fields, tls: Fields | undefined, tell: Tell): Fields {
  const { clusterIP, loadBalancer, openShiftRoute } = spec;
  if (isRecord(clusterIP) && clusterIP['port'] === undefined)
    tell(
      'spec.clusterIP',
      'clients connect to the Service CLUSTER-INGRESS, where it was CLUSTER-INGRESS-bootstrap; the port is the same',
    );
  if (isRecord(openShiftRoute) && isEmpty(openShiftRoute))
    tell(
      'spec.openShiftRoute',
      'Routes have other names, and so other hosts: look at the status of the virtual cluster',
    );
  const made = given({
    clusterIP: isRecord(clusterIP) ? { port: PORTS.clusterIP, ...clusterIP } : clusterIP,
    loadBalancer: isRecord(loadBalancer) ? balancer(loadBalancer) : loadBalancer,
    tls: tls && { ...mapOf(spec['tls']), ...tls },
  });
  return { ...spec, ...made };
}

function balancer(loadBalancer: Fields): Fields {
  const { bootstrapAddress, advertisedBrokerAddressPattern, ...rest } = loadBalancer;
  return given({
    bootstrapAddressPattern: bootstrapAddress,
    brokerAddressPattern: advertisedBrokerAddressPattern,
    port: PORTS.loadBalancer,
    ...rest,
  });
}
