/** Gives the DNS server the records that were granted, and reports to the owners of objects which names were not. */
import type { EventRecorder } from '../../../kube/write/events.ts';
import { hashOf } from '../../../kube/json.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Log } from '../../../ops/log.ts';
import { createShardedMap } from '../../../ops/sharded-map.ts';
import { inSlices } from '../../../ops/time-slice.ts';
import { createAdmissions } from './admission.ts';
import type { AdmissionOptions, Note, RecordOwner } from './admission.ts';
import { createClaims } from './claims.ts';
import type { Evaluation } from './claims.ts';
import type { DnsRecord, RecordResult, RecordSink } from './dns-record.ts';
import type { GrantBook, Granted } from './grant-book.ts';

/** The records of one object, and where its problems are reported. */
export interface ObjectRecords {
  source: string;
  claimGroup: string;
  /** The object that gets the events; undefined for objects of other clusters, where another installation reports. */
  object: KubeObject | undefined;
  /** Whom NamePolicies decide about. */
  owner?: RecordOwner;
  since: string;
  result: RecordResult;
  /** The reason of events about problems in the object itself. */
  reason: string;
}

export interface Publisher {
  /** Replaces all records that were published under a key, e.g. those of an object or of an exported service. */
  publish(key: string, entries: readonly ObjectRecords[]): Promise<void>;
  /** Decides anew about all objects, or those of a namespace: what is reserved has changed, or what policies allow. */
  reconsider(namespace?: string): Promise<void>;
  /** Decides anew about names whose grants have been written down, or taken out. */
  regrant(names: Iterable<string>): Promise<void>;
  /** What is granted here. */
  readonly granted: Granted;
  /** How many objects have a name that is not served. */
  readonly refusedObjects: number;
}

export interface PublisherOptions extends Omit<AdmissionOptions, 'grantsAt'> {
  sink: RecordSink;
  /** Grants that are written down; none if left out. */
  grants?: Pick<GrantBook, 'grantsAt' | 'note'>;
  events: EventRecorder;
  log: Log;
}

const ACTION = 'PublishName';
/** The most events about one object at a time: whoever may write one object must not be able to flood the log. */
const MAX_EVENTS = 20;

