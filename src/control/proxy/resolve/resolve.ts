/** Follows the references of a virtual cluster: to everything the proxy needs to serve it, or to what is missing. */
import { moduleOf } from '../../../ops/filter-module.ts';
import type { FilterModule } from '../../../ops/filter-module.ts';
import type { TlsParameters } from '../../../resources/common/tls.ts';
import { secretFieldsOf } from '../../../resources/kroxylicious/filter-types.ts';
import type { KafkaProxy } from '../../../resources/kroxylicious/kafka-proxy.ts';
import type { KafkaProxyIngress } from '../../../resources/kroxylicious/kafka-proxy-ingress.ts';
import type { VirtualKafkaCluster } from '../../../resources/kroxylicious/virtual-kafka-cluster.ts';
import type { KeyPair } from '../evaluate/certificates.ts';
import type { Fault } from '../faults.ts';
import { filterChain } from './filter-chain.ts';
import { interpolate } from './interpolate.ts';
import type { Lookup } from './interpolate.ts';
import { keyPairOf, reportInto, reportMissing, trustOf } from './references.ts';
import type { Report } from './references.ts';
import { resolveTarget } from './target.ts';
import type { ResolvedTarget } from './target.ts';
import { entryOf, find } from '../snapshot.ts';
import type { ProxySnapshot } from '../snapshot.ts';

export type { Fault, KeyPair, ResolvedTarget };

export interface ServerTls {
  keys: KeyPair[];
  trust: string | undefined;
  clientAuth: 'REQUIRED' | 'REQUESTED' | 'NONE';
  parameters: TlsParameters;
}

export interface ResolvedIngress {
  /** Absent where it cannot be read, and what was last good goes on. */
  ingress: KafkaProxyIngress | undefined;
  /** Absent where the ingress speaks plain TCP. */
  tls: ServerTls | undefined;
}

export interface ResolvedFilter {
  name: string;
  type: string;
  config: unknown;
  /** Where it is a user's own: the package, as an admin allows it. */
  module?: FilterModule;
}

/** One reference of several, followed; `found` is absent where a fault says why. */
export interface Part<T> {
  name: string;
  /** The field of the virtual cluster that leads there. */
  path: Fault['path'];
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
  const modules = modulesOf(proxy, snapshot);
  const proxyName = spec.proxyRef.name;
  const filters = filterChain(spec, proxy).map(({ name, path, isMandatory }) =>
    part(name, path, (report) => {
      const why = isMandatory ? ` (KafkaProxy "${proxyName}" demands it of every virtual cluster)` : '';
      const say: Report = (reason, message) => report(reason, message + why);
      return resolveFilter({ name, namespace, proxyName, modules }, snapshot, say);
    }),
  );
  return { faults, target, ingresses, filters };
}

/** The packages that filters of a proxy may come from. */
const modulesOf = (proxy: KafkaProxy | undefined, snapshot: ProxySnapshot) => [
  ...(proxy?.spec.filterModules ?? []),
  ...(snapshot.filterModules ?? []),
];

/** What a proxy says of filters, whoever's they are. */
export interface FilterPolicy {
  modules: readonly FilterModule[];
  /** Those that it demands, as a request meets them; `found` is absent where there is no such filter. */
  first: readonly Pick<Part<ResolvedFilter>, 'name' | 'found'>[];
  last: FilterPolicy['first'];
}

export function filterPolicyOf(
  proxy: KafkaProxy | undefined,
  snapshot: ProxySnapshot,
  isRejected: (filter: string) => boolean,
): FilterPolicy {
  const modules = modulesOf(proxy, snapshot);
  const { name: proxyName = '', namespace = '' } = proxy?.metadata ?? {};
  const { first, last } = proxy?.spec.mandatoryFilterRefs ?? { first: [], last: [] };
  const follow = ({ name }: { name: string }) =>
    part(name, [], (report) =>
      isRejected(name) ? undefined : resolveFilter({ name, namespace, proxyName, modules }, snapshot, report),
    );
  return { modules, first: first.map(follow), last: last.map(follow) };
}

