/** Follows the references of a virtual cluster: to everything the proxy needs to serve it, or to what is missing. */
import type { TlsParameters } from '../../../resources/common/tls.ts';
import type { KafkaProxyIngress } from '../../../resources/kroxylicious/kafka-proxy-ingress.ts';
import type { VirtualKafkaCluster } from '../../../resources/kroxylicious/virtual-kafka-cluster.ts';
import type { KeyPair } from '../evaluate/certificates.ts';
import type { Fault } from '../faults.ts';
import { interpolate } from './interpolate.ts';
import type { Interpolated } from './interpolate.ts';
import { keyPairOf, reportInto, trustOf } from './references.ts';
import type { Report } from './references.ts';
import { resolveTarget } from './target.ts';
import type { ResolvedTarget } from './target.ts';
import { find } from '../snapshot.ts';
import type { ProxySnapshot } from '../snapshot.ts';

export type { Fault, KeyPair, ResolvedTarget };

export interface ServerTls {
  keys: KeyPair[];
  trust: string | undefined;
  clientAuth: 'REQUIRED' | 'REQUESTED' | 'NONE';
  parameters: TlsParameters;
}

export interface ResolvedIngress {
  ingress: KafkaProxyIngress;
  /** Absent where the ingress speaks plain TCP. */
  tls: ServerTls | undefined;
}

export interface ResolvedFilter {
  name: string;
  type: string;
  config: unknown;
}

/** A virtual cluster with every reference followed. */
export interface ResolvedCluster {
  cluster: VirtualKafkaCluster;
  ingresses: ResolvedIngress[];
  target: ResolvedTarget;
  filters: ResolvedFilter[];
}

/** One reference of several, followed; `found` is absent where a fault says why. */
export interface Part<T> {
  name: string;
  found: T | undefined;
  faults: Fault[];
}

/** Every reference of a virtual cluster, each with what is wrong with it. */
export interface ResolvedParts {
  /** Faults of the virtual cluster as a whole: its proxy, its target. */
  faults: Fault[];
  target: ResolvedTarget | undefined;
  ingresses: Part<ResolvedIngress>[];
  filters: Part<ResolvedFilter>[];
}

type Spec = VirtualKafkaCluster['spec'];

/** Follows every reference, and reports all that is wrong, each with its part: one that is broken need not take the others with it. */
export function resolveParts(
  { metadata, spec }: VirtualKafkaCluster,
  snapshot: ProxySnapshot,
): ResolvedParts {
  const { namespace } = metadata;
  const faults: Fault[] = [];
  const proxy = find(snapshot.proxies, namespace, spec.proxyRef.name);
  if (!proxy) {
    const message = `no KafkaProxy is named "${spec.proxyRef.name}"`;
    faults.push({ reason: 'ReferencedResourcesNotFound', path: ['spec', 'proxyRef', 'name'], message });
  }
  const ingresses = spec.ingresses.map((ref, index) =>
    part(ref.name, ['spec', 'ingresses', index], (report) =>
      resolveIngress(ref, spec.proxyRef.name, namespace, snapshot, report),
    ),
  );
  const report = reportInto(faults, ['spec', 'targetCluster']);
  const target = resolveTarget(spec.targetCluster, namespace, snapshot, report);
  const refs = spec.filterRefs ?? proxy?.spec.defaultFilterRefs ?? [];
  const filters = refs.map(({ name }, index) =>
    part(name, ['spec', 'filterRefs', index], (report) => resolveFilter(name, namespace, snapshot, report)),
  );
  return { faults, target, ingresses, filters };
}

function part<T>(name: string, path: Fault['path'], resolve: (report: Report) => T | undefined): Part<T> {
  const faults: Fault[] = [];
  const found = resolve(reportInto(faults, path));
  return { name, found: faults.length > 0 ? undefined : found, faults };
}

function resolveIngress(
  ref: Spec['ingresses'][number],
  proxyName: string,
  namespace: string,
  snapshot: ProxySnapshot,
  report: Report,
): ResolvedIngress | undefined {
  const ingress = find(snapshot.ingresses, namespace, ref.name);
  if (!ingress) return report('ReferencedResourcesNotFound', `no KafkaProxyIngress is named "${ref.name}"`);
  if (ingress.spec.proxyRef.name !== proxyName) {
    const message = `KafkaProxyIngress "${ref.name}" belongs to KafkaProxy "${ingress.spec.proxyRef.name}", not to "${proxyName}"`;
    return report('InvalidReferencedResource', message);
  }
  const plain = ingress.spec.clusterIP?.protocol === 'TCP';
  if (plain && ref.tls)
    return report('InvalidReferencedResource', `KafkaProxyIngress "${ref.name}" speaks TCP; remove tls`);
  if (plain) return { ingress, tls: undefined };
  if (!ref.tls || ref.tls.certificateRefs.length === 0) {
    const message = `KafkaProxyIngress "${ref.name}" speaks TLS; name a Secret in tls.certificateRefs`;
    return report('InvalidReferencedResource', message);
  }
  const from = { kind: 'VirtualKafkaCluster', namespace } as const;
  const keys = ref.tls.certificateRefs.flatMap((secret) => keyPairOf(secret, from, snapshot, report) ?? []);
  const trust = trustOf(ref.tls.trustAnchorRefs, from, snapshot, report);
  const { clientAuth } = ref.tls.trustOptions;
  return { ingress, tls: { keys, trust, clientAuth, parameters: ingress.spec.tls ?? {} } };
}

function resolveFilter(
  name: string,
  namespace: string,
  snapshot: ProxySnapshot,
  report: Report,
): ResolvedFilter | undefined {
  const filter = find(snapshot.filters, namespace, name);
  if (!filter) return report('ReferencedResourcesNotFound', `no KafkaProtocolFilter is named "${name}"`);
  const { value, unresolved } = filterConfig(filter, snapshot);
  for (const missing of unresolved) {
    const message = `KafkaProtocolFilter "${name}" asks for ${missingText(missing)}`;
    report('InterpolatedReferencedResourcesNotFound', message);
  }
  return { name, type: filter.spec.type, config: value };
}

interface FilterLike {
  metadata: { namespace: string };
  spec: { config: unknown };
}

/** The config of a filter with its placeholders replaced by what is in its namespace. */
export function filterConfig(
  { metadata, spec }: FilterLike,
  { secrets, configMaps }: Pick<ProxySnapshot, 'secrets' | 'configMaps'>,
): Interpolated {
  return interpolate(spec.config, (provider, name, key) => {
    const objects = provider === 'secret' ? secrets : configMaps;
    return find(objects, metadata.namespace, name)?.data[key];
  });
}

/** Names a placeholder that leads nowhere. */
export function missingText({ provider, name, key }: Interpolated['unresolved'][number]): string {
  return `key "${key}" of ${provider} "${name}", which is not there`;
}
