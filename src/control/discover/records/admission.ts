/**
 * Which names an object may claim at all, before others' claims count: not those that the DNS server's configuration has, and in a zone
 * with NamePolicies only what they allow.
 */
import type { NamePolicy } from '../../../resources/isthmus/name-policy.ts';
import { mayClaim, namespaceOf } from '../../shared/name-policy.ts';
import type { Claimant, UnreadablePolicy } from '../../shared/name-policy.ts';
import type { DnsRecord, RecordResult } from './dns-record.ts';
import type { Grant, GrantsAt } from './grants.ts';
import { kindOf } from './name-tree.ts';
import { NOTHING_CONFIGURED, reservedNames } from './reserved.ts';
import type { Configured, ReservedNames } from './reserved.ts';

/** Who claims names: an object of a namespace here, of other clusters, or both. */
export interface RecordOwner {
  namespace?: string;
  clusters?: readonly string[];
}

/** What is admitted of an object. */
export interface Admission {
  source: string;
  claimGroup: string;
  /** Undefined for what is never refused by policies. */
  owner?: RecordOwner | undefined;
  result: RecordResult;
}

export interface Admitted {
  records: DnsRecord[];
  names: string[];
  /** Why the rest is not, as events. */
  notes: Note[];
}

/** What an event says. */
export interface Note {
  reason: string;
  note: string;
}

export interface AdmissionOptions {
  configured?: Configured | undefined;
  policies?: (() => Policies) | undefined;
  /** The labels of a namespace. */
  labelsOf?: ((namespace: string) => Readonly<Record<string, string>> | undefined) | undefined;
  /** What is granted at a name, written down or not yet. */
  grantsAt?: GrantsAt | undefined;
}

/** The NamePolicies, and what is known of those that cannot be read. */
export interface Policies {
  policies: readonly NamePolicy[];
  unreadable?: readonly UnreadablePolicy[];
}

export interface Admissions {
  /** Reads anew what is reserved and which policies there are. */
  reload(): void;
  /** Whether policies decide about anything. */
  readonly hasPolicies: boolean;
  admit(object: Admission): Generator<undefined, Admitted>;
  /** An object is gone, with what it counted for. */
  forget(source: string): void;
  /** The objects that were refused for a limit that has room now. */
  takeFreed(): string[];
}

type Denied = { reason: 'NameReserved' | 'NameNotAllowed' | 'NameLimitReached'; note: string };