export function createPublisher(options: PublisherOptions): Publisher {
  const { sink, grants, events, log } = options;
  const objects = createShardedMap<ObjectRecords>();
  /** A hash of what was last reported about each source, so that it is reported once. */
  const reported = new Map<string, string>();
  /** The sources that were published under each key. */
  const sources = createShardedMap<ReadonlySet<string>>();
  const claims = createClaims(grants && { grantsAt: grants.grantsAt, onGranted: grants.note });
  const admissions = createAdmissions({
    ...options,
    grantsAt: (name) => [...(grants?.grantsAt(name) ?? []), ...claims.grantsOf(name)],
  });
  /** Why records of a source may not even be claimed. */
  const denied = new Map<string, readonly Note[]>();
  /** The parts of sources that are too large for one change of the DNS server. */
  const inParts = new Map<string, ReadonlySet<string>>();

  function* claim(entry: ObjectRecords): Steps {
    const { source, claimGroup, since } = entry;
    const { records, names, notes } = yield* admissions.admit(entry);
    if (notes.length > 0) denied.set(source, notes);
    else denied.delete(source);
    yield* apply(yield* claims.set({ source, claimGroup, since, records, names }));
  }

  function* apply(evaluations: readonly Evaluation[]): Steps {
    const rejected = new Set<Evaluation>();
    for (const evaluation of evaluations) {
      yield;
      if (evaluation.isChanged && (yield* serve(evaluation)).length > 0) rejected.add(evaluation);
    }
    for (const evaluation of evaluations) {
      yield;
      // The conflict may be gone by now: a CNAME is rejected until the address records of its name have been removed.
      report(evaluation, rejected.has(evaluation) ? yield* serve(evaluation) : []);
    }
  }

  /** Gives the DNS server the records of a source; returns why some of them cannot be served. */
  function* serve({ source, granted }: Evaluation): Generator<undefined, string[]> {
    const reasons = new Set<string>();
    const parts = yield* partsOf(source, granted);
    for (const [part, records] of parts) {
      for (const { reason } of sink.upsert(part, records)) reasons.add(reason);
      yield;
    }
    for (const part of inParts.get(source) ?? []) {
      if (!parts.has(part)) sink.upsert(part, []);
      yield;
    }
    if (parts.size > 1) inParts.set(source, new Set(parts.keys()));
    else inParts.delete(source);
    return [...reasons];
  }

  function report({ source, refused }: Evaluation, rejected: readonly string[]): void {
    const records = objects.get(source);
    if (!records) return void reported.delete(source);
    const all = [
      ...records.result.problems.map((note) => ({ reason: records.reason, note })),
      ...(denied.get(source) ?? []),
      ...refused.map(({ name, holder }) => ({
        reason: 'NameTaken',
        note: `${name} belongs to ${holder}, which had it first`,
      })),
      ...rejected.map((note) => ({ reason: 'NameNotServed', note })),
    ];
    if (all.length === 0) return void reported.delete(source);
    const notices = all.slice(0, MAX_EVENTS);
    const left = all.length - notices.length;
    if (left > 0) notices.push({ reason: 'NameNotServed', note: `and ${left} more names` });
    const hash = hashOf(notices);
    if (reported.get(source) === hash) return;
    reported.set(source, hash);
    for (const notice of notices) {
      log.warn({ source, ...notice }, 'DNS name not served');
      if (records.object) events.record(records.object, { type: 'Warning', action: ACTION, ...notice });
    }
  }

  function* replace(key: string, entries: readonly ObjectRecords[]): Steps {
    const before = sources.get(key) ?? [];
    const now = new Set(entries.map(({ source }) => source));
    if (now.size > 0) sources.set(key, now);
    else sources.delete(key);
    for (const entry of entries) {
      objects.set(entry.source, entry);
      yield* claim(entry);
    }
    for (const source of before) {
      if (now.has(source)) continue;
      objects.delete(source);
      denied.delete(source);
      admissions.forget(source);
      yield* apply(yield* claims.remove(source));
    }
    for (const source of admissions.takeFreed()) {
      const entry = objects.get(source);
      if (entry) yield* claim(entry);
    }
  }

  function* regrant(names: Iterable<string>): Steps {
    for (const name of names) yield* apply(yield* claims.regrant(name));
  }

  function* claimAgain(namespace?: string): Steps {
    admissions.reload();
    if (namespace !== undefined && !admissions.hasPolicies) return;
    for (const entry of objects.values())
      if (namespace === undefined || entry.owner?.namespace === namespace) yield* claim(entry);
  }

  let last: Promise<unknown> = Promise.resolve();
  /** One change after the other, since each is worked through in slices. */
  function inTurn(steps: () => Steps): Promise<void> {
    const mine = last.then(() => inSlices(steps()));
    last = mine.catch(() => {});
    return mine;
  }

  return {
    publish: (key, entries) => inTurn(() => replace(key, entries)),
    reconsider: (namespace) => inTurn(() => claimAgain(namespace)),
    regrant: (names) => inTurn(() => regrant(names)),
    granted: { names: () => claims.grantedNames(), grantsOf: (name) => claims.grantsOf(name) },
    get refusedObjects() {
      return reported.size;
    },
  };
}

/** The steps of a change; others may work after each. */
type Steps = Generator<undefined, void>;

/** The most records that are given to the DNS server at once: so many that it does not keep the event loop for long. */
const MAX_AT_ONCE = 200;
const PARTS = 32;

/** The records of a source, in parts if there are many. A name is always in the same part: no change moves it. */
function* partsOf(
  source: string,
  records: readonly DnsRecord[],
): Generator<undefined, Map<string, readonly DnsRecord[]>> {
  const parts = new Map<string, DnsRecord[]>();
  if (records.length <= MAX_AT_ONCE) return new Map([[source, records]]);
  // The source itself is emptied after its parts have been filled.
  for (const [at, record] of records.entries()) {
    if (at % MAX_AT_ONCE === 0) yield;
    let hash = 0;
    for (let i = 0; i < record.name.length; i++) hash = (hash * 31 + record.name.charCodeAt(i)) | 0;
    // The lowest bits alone say little: 31 is 1 less than a power of two.
    const part = `${source} (part ${(Math.imul(hash, 0x9e3779b1) >>> 16) % PARTS})`;
    const others = parts.get(part);
    if (others) others.push(record);
    else parts.set(part, [record]);
  }
  return new Map<string, readonly DnsRecord[]>(parts).set(source, []);
}
