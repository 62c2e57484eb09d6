/**
 * Who has the names of brokers. A name leads to one cluster only: who was granted it first has it, and that is written down before
 * it is used. A pattern claims the names of all node ids, since clusters grow. NamePolicies decide who may claim what. Pure.
 */
import { createHostIndex } from '../../shared/host-index.ts';
import type { HostIndex } from '../../shared/host-index.ts';
import { NODE_ID } from '../../shared/host-patterns.ts';
import { createHostPolicy } from '../../shared/host-policy.ts';
import type { ClaimedHosts, HostPolicy, PolicySight } from '../../shared/host-policy.ts';
import type { Fault } from '../faults.ts';
import type { Charter, NameGrant } from '../model/charter.ts';
import type { Listener } from '../model/cluster.ts';
import { ID_TOKEN, exposedHost } from './names.ts';

/** Names of another Kafka. */
export interface OthersGrant extends NameGrant {
  kafka: { namespace: string; name: string };
}

/** What there is to know of others, and of what policies allow. */
export interface NameSight extends Omit<PolicySight, 'grantsBeside'> {
  others: readonly OthersGrant[];
  /** What other roads publish; asked for only where somebody wants names anew. */
  published: () => HostIndex;
}

export interface SeenNames extends NameSight {
  kafka: { namespace: string; name: string };
  /** What was written down, by listener. */
  recorded: Charter['names'];
  /** Listeners that are to come: what they were granted stays theirs. */
  waiting: readonly string[];
  /** How many brokers there are. */
  brokers: number;
  now: number;
}

export interface GrantedNames {
  /** All that can be had now. */
  listeners: Listener[];
  /** All that are to be written down. */
  names: Charter['names'];
  faults: Fault[];
}

/** Names that plans have given out, all of them made from one version of the anchor: others may not see the next one yet. */
export interface Promised {
  /** Undefined: there was no anchor. */
  version: string | undefined;
  grants: readonly NameGrant[];
}

/**
 * With the names of one more plan. What was given out before stays promised until the anchor is seen in another version: only one write over
 * the same version can have succeeded, nobody knows which, and whatever it was is seen then.
 */
export function promisedAlso(
  before: Promised | undefined,
  version: string | undefined,
  names: Charter['names'],
): Promised {
  const now = Object.values(names);
  const earlier = before && before.version === version ? before.grants : [];
  const isNew = ({ pattern }: NameGrant) => now.every((one) => one.pattern !== pattern);
  return { version, grants: [...now, ...earlier.filter(isNew)] };
}

type NameFault = Pick<Fault, 'reason' | 'message'>;

/** What decides about a name. */
interface Judges {
  policy: HostPolicy;
  taken: (pattern: string, since: string | undefined) => NameFault | undefined;
}

/** Names of one Kafka do not conflict with each other: they lead to the same brokers. */
export function grantNames(listeners: readonly Listener[], seen: SeenNames): GrantedNames {
  const { kafka, waiting, others } = seen;
  // Listeners may be called like something that every object has.
  const recorded = new Map(Object.entries(seen.recorded));
  const granted = others.filter(({ since }) => since !== undefined);
  const grantsBeside = granted.filter((one) => one.kafka.namespace === kafka.namespace).map(hostsOf);
  const policy = createHostPolicy(kafka.namespace, { ...seen, grantsBeside });
  const rivals = rivalsOf(granted);
  const judges: Judges = {
    policy,
    taken: (pattern, since) => takenFault(kafka, { rivals, published: seen.published }, pattern, since),
  };
  const names = new Map([...recorded].filter(([name]) => waiting.includes(name)));
  const faults: Fault[] = [];
  const served = listeners.flatMap((listener): Listener[] => {
    const { name, exposure } = listener;
    if (exposure?.hostPattern === undefined) return [listener];
    const wanted = { pattern: exposure.hostPattern, count: seen.brokers + 1 };
    const { grant, fault } = decide(wanted, recorded.get(name), judges, seen.now);
    if (fault) faults.push(faultOf(name, fault, grant));
    if (!grant) return [];
    names.set(name, grant);
    if (grant.since !== undefined) policy.take(hostsOf(grant));
    const isWithdrawn = grant.since === undefined;
    return [{ ...listener, exposure: { ...exposure, hostPattern: grant.pattern, isWithdrawn } }];
  });
  return { listeners: served, names: Object.fromEntries(names), faults };
}

