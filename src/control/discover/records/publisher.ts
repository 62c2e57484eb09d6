/** Gives the DNS server the records that were granted, and reports to the owners of objects which names were not. */
import type { EventRecorder } from '../../../kube/write/events.ts';
import { hashOf } from '../../../kube/json.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Log } from '../../../ops/log.ts';
import { createClaims } from './claims.ts';
import type { Evaluation } from './claims.ts';
import type { DnsRecord, RecordResult, RecordSink } from './dns-record.ts';
import { NOTHING_CONFIGURED, reservedNames } from './reserved.ts';
import type { Configured } from './reserved.ts';

/** The records of one object, and where its problems are reported. */
export interface ObjectRecords {
  source: string;
  claimGroup: string;
  /** The object that gets the events; undefined for objects of other clusters, where another installation reports. */
  object: KubeObject | undefined;
  since: string;
  result: RecordResult;
  /** The reason of events about problems in the object itself. */
  reason: string;
}

export interface Publisher {
  /** Replaces all records that were published under a key, e.g. those of an object or of an exported service. */
  publish(key: string, entries: readonly ObjectRecords[]): void;
  /** Decides anew about all objects: what is reserved has changed. */
  reconsider(): void;
  /** How many objects have a name that is not served. */
  readonly refusedObjects: number;
}

export interface PublisherOptions {
  sink: RecordSink;
  /** What the DNS server's configuration has; nothing if left out. */
  configured?: Configured;
  events: EventRecorder;
  log: Log;
}

const ACTION = 'PublishName';
/** The most events about one object at a time: whoever may write one object must not be able to flood the log. */
const MAX_EVENTS = 20;

/** What an event says. */
interface Note {
  reason: string;
  note: string;
}

export function createPublisher(options: PublisherOptions): Publisher {
  const { sink, configured = NOTHING_CONFIGURED, events, log } = options;
  const objects = new Map<string, ObjectRecords>();
  /** A hash of what was last reported about each source, so that it is reported once. */
  const reported = new Map<string, string>();
  /** The sources that were published under each key. */
  const sources = new Map<string, ReadonlySet<string>>();
  const claims = createClaims();
  /** Why records of a source may not even be claimed. */
  const denied = new Map<string, readonly Note[]>();
  let reserved = reservedNames(configured);

  /** The records that an object may claim. */
  function admit({ source, result }: ObjectRecords): DnsRecord[] {
    const notes = new Map<string, Note>();
    const records = result.records.filter((record) => {
      const note = reserved.problemOf(record);
      if (note !== undefined) notes.set(note, { reason: 'NameReserved', note });
      return note === undefined;
    });
    if (notes.size > 0) denied.set(source, [...notes.values()]);
    else denied.delete(source);
    return records;
  }

  function claim(entry: ObjectRecords): void {
    const { source, claimGroup, since } = entry;
    apply(claims.set({ source, claimGroup, since, records: admit(entry) }));
  }

  function apply(evaluations: readonly Evaluation[]): void {
    const rejected = evaluations.map(({ source, granted }) => sink.upsert(source, granted));
    evaluations.forEach((evaluation, i) => {
      // The conflict may be gone by now: a CNAME is rejected until the address records of its name have been removed.
      const left = rejected[i]!.length > 0 ? sink.upsert(evaluation.source, evaluation.granted) : [];
      report(evaluation, [...new Set(left.map(({ reason }) => reason))]);
    });
  }

  function report({ source, refused }: Evaluation, rejected: readonly string[]): void {
    const records = objects.get(source);
    if (!records) return void reported.delete(source);
    const notices = [
      ...records.result.problems.map((note) => ({ reason: records.reason, note })),
      ...(denied.get(source) ?? []),
      ...refused.map(({ name, holder }) => ({
        reason: 'NameTaken',
        note: `${name} belongs to ${holder}, which is older`,
      })),
      ...rejected.map((note) => ({ reason: 'NameNotServed', note })),
    ];
    if (notices.length === 0) return void reported.delete(source);
    const hash = hashOf(notices);
    if (reported.get(source) === hash) return;
    reported.set(source, hash);
    const left = notices.splice(MAX_EVENTS).length;
    if (left > 0) notices.push({ reason: 'NameNotServed', note: `and ${left} more names` });
    for (const notice of notices) {
      log.warn({ source, ...notice }, 'DNS name not served');
      if (records.object) events.record(records.object, { type: 'Warning', action: ACTION, ...notice });
    }
  }

  return {
    publish(key, entries) {
      const before = sources.get(key) ?? [];
      const now = new Set(entries.map(({ source }) => source));
      if (now.size > 0) sources.set(key, now);
      else sources.delete(key);
      for (const entry of entries) {
        objects.set(entry.source, entry);
        claim(entry);
      }
      for (const source of before) {
        if (now.has(source)) continue;
        objects.delete(source);
        denied.delete(source);
        apply(claims.remove(source));
      }
    },
    reconsider() {
      reserved = reservedNames(configured);
      for (const entry of objects.values()) claim(entry);
    },
    get refusedObjects() {
      return reported.size;
    },
  };
}