export function createAdmissions(options: AdmissionOptions): Admissions {
  const { configured = NOTHING_CONFIGURED, labelsOf = () => undefined, grantsAt = () => [] } = options;
  const quota = createQuota();
  /** Undefined while they have to be read anew. */
  let reserved: ReservedNames | undefined;
  /** None before the first `reload`: they may not have been read yet. */
  let { policies, unreadable = [] }: Policies = { policies: [] };

  function claimantOf({ namespace, clusters }: RecordOwner): Claimant {
    const ours = namespace === undefined ? {} : { namespace: namespaceOf(namespace, labelsOf(namespace)) };
    return { ...ours, ...(clusters && { clusters }) };
  }

  /** Why a name may not be claimed; by `used`, how many records the object has by each policy. */
  function deniedBy(
    { source, claimGroup, owner }: Admission,
    { name, type }: Pick<DnsRecord, 'name' | 'type'>,
    used: Map<NamePolicy, number>,
  ): Denied | undefined {
    const note = reserved?.problemOf({ name, type });
    if (note !== undefined) return { reason: 'NameReserved', note };
    const isOpen = policies.length + unreadable.length === 0 && type !== 'NS' && !name.startsWith('*.');
    if (!owner || isOpen) return undefined;
    const claim = { name, isDelegation: type === 'NS', claimant: claimantOf(owner) };
    const verdict = mayClaim(policies, claim, unreadable);
    const isOwn = ({ group }: Grant) => group === claimGroup;
    if (!verdict.allowed) {
      const isHeld = () => grantsAt(name).some((grant) => isOwn(grant) && grant.kind === kindOf(type));
      if (verdict.isUnclear && isHeld()) return undefined;
      return { reason: 'NameNotAllowed', note: verdict.problem };
    }
    const { by } = verdict;
    const { recordsPerObject = Infinity, namesPerNamespace = Infinity } = by?.spec.limits ?? {};
    if (!by || (recordsPerObject === Infinity && namesPerNamespace === Infinity)) return undefined;
    const policy = `NamePolicy "${by.metadata.name}"`;
    const records = (used.get(by) ?? 0) + 1;
    if (records > recordsPerObject)
      return { reason: 'NameLimitReached', note: `${policy} allows ${recordsPerObject} records an object` };
    const key = `${by.metadata.name} ${owner.namespace ?? ''} ${owner.clusters?.join() ?? ''}`;
    // What has been granted stays: in which order objects are read after a restart is chance.
    const limit = grantsAt(name).some(isOwn) ? Infinity : namesPerNamespace;
    if (!quota.take({ key, name, source, limit }))
      return { reason: 'NameLimitReached', note: `${policy} allows ${namesPerNamespace} names a namespace` };
    used.set(by, records);
    return undefined;
  }

  return {
    reload() {
      reserved = undefined;
      ({ policies, unreadable = [] } = options.policies?.() ?? { policies: [] });
    },
    get hasPolicies() {
      return policies.length + unreadable.length > 0;
    },
    *admit(object) {
      const admitted: Admitted = { records: [], names: [], notes: [] };
      const notes = new Map<string, Note>();
      const used = new Map<NamePolicy, number>();
      quota.release(object.source);
      reserved ??= yield* reservedNames(configured);
      for (const record of object.result.records) {
        const denied = deniedBy(object, record, used);
        if (denied) notes.set(denied.note, denied);
        else admitted.records.push(record);
        yield;
      }
      const own = new Set(object.result.records.map(({ name }) => name));
      for (const name of object.result.names ?? []) {
        const denied = own.has(name) ? reservedOnly(name) : deniedBy(object, { name, type: 'A' }, used);
        if (denied) notes.set(denied.note, denied);
        else if (!own.has(name) || admitted.records.some((record) => record.name === name))
          admitted.names.push(name);
      }
      admitted.notes = [...notes.values()];
      return admitted;
    },
    forget: (source) => quota.release(source),
    takeFreed: () => quota.takeFreed(),
  };

  function reservedOnly(name: string): Denied | undefined {
    const note = reserved?.problemOf({ name, type: 'A' });
    return note === undefined ? undefined : { reason: 'NameReserved', note };
  }
}

interface Taken {
  key: string;
  name: string;
  source: string;
  limit: number;
}

/** Counts the names of each key; several sources may claim one name. */
function createQuota() {
  const names = new Map<string, Map<string, Set<string>>>();
  const taken = new Map<string, Taken[]>();
  const waiting = new Map<string, Set<string>>();
  const freed = new Set<string>();
  return {
    take(one: Taken): boolean {
      const { key, name, source, limit } = one;
      const used = names.get(key) ?? new Map<string, Set<string>>();
      names.set(key, used);
      if (!used.has(name) && used.size >= limit) {
        waiting.set(key, (waiting.get(key) ?? new Set()).add(source));
        return false;
      }
      used.set(name, (used.get(name) ?? new Set()).add(source));
      const ofSource = taken.get(source);
      if (ofSource) ofSource.push(one);
      else taken.set(source, [one]);
      return true;
    },
    release(source: string): void {
      for (const { key, name } of taken.get(source) ?? []) {
        const sources = names.get(key)?.get(name);
        sources?.delete(source);
        if (sources?.size === 0) names.get(key)?.delete(name);
        freed.add(key);
      }
      taken.delete(source);
      for (const sources of waiting.values()) sources.delete(source);
    },
    takeFreed(): string[] {
      const sources = [...freed].flatMap((key) => [...(waiting.get(key) ?? [])]);
      for (const key of freed) waiting.delete(key);
      freed.clear();
      return [...new Set(sources)];
    },
  };
}