function decide(
  wanted: Omit<NameGrant, 'since'>,
  before: NameGrant | undefined,
  { policy, taken }: Judges,
  now: number,
): { grant?: NameGrant; fault?: NameFault } {
  const faultIn = ({ pattern, count }: NameGrant, since: string | undefined) =>
    policy.faultOf(hostsOf({ pattern, count }), since !== undefined) ?? taken(pattern, since);
  const since = before?.pattern === wanted.pattern ? before.since : undefined;
  const fault = faultIn(wanted, since);
  if (!fault) return { grant: { ...wanted, since: since ?? new Date(now).toISOString() } };
  if (!before) return { fault };
  const former = { ...wanted, pattern: before.pattern };
  // Clients know it, and it is nobody else's.
  if (before.since !== undefined && !faultIn(former, before.since))
    return { grant: { ...former, since: before.since }, fault };
  // Policies often come one after the other: brokers are not restarted for that, but their names lead nowhere meanwhile.
  return taken(former.pattern, undefined) ? { fault } : { grant: former, fault };
}

/** In the words of those who decide about names. */
const hostsOf = ({ pattern, count }: Omit<NameGrant, 'since'>): ClaimedHosts => ({
  bootstrap: exposedHost(pattern, 'bootstrap'),
  brokers: pattern.replace(ID_TOKEN, NODE_ID),
  count,
});

const rankOf = (since: string, { namespace, name }: OthersGrant['kafka']) => `${since} ${namespace}/${name}`;

function rivalsOf(granted: readonly OthersGrant[]): HostIndex {
  const index = createHostIndex();
  for (const { kafka, since = '', ...grant } of granted) {
    const holder = `Kafka "${kafka.name}" in namespace "${kafka.namespace}"`;
    const { bootstrap, brokers } = hostsOf(grant);
    for (const host of [bootstrap, brokers]) index.add(host, { holder, rank: rankOf(since, kafka) });
  }
  return index;
}

/** Whoever was granted nothing comes after all that were. */
function takenFault(
  kafka: OthersGrant['kafka'],
  { rivals, published }: { rivals: HostIndex; published: NameSight['published'] },
  pattern: string,
  since: string | undefined,
): NameFault | undefined {
  const { bootstrap, brokers } = hostsOf({ pattern, count: 1 });
  const findIn = (index: HostIndex) => [bootstrap, brokers].flatMap((host) => index.find(host) ?? []);
  const found =
    since === undefined
      ? [...findIn(rivals), ...findIn(published())][0]
      : findIn(rivals).find(({ rank }) => rank < rankOf(since, kafka));
  if (!found) return undefined;
  const isProposed = pattern.startsWith(`${ID_TOKEN}.${kafka.name}.`);
  const advice = isProposed
    ? 'choose another subdomain'
    : 'set hostPattern: $(id).$(cluster).$(subdomain) in the configuration of the listener, or choose another subdomain';
  const host = found.host.replace(NODE_ID, '<id>');
  const message = `the host name ${host} belongs to ${found.holder}, which had it first; ${advice}`;
  return { reason: 'HostNameTaken', message };
}

function faultOf(listener: string, { reason, message }: NameFault, grant: NameGrant | undefined): Fault {
  const meanwhile = !grant
    ? 'the listener is left out until it has a name'
    : grant.since === undefined
      ? 'the listener stays, and its names are not published'
      : `the listener goes on as ${exposedHost(grant.pattern, 'bootstrap')}`;
  return {
    reason,
    path: ['spec', 'kafka', 'listeners'],
    message: `listener "${listener}": ${message}; ${meanwhile}`,
  };
}
