/** One virtual cluster: what it refers to, where clients find it, and all that is wrong with it. */
import { ageOf } from '../../../kube/object.ts';
import { nodeIdsOf } from '../../../resources/common/node-ids.ts';
import { EMBEDDED } from '../../../resources/common/names.ts';
import type { KafkaProxyIngress } from '../../../resources/kroxylicious/kafka-proxy-ingress.ts';
import type { TlsParameters } from '../../../resources/common/tls.ts';
import type { VirtualKafkaCluster } from '../../../resources/kroxylicious/virtual-kafka-cluster.ts';
import type { Learned } from '../../kernel/reconcile.ts';
import type { ConfigRejections } from '../config/checks.ts';
import type { GatewayAddress, ServedCluster } from '../config/document.ts';
import { preventsService } from '../faults.ts';
import { nodeHost } from '../names.ts';
import type { Fault } from '../faults.ts';
import type { Point } from '../observed.ts';
import type { Allocated } from '../ports/ports.ts';
import { resolveParts } from '../resolve/resolve.ts';
import type { Part, ResolvedFilter, ResolvedIngress, ResolvedTarget } from '../resolve/resolve.ts';
import type { ProxySnapshot } from '../snapshot.ts';
import { evaluateCertificates, evaluateClientCertificate } from './certificates.ts';
import { heldAddress, markHeld } from './last-good.ts';
import type { AddressResult, EvaluatedIngress, IngressModel, PlacelessFault, Platform } from './platform.ts';
import type { ResolvedReferences } from './platform.ts';

/** One ingress of one virtual cluster. */
export interface ClusterIngress {
  name: string;
  faults: Fault[];
  resolved: ResolvedIngress | undefined;
  ingress: KafkaProxyIngress | undefined;
  model: IngressModel | undefined;
  address: GatewayAddress | undefined;
  hosts: string[];
  points: Point[];
}

export interface EvaluatedCluster {
  cluster: VirtualKafkaCluster;
  /** Faults of the whole; those of its parts are with the parts. */
  faults: Fault[];
  target: ResolvedTarget | undefined;
  filters: Part<ResolvedFilter>[];
  /** Those that are used in their place, as they were last good. */
  heldFilters?: readonly ResolvedFilter[];
  ingresses: ClusterIngress[];
  /** When a certificate begins or ends. */
  changesAt: number | undefined;
}

export interface ClusterContext {
  platform: Platform;
  ingresses: readonly EvaluatedIngress[];
  allocated: Allocated;
  now: number;
}

/** Follows the references, and adds what the proxy's own checks rejected. */
export function resolveReferences(
  cluster: VirtualKafkaCluster,
  snapshot: ProxySnapshot,
  { checked }: Learned<ConfigRejections>,
): ResolvedReferences {
  const { faults, target, filters, ingresses } = resolveParts(cluster, snapshot);
  const rejection = checked?.clusters.get(cluster.metadata.name);
  const rejected: Fault[] =
    rejection === undefined ? [] : [{ reason: 'Invalid', path: ['spec'], message: rejection }];
  return {
    cluster,
    faults: [...faults, ...(snapshot.cluster ? embeddedFaults(cluster, target) : []), ...rejected],
    target,
    filters: filters.map((filter) => {
      const problem = checked?.filters.get(filter.name);
      if (problem === undefined) return filter;
      const message = `KafkaProtocolFilter "${filter.name}": ${problem}`;
      const fault: Fault = { reason: 'Invalid', path: filter.path, message };
      return { ...filter, faults: [...filter.faults, fault] };
    }),
    ingresses,
  };
}

function embeddedFaults({ spec }: VirtualKafkaCluster, target: ResolvedTarget | undefined): Fault[] {
  if (target?.bootstrapServers !== EMBEDDED) return [];
  const message = `KafkaClusterRef "${spec.targetCluster.clusterRef.name}" asks for an embedded Kafka, which only \`isthmus up\` has; write the address of a cluster`;
  return [{ reason: 'NotSupported', path: ['spec', 'targetCluster'], message }];
}

const CLIENT_CERTIFICATE = ['spec', 'targetCluster', 'tls', 'certificateRef'];

export function evaluateCluster(resolved: ResolvedReferences, context: ClusterContext): EvaluatedCluster {
  const { cluster, target, filters } = resolved;
  const clientKey = target?.tls?.key;
  const client = clientKey && evaluateClientCertificate(clientKey, context.now);
  const ingresses = resolved.ingresses.map((part, index) =>
    evaluateClusterIngress(part, ['spec', 'ingresses', index], resolved, context),
  );
  const times = [client, ...ingresses].flatMap((one) => one?.changesAt ?? []);
  return {
    cluster,
    faults: [
      ...resolved.faults,
      ...(client?.faults ?? []).map((fault) => ({ ...fault, path: CLIENT_CERTIFICATE })),
    ],
    target,
    filters,
    ...(resolved.heldFilters && { heldFilters: resolved.heldFilters }),
    ingresses: ingresses.map(({ changesAt: _, ...ingress }) => ingress),
    changesAt: times.length > 0 ? Math.min(...times) : undefined,
  };
}

