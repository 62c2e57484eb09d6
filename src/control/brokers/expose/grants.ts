/**
 * Who has the names of brokers. A name leads to one cluster only: who was granted it first has it, and that is written down before
 * it is used. A pattern claims the names of all node ids, since clusters grow. NamePolicies decide who may claim what. Pure.
 */
import { createHostIndex } from '../../shared/host-index.ts';
import type { HostIndex } from '../../shared/host-index.ts';
import { NODE_ID } from '../../shared/host-patterns.ts';
import { createHostPolicy } from '../../shared/host-policy.ts';
import type { ClaimedHosts, PolicySight } from '../../shared/host-policy.ts';
import type { NameGrant } from '../model/charter.ts';
import { ANY_ID_TOKEN, ID_TOKEN, exposedHost } from './names.ts';
import type { ClusterName, OthersGrant } from './promised.ts';

/** What there is to know of others, and of what policies allow. */
export interface NameSight extends Omit<PolicySight, 'grantsBeside'> {
  /** What other clusters with brokers of their own were granted. */
  others: readonly OthersGrant[];
  /** What others publish; asked for only where somebody wants names anew. */
  published: () => HostIndex;
}

/** Names that a cluster wants, or has. */
export type Names = Omit<NameGrant, 'since'>;

export interface NameFault {
  reason: 'HostNameTaken' | 'HostNameNotAllowed' | 'HostNameLimitReached';
  message: string;
}

export interface NameVerdict {
  /** Undefined if there is no name to be had. */
  grant?: NameGrant;
  fault?: NameFault;
}

/** Decides about names that one cluster wants, and had before; names of one cluster do not conflict with each other. */
export type NameJudge = (wanted: Names, before: NameGrant | undefined) => NameVerdict;

export function judgeOfNames(cluster: ClusterName, seen: NameSight & { now: number }): NameJudge {
  const granted = seen.others.filter(({ since }) => since !== undefined);
  const isBeside = ({ cluster: { kind, namespace } }: OthersGrant) =>
    kind === cluster.kind && namespace === cluster.namespace;
  // What is promised is written down a moment later, and then seen twice.
  const beside = granted.filter(isBeside).map((one) => [`${one.cluster.name} ${one.pattern} ${bootstrapOf(one)}`, hostsOf(one)] as const); // prettier-ignore
  const grantsBeside = [...new Map(beside).values()];
  const policy = createHostPolicy(cluster.namespace, { ...seen, grantsBeside });
  const rivals = rivalsOf(granted);
  const taken = (names: Names, since: string | undefined) =>
    takenFault(cluster, { rivals, published: seen.published }, names, since);
  const faultIn = (names: Names, since: string | undefined) =>
    policy.faultOf(hostsOf(names), since !== undefined) ?? taken(names, since);

  function decide(wanted: Names, before: NameGrant | undefined): NameVerdict {
    const since = before && isSame(before, wanted) ? before.since : undefined;
    const fault = faultIn(wanted, since);
    if (!fault) return { grant: { ...wanted, since: since ?? new Date(seen.now).toISOString() } };
    if (!before) return { fault };
    const { since: formerSince, ...names } = before;
    const former = { ...names, count: wanted.count };
    // Clients know it, and it is nobody else's.
    if (formerSince !== undefined && !faultIn(former, formerSince))
      return { grant: { ...former, since: formerSince }, fault };
    // Policies often come one after the other: brokers are not restarted for that, but their names lead nowhere meanwhile.
    return taken(former, undefined) ? { fault } : { grant: former, fault };
  }

  return (wanted, before) => {
    const verdict = decide(wanted, before);
    if (verdict.grant?.since !== undefined) policy.take(hostsOf(verdict.grant));
    return verdict;
  };
}

export const bootstrapOf = ({ pattern, bootstrap }: Omit<Names, 'count'>): string =>
  bootstrap ?? exposedHost(pattern, 'bootstrap');

export const isSame = (one: Omit<Names, 'count'>, other: Omit<Names, 'count'>): boolean =>
  one.pattern === other.pattern && bootstrapOf(one) === bootstrapOf(other);

/** In the words of those who decide about names. */
export const hostsOf = (names: Names): ClaimedHosts => ({
  bootstrap: bootstrapOf(names),
  brokers: names.pattern.replaceAll(ANY_ID_TOKEN, NODE_ID),
  count: names.count,
});

const rankOf = (since: string, { kind, namespace, name }: ClusterName) =>
  `${since} ${namespace}/${name} ${kind}`;

/** After all that were granted. */
const UNPROVEN = '~';

function rivalsOf(granted: readonly OthersGrant[]): HostIndex {
  const index = createHostIndex();
  for (const { cluster, since = '', isUnproven, ...grant } of granted) {
    const holder = `${cluster.kind} "${cluster.name}" in namespace "${cluster.namespace}"`;
    const { bootstrap, brokers } = hostsOf(grant);
    for (const host of [bootstrap, brokers])
      index.add(host, { holder, rank: isUnproven ? UNPROVEN : rankOf(since, cluster) });
  }
  return index;
}

/** Whoever was granted nothing comes after all that were. */
function takenFault(
  cluster: ClusterName,
  { rivals, published }: { rivals: HostIndex; published: NameSight['published'] },
  names: Names,
  since: string | undefined,
): NameFault | undefined {
  const { bootstrap, brokers } = hostsOf(names);
  const findIn = (index: HostIndex) => [bootstrap, brokers].flatMap((host) => index.find(host) ?? []);
  const found =
    since === undefined
      ? [...findIn(rivals), ...findIn(published())][0]
      : findIn(rivals).find(({ rank }) => rank < rankOf(since, cluster));
  if (!found) return undefined;
  const host = found.host.replace(NODE_ID, '<id>');
  const message = `the host name ${host} belongs to ${found.holder}, which had it first; ${adviceTo(cluster, names)}`;
  return { reason: 'HostNameTaken', message };
}

function adviceTo({ kind, name }: ClusterName, { pattern }: Names): string {
  if (pattern.startsWith(`${ID_TOKEN}.${name}.`)) return 'choose another subdomain';
  const where = kind === 'Kafka' ? ' in the configuration of the listener' : '';
  return `set hostPattern: $(id).$(cluster).$(subdomain)${where}, or choose another subdomain`;
}
