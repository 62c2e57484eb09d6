/**
 * What goes on as it was last good, where it cannot be had as it should be now: something referred to is missing or invalid, an
 * address cannot be told, or the proxy rejects it. It is taken from the configuration that was written last, so what was never
 * good is not served. Three things end it: its owner takes it away (a virtual cluster, an ingress), somebody takes a permission
 * back (a ReferenceGrant), or a name belongs to someone else.
 */
import type { Learned } from '../../kernel/reconcile.ts';
import type { ConfigRejections } from '../config/checks.ts';
import { moduleOf } from '../../../ops/filter-module.ts';
import { ownName } from '../config/document.ts';
import type { GatewayAddress, ServedCluster } from '../config/document.ts';
import { readLastGood } from '../config/last-good.ts';
import type { LastGood } from '../config/last-good.ts';
import type { ConfigPart } from '../config/planned-config.ts';
import { preventsService } from '../faults.ts';
import type { Fault } from '../faults.ts';
import { SHARED, blockOwner } from '../names.ts';
import type { Allocated } from '../ports/ports.ts';
import type { FilterPolicy, Part, ResolvedFilter, ResolvedIngress } from '../resolve/resolve.ts';
import { find, unreadableIn } from '../snapshot.ts';
import type { ProxySnapshot } from '../snapshot.ts';
import type { ResolvedReferences } from './platform.ts';

/** Marks faults that take nothing away, since what was last good goes on. */
export const markHeld = <F extends Omit<Fault, 'path'>>(faults: readonly F[]): F[] =>
  faults.map((fault) => ({ ...fault, held: true }));

/** Whether an ingress is there and belongs to a proxy, even if it cannot be read. */
export function hasIngress(snapshot: ProxySnapshot, namespace: string, name: string, proxy: string): boolean {
  const ingress = find(snapshot.ingresses, namespace, name);
  if (ingress) return ingress.spec.proxyRef.name === proxy;
  return unreadableIn(snapshot, 'KafkaProxyIngress', namespace, name) !== undefined;
}

/** Puts what was last good in the place of references that lead nowhere. */
export function holdReferences(
  resolved: ResolvedReferences,
  part: ConfigPart | undefined,
  snapshot: ProxySnapshot,
  policy: FilterPolicy,
  { checked }: Learned<ConfigRejections>,
): ResolvedReferences {
  const { name } = resolved.cluster.metadata;
  if (!part || checked?.hopeless.has(name)) return resolved;
  const last = () => readLastGood(part);
  const isRejected = checked?.clusters.has(name) ?? false;
  const isBroken = [resolved, ...resolved.filters, ...resolved.ingresses].some(
    ({ faults }) => faults.length > 0,
  );
  const before = isRejected || isBroken ? last() : undefined;
  if (!before) return { ...resolved, last };
  if (resolved.faults.some((fault) => isWithdrawal(fault, snapshot))) return resolved;
  const isWhole =
    isRejected || resolved.ingresses.some((one) => changesProtocol(one, resolved, before, snapshot));
  const holdsFilters = isWhole || resolved.filters.some((filter) => filter.faults.some(preventsService));
  const filters = holdsFilters ? heldFilters(before.filters, policy) : undefined;
  if (holdsFilters && !filters) return resolved;
  const replaced = held(resolved, before, isWhole, snapshot);
  return { ...replaced, last, ...(filters && { heldFilters: filters }) };
}

/** Nobody who may not refer to something any more goes on using it; but that nobody can say who may is no withdrawal. */
const isWithdrawal = ({ reason }: Fault, { cluster }: ProxySnapshot) =>
  reason === 'RefNotPermitted' && cluster?.grants !== undefined;

function held(
  resolved: ResolvedReferences,
  before: LastGood,
  isWhole: boolean,
  snapshot: ProxySnapshot,
): ResolvedReferences {
  const { faults, target, filters, ingresses } = resolved;
  const ofProxy = faults.filter(({ path }) => path[1] === 'proxyRef');
  const ofRest = faults.filter(({ path }) => path[1] !== 'proxyRef');
  return {
    ...resolved,
    isWhole,
    faults: [...ofProxy, ...markHeld(ofRest)],
    target: isWhole || ofRest.some(preventsService) ? before.target : target,
    filters: filters.map((filter) => ({ ...filter, faults: markHeld(filter.faults) })),
    ingresses: ingresses.map((part) => heldIngress(part, resolved, before, isWhole, snapshot)),
  };
}