function part<T>(name: string, path: Fault['path'], resolve: (report: Report) => T | undefined): Part<T> {
  const faults: Fault[] = [];
  const found = resolve(reportInto(faults, path));
  return { name, path, found: faults.length > 0 ? undefined : found, faults };
}

function resolveIngress(
  ref: Spec['ingresses'][number],
  proxyName: string,
  namespace: string,
  snapshot: ProxySnapshot,
  report: Report,
): ResolvedIngress | undefined {
  const ingress = find(snapshot.ingresses, namespace, ref.name);
  if (!ingress) return reportMissing('KafkaProxyIngress', ref.name, namespace, snapshot, report);
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

interface FilterUse {
  name: string;
  namespace: string;
  proxyName: string;
  /** The packages that this proxy allows. */
  modules: readonly FilterModule[];
}

function resolveFilter(
  { name, namespace, proxyName, modules }: FilterUse,
  snapshot: ProxySnapshot,
  report: Report,
): ResolvedFilter | undefined {
  const filter = find(snapshot.filters, namespace, name);
  if (!filter) return reportMissing('KafkaProtocolFilter', name, namespace, snapshot, report);
  const { type } = filter.spec;
  const module = modules.find((one) => one.name === moduleOf(type));
  if (moduleOf(type) !== undefined && !module) {
    const message = `KafkaProtocolFilter "${name}" is of type ${type}, which KafkaProxy "${proxyName}" does not allow; its admin can name the package in filterModules`;
    return report('FilterNotAllowed', message);
  }
  const { value, faults } = filterConfig(filter, modules, snapshot);
  for (const { reason, message } of faults) report(reason, `KafkaProtocolFilter "${name}": ${message}`);
  return { name, type, config: value, ...(module && { module }) };
}

interface FilterLike {
  metadata: { namespace: string };
  spec: { type: string; config: unknown };
}

/** As much as a virtual cluster may have of a proxy's configuration: whoever writes all filters out must not find out only then. */
const MOST_REPLACED = 256 * 1024;
const TOO_MUCH_REPLACED = {
  reason: 'ConfigTooLarge',
  message:
    'what its placeholders stand for is longer than 256 KiB together; refer to fewer or shorter values',
} as const;

/** The config of a filter with its placeholders replaced by what is in its namespace; and what is wrong with them. */
export function filterConfig(
  { metadata, spec }: FilterLike,
  modules: readonly FilterModule[],
  { secrets, configMaps }: Pick<ProxySnapshot, 'secrets' | 'configMaps'>,
): { value: unknown; faults: Omit<Fault, 'path'>[] } {
  const secretFields = secretFieldsOf(spec.type, modules);
  const lookup: Lookup = (provider, name, key) => {
    const objects = provider === 'secret' ? secrets : configMaps;
    const object = find(objects, metadata.namespace, name);
    return object && entryOf(object.data, key);
  };
  const { value, unresolved, misplaced, replaced } = interpolate(spec.config, lookup, secretFields);
  if (replaced > MOST_REPLACED) return { value: spec.config, faults: [TOO_MUCH_REPLACED] };
  const missing = unresolved.map(({ provider, name, key }) => ({
    reason: 'InterpolatedReferencedResourcesNotFound' as const,
    message: `the config asks for key "${key}" of ${provider} "${name}", which is not there`,
  }));
  const only = secretFields.length > 0 ? `only in ${secretFields.join(', ')}` : 'in no field of this filter';
  const wrong = misplaced.map(({ path, provider }) => ({
    reason: 'PlaceholderNotAllowed' as const,
    message: `config.${path.join('.')} asks for a value of a ${provider}; that is possible ${only}`,
  }));
  return { value, faults: [...missing, ...wrong] };
}