function evaluateClusterIngress(
  { name, found: followed, faults }: Part<ResolvedIngress>,
  path: Fault['path'],
  references: ResolvedReferences,
  context: ClusterContext,
): ClusterIngress & { changesAt: number | undefined } {
  const { cluster } = references;
  const evaluated = context.ingresses.find(
    ({ ingress: { metadata } }) =>
      metadata.name === name && metadata.namespace === cluster.metadata.namespace,
  );
  const located = locateOrHold(name, evaluated, references, followed !== undefined, context);
  const resolved = followed && withParameters(followed, located.parameters);
  const { address, hosts, points } = located.result;
  const coverage =
    resolved?.tls && hosts.length > 0
      ? evaluateCertificates(resolved.tls.keys, hosts, context.now)
      : undefined;
  const found = [...located.faults, ...(coverage?.faults ?? [])];
  return {
    name,
    faults: [...faults, ...found.map((fault) => ({ ...fault, path }))],
    resolved,
    ingress: located.model && evaluated?.ingress,
    model: located.model,
    address,
    hosts,
    points,
    changesAt: coverage?.changesAt,
  };
}

interface LocatedIngress {
  faults: PlacelessFault[];
  /** Absent where the ingress is of no use. */
  model?: IngressModel;
  result?: AddressResult;
}

interface Location extends LocatedIngress {
  result: AddressResult;
  /** How TLS was spoken at an address of before. */
  parameters?: TlsParameters | undefined;
}

/** What is wrong with an ingress may be just that. */
function withParameters(ingress: ResolvedIngress, parameters: TlsParameters | undefined): ResolvedIngress {
  return ingress.tls && parameters ? { ...ingress, tls: { ...ingress.tls, parameters } } : ingress;
}

const NOWHERE: AddressResult = { address: undefined, hosts: [], points: [], faults: [] };

/** Finds model and address; where there is none now, it is the address of before. */
function locateOrHold(
  name: string,
  evaluated: EvaluatedIngress | undefined,
  references: ResolvedReferences,
  isUsable: boolean,
  context: ClusterContext,
): Location {
  const { cluster, target, isWhole = false } = references;
  const located = evaluated ? locate(evaluated, cluster, target, context) : { faults: [] };
  const result = located.result ?? NOWHERE;
  const isLacking = isWhole || !result.address || located.faults.some(preventsService);
  const held = isUsable && isLacking ? heldAddress(references, name, context.allocated) : undefined;
  if (!held) return { ...located, result };
  const faults = markHeld(located.faults);
  const parameters = references.last?.()?.ingresses.get(name)?.tls?.parameters;
  const isNew = result.address && !isWhole;
  return {
    ...located,
    faults,
    parameters,
    result: isNew ? result : { ...result, address: held, hosts: hostsOf(held, target) },
  };
}

function hostsOf(address: GatewayAddress, target: ResolvedTarget | undefined): string[] {
  if (address.by === 'port') return [address.bootstrapHost];
  const nodes = nodeIdsOf(target?.nodeIdRanges ?? []).map((node) => nodeHost(address.brokerPattern, node));
  return [address.bootstrapHost, ...nodes];
}

/** Finds model and address, whatever else is wrong with the virtual cluster: others depend on who has which name. */
function locate(
  { ingress, model, faults }: EvaluatedIngress,
  { metadata, spec }: VirtualKafkaCluster,
  target: ResolvedTarget | undefined,
  { platform, allocated }: ClusterContext,
): LocatedIngress {
  const { name } = ingress.metadata;
  const blocking = faults.filter(preventsService);
  const inherited = [
    // That there is no such proxy is said of the virtual cluster itself.
    ...blocking.flatMap(({ message, path }): PlacelessFault[] =>
      path[1] === 'proxyRef'
        ? []
        : [
            {
              reason: 'TransitivelyReferencedResourcesNotFound',
              message: `KafkaProxyIngress "${name}": ${message}`,
            },
          ],
    ),
    ...faults.flatMap(({ reason, message }) => (reason === 'Denied' ? [{ reason, message }] : [])),
  ];
  // How TLS is spoken does not change where: Services and addresses stay.
  const isNowhere = blocking.some(({ path }) => path[1] !== 'tls');
  if (!model || isNowhere) return { faults: inherited };
  if (!target && model.by === 'clusterIP') return { faults: inherited, model };
  const nodeIdRanges = target?.nodeIdRanges ?? [];
  const { name: cluster, namespace } = metadata;
  const wishes = spec.ingresses.find((one) => one.name === name)!.infrastructure;
  const where = { cluster, ingress: name, namespace, ingressSpec: ingress.spec };
  const request = { ...where, model, nodeIdRanges, wishes };
  const result = platform.address(request, allocated);
  return { faults: [...inherited, ...result.faults], model, result };
}

/** Sorts virtual clusters by age, the older first. */
export const byAge = (a: EvaluatedCluster, b: EvaluatedCluster) =>
  ageOf(a.cluster.metadata) < ageOf(b.cluster.metadata) ? -1 : 1;

function proxyProtocolOf({ ingress }: ResolvedIngress): Pick<GatewayAddress, 'proxyProtocol'> {
  return ingress?.spec.proxyProtocol ? { proxyProtocol: ingress.spec.proxyProtocol } : {};
}

/** The virtual cluster as its proxy is to serve it: by those of its ingresses that work. */
export function servedCluster(evaluated: EvaluatedCluster): ServedCluster | undefined {
  const { cluster, target, filters, heldFilters } = evaluated;
  const broken = [...evaluated.faults, ...filters.flatMap(({ faults }) => faults)].some(preventsService);
  if (broken || !target) return undefined;
  const ingresses = evaluated.ingresses.flatMap(({ name, resolved, address, faults }) =>
    resolved && address && !faults.some(preventsService)
      ? [{ name, tls: resolved.tls, address: { ...address, ...proxyProtocolOf(resolved) } }]
      : [],
  );
  if (ingresses.length === 0) return undefined;
  return {
    name: cluster.metadata.name,
    target,
    ingresses,
    filters: heldFilters ?? filters.flatMap(({ found }) => found ?? []),
    hasHeldFilters: heldFilters !== undefined,
  };
}