function heldIngress(
  part: Part<ResolvedIngress>,
  { cluster: { metadata, spec } }: ResolvedReferences,
  before: LastGood,
  isWhole: boolean,
  snapshot: ProxySnapshot,
): Part<ResolvedIngress> {
  const { name, faults } = part;
  if (faults.length === 0 && !isWhole) return part;
  const known = before.ingresses.get(name);
  const isGone = !hasIngress(snapshot, metadata.namespace, name, spec.proxyRef.name);
  // Among the rest there may be what the proxy rejects.
  if (!known || isGone) return { ...part, found: undefined };
  if (faults.some((fault) => isWithdrawal(fault, snapshot))) return part;
  const ingress = find(snapshot.ingresses, metadata.namespace, name);
  // Which TLS may be spoken is the admin's to say, whatever becomes of a tenant's certificates.
  const parameters = isWhole || !ingress ? known.tls?.parameters : ingress.spec.tls;
  const tls = known.tls && { ...known.tls, parameters: parameters ?? {} };
  return { ...part, found: { ingress, tls }, faults: markHeld(faults) };
}

/** Certificates of before are of no use to an ingress of another protocol, so that all of before goes on. */
function changesProtocol(
  { name, faults }: Part<ResolvedIngress>,
  { cluster: { metadata } }: ResolvedReferences,
  before: LastGood,
  snapshot: ProxySnapshot,
): boolean {
  const known = before.ingresses.get(name);
  const ingress = find(snapshot.ingresses, metadata.namespace, name);
  if (!known || !ingress || faults.length === 0) return false;
  return (known.tls === undefined) !== (ingress.spec.clusterIP?.protocol === 'TCP');
}

/**
 * Filters of before, with those that the proxy demands now: no mistake of a tenant's leaves them out. Undefined if one comes from
 * a package that is not allowed any more.
 */
function heldFilters(before: readonly ResolvedFilter[], policy: FilterPolicy): ResolvedFilter[] | undefined {
  const isAllowed = ({ type }: ResolvedFilter) => {
    const module = moduleOf(type);
    return module === undefined || policy.modules.some(({ name }) => name === module);
  };
  if (!before.every(isAllowed)) return undefined;
  const demanded = new Set([...policy.first, ...policy.last].map(({ name }) => name));
  const follow = ({ name, found }: FilterPolicy['first'][number]) =>
    found ?? before.find((filter) => ownName(filter) === name) ?? [];
  return [
    ...policy.first.flatMap(follow),
    ...before.filter((filter) => !demanded.has(ownName(filter))),
    ...policy.last.flatMap(follow),
  ];
}

/** The address that one ingress of a virtual cluster had, if the ports behind it are still its own. */
export function heldAddress(
  { cluster, last }: ResolvedReferences,
  ingress: string,
  allocated: Allocated,
): GatewayAddress | undefined {
  const address = last?.()?.ingresses.get(ingress)?.address;
  return address && ownsPort(address, cluster.metadata.name, ingress, allocated) ? address : undefined;
}

function ownsPort(
  { by, listenPort }: GatewayAddress,
  cluster: string,
  ingress: string,
  { allocation: { held } }: Allocated,
): boolean {
  const block = held[blockOwner(by === 'port' ? cluster : SHARED, ingress)];
  return block !== undefined && listenPort >= block.start && listenPort < block.start + block.size;
}

/** A virtual cluster as it was last good, by those of its ingresses that may go on; undefined if there are none. */
export function heldCluster(
  part: ConfigPart,
  mayGoOn: (ingress: string) => boolean,
  policy: FilterPolicy,
  allocated: Allocated,
): ServedCluster | undefined {
  const last = readLastGood(part);
  const filters = last && heldFilters(last.filters, policy);
  if (!last || !filters) return undefined;
  const { name, target } = last;
  const ingresses = [...last.ingresses].flatMap(([ingress, { tls, address }]) =>
    mayGoOn(ingress) && ownsPort(address, name, ingress, allocated) ? [{ name: ingress, tls, address }] : [],
  );
  return ingresses.length > 0 ? { name, target, ingresses, filters, hasHeldFilters: true } : undefined;
}
