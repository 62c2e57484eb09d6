/** Follows the references of a virtual cluster: to everything the proxy needs to serve it, or to what is missing. */
import type { NodeIdRange } from '../../resources/common/node-ids.ts';
import type { CertificateRef, TrustAnchorRef } from '../../resources/common/refs.ts';
import type { TlsParameters } from '../../resources/common/tls.ts';
import type { KafkaProxyIngress } from '../../resources/kroxylicious/kafka-proxy-ingress.ts';
import type { VirtualKafkaCluster } from '../../resources/kroxylicious/virtual-kafka-cluster.ts';
import { interpolate } from './interpolate.ts';
import { find } from './world.ts';
import type { KeyedText, ProxyWorld } from './world.ts';

/** Why a virtual cluster cannot be served. `path` is the field of the VirtualKafkaCluster that leads there. */
export interface Fault {
  reason: 'ReferencedResourcesNotFound' | 'InvalidReferencedResource' | 'NotSupported';
  path: readonly (string | number)[];
  message: string;
}

export interface KeyPair {
  certificate: string;
  privateKey: string;
}

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

export interface ResolvedTarget {
  bootstrapServers: string;
  nodeIdRanges: NodeIdRange[];
  tls: { trust: string | undefined; key: KeyPair | undefined; parameters: TlsParameters } | undefined;
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

export type Resolution = { ok: true; resolved: ResolvedCluster } | { ok: false; faults: Fault[] };

type Spec = VirtualKafkaCluster['spec'];

/** Follows every reference and reports all that is wrong, not just the first. Pure. */
export function resolveCluster(cluster: VirtualKafkaCluster, world: ProxyWorld): Resolution {
  const faults: Fault[] = [];
  const at = (path: Fault['path']): Reporter => {
    const because = (reason: Fault['reason']) => (message: string) => {
      faults.push({ reason, path, message });
      return undefined;
    };
    return {
      notFound: because('ReferencedResourcesNotFound'),
      invalid: because('InvalidReferencedResource'),
      notSupported: because('NotSupported'),
    };
  };
  const { namespace } = cluster.metadata;
  const { spec } = cluster;
  const proxy = find(world.proxies, namespace, spec.proxyRef.name);
  if (!proxy) at(['spec', 'proxyRef', 'name']).notFound(`no KafkaProxy is named "${spec.proxyRef.name}"`);

  const ingresses = spec.ingresses.flatMap((ref, index) => {
    const found = resolveIngress(ref, spec.proxyRef.name, namespace, world, at(['spec', 'ingresses', index]));
    return found ? [found] : [];
  });
  const target = resolveTarget(spec.targetCluster, namespace, world, at(['spec', 'targetCluster']));
  const refs = spec.filterRefs ?? proxy?.spec.defaultFilterRefs ?? [];
  const filters = refs.flatMap(({ name }, index) => {
    const found = resolveFilter(name, namespace, world, at(['spec', 'filterRefs', index]));
    return found ? [found] : [];
  });
  if (faults.length > 0 || !target) return { ok: false, faults };
  return { ok: true, resolved: { cluster, ingresses, target, filters } };
}

interface Reporter {
  notFound: (message: string) => undefined;
  invalid: (message: string) => undefined;
  notSupported: (message: string) => undefined;
}

function resolveIngress(
  ref: Spec['ingresses'][number],
  proxyName: string,
  namespace: string,
  world: ProxyWorld,
  report: Reporter,
): ResolvedIngress | undefined {
  const ingress = find(world.ingresses, namespace, ref.name);
  if (!ingress) return report.notFound(`no KafkaProxyIngress is named "${ref.name}"`);
  if (ingress.spec.proxyRef.name !== proxyName) {
    const message = `KafkaProxyIngress "${ref.name}" belongs to KafkaProxy "${ingress.spec.proxyRef.name}", not to "${proxyName}"`;
    return report.invalid(message);
  }
  const plain = ingress.spec.clusterIP?.protocol === 'TCP';
  if (plain && ref.tls) return report.invalid(`KafkaProxyIngress "${ref.name}" speaks TCP; remove tls`);
  if (plain) return { ingress, tls: undefined };
  if (!ref.tls || ref.tls.certificateRefs.length === 0) {
    return report.invalid(`KafkaProxyIngress "${ref.name}" speaks TLS; name a Secret in tls.certificateRefs`);
  }
  const keys = ref.tls.certificateRefs.flatMap((secret) => readKeyPair(secret, world, report) ?? []);
  const trust = readTrust(ref.tls.trustAnchorRefs, world, report);
  const { clientAuth } = ref.tls.trustOptions;
  return { ingress, tls: { keys, trust, clientAuth, parameters: ingress.spec.tls ?? {} } };
}

function resolveTarget(
  { clusterRef, tls }: Spec['targetCluster'],
  namespace: string,
  world: ProxyWorld,
  report: Reporter,
): ResolvedTarget | undefined {
  if (clusterRef.kind === 'Kafka') {
    return report.notSupported('a Kafka resource can only be followed in a cluster; name a KafkaClusterRef');
  }
  const found = find(world.clusterRefs, namespace, clusterRef.name);
  if (!found) return report.notFound(`no KafkaClusterRef is named "${clusterRef.name}"`);
  const { bootstrap, nodeIdRanges, tls: targetTls } = found.spec;
  const key = tls?.certificateRef && readKeyPair(tls.certificateRef, world, report);
  if (!targetTls) return { bootstrapServers: bootstrap, nodeIdRanges, tls: undefined };
  const { trustAnchorRefs, ...parameters } = targetTls;
  const trust = readTrust(trustAnchorRefs, world, report);
  return { bootstrapServers: bootstrap, nodeIdRanges, tls: { trust, key, parameters } };
}

function resolveFilter(
  name: string,
  namespace: string,
  world: ProxyWorld,
  report: Reporter,
): ResolvedFilter | undefined {
  const filter = find(world.filters, namespace, name);
  if (!filter) return report.notFound(`no KafkaProtocolFilter is named "${name}"`);
  const { value, unresolved } = interpolate(filter.spec.config, (provider, resource, key) => {
    const objects = provider === 'secret' ? world.secrets : world.configMaps;
    return find(objects, namespace, resource)?.data[key];
  });
  for (const { provider, name: resource, key } of unresolved) {
    report.notFound(
      `KafkaProtocolFilter "${name}" asks for key "${key}" of ${provider} "${resource}", which is not there`,
    );
  }
  return { name, type: filter.spec.type, config: value };
}

type Located<R> = R & { namespace: string };

function readKeyPair(ref: Located<CertificateRef>, world: ProxyWorld, report: Reporter): KeyPair | undefined {
  const secret = find(world.secrets, ref.namespace, ref.name);
  if (!secret) return report.notFound(`no Secret is named "${ref.name}"`);
  const { 'tls.crt': certificate, 'tls.key': privateKey } = secret.data;
  if (certificate && privateKey) return { certificate, privateKey };
  return report.invalid(
    `Secret "${ref.name}" lacks tls.crt or tls.key (make it with \`kubectl create secret tls\`)`,
  );
}

function readTrust(
  refs: readonly Located<TrustAnchorRef>[],
  world: ProxyWorld,
  report: Reporter,
): string | undefined {
  const bundles = refs.flatMap((ref) => {
    const configMap = find(world.configMaps, ref.namespace, ref.name);
    if (!configMap) report.notFound(`no ConfigMap is named "${ref.name}"`);
    const bundle = configMap && trustBundle(configMap, ref.key);
    if (configMap && !bundle)
      report.invalid(`ConfigMap "${ref.name}" has no ca.crt and no single other key; name one in key`);
    return bundle ?? [];
  });
  return bundles.length > 0 ? bundles.join('\n') : undefined;
}

function trustBundle({ data }: KeyedText, key: string | undefined): string | undefined {
  if (key !== undefined) return data[key];
  const values = Object.values(data);
  return data['ca.crt'] ?? data['ca-bundle.crt'] ?? (values.length === 1 ? values[0] : undefined);
}
