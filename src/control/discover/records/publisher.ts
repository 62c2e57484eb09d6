/** Between claims and the DNS server: gives it what was granted, and tells the owners of objects what was not. */
import type { EventRecorder } from '../../../kube/write/events.ts';
import { hashOf } from '../../../kube/json.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { Log } from '../../../ops/log.ts';
import { createClaims } from './claims.ts';
import type { Verdict } from './claims.ts';
import type { RecordSink, Told } from './dns-record.ts';

/** One object that claims names. */
export interface Claimant {
  source: string;
  party: string;
  /** Whom to tell what is wrong; undefined for objects of other clusters, which are told by their own. */
  object: KubeObject | undefined;
  since: string;
  told: Told;
  /** What it is called when something in it makes no sense. */
  reason: string;
}

export interface Publisher {
  /** Replaces what an object says. */
  set(claimant: Claimant): void;
  remove(source: string): void;
  /** How many objects are refused something. */
  readonly troubled: number;
}

export interface PublisherOptions {
  sink: RecordSink;
  events: EventRecorder;
  log: Log;
}

const ACTION = 'PublishName';
/** More than this is not said of one object at once: whoever may write one must not be able to fill the log. */
const MAX_NOTICES = 20;

export function createPublisher({ sink, events, log }: PublisherOptions): Publisher {
  const claimants = new Map<string, Claimant>();
  /** What was last said about a source, so that it is said once. */
  const said = new Map<string, string>();
  const claims = createClaims(publish);

  function publish(verdicts: readonly Verdict[]): void {
    const rejected = verdicts.map(({ source, granted }) => sink.upsert(source, granted));
    verdicts.forEach((verdict, i) => {
      // What stood in the way may have gone since: an alias cannot move in before the addresses have moved out.
      const left = rejected[i]!.length > 0 ? sink.upsert(verdict.source, verdict.granted) : [];
      report(verdict, unique(left.map(({ reason }) => reason)));
    });
  }

  function report({ source, refused }: Verdict, rejected: readonly string[]): void {
    const claimant = claimants.get(source);
    if (!claimant) return void said.delete(source);
    const notices = [
      ...claimant.told.problems.map((note) => ({ reason: claimant.reason, note })),
      ...refused.map(({ name, winner }) => ({
        reason: 'NameTaken',
        note: `${name} belongs to ${winner}, which is older`,
      })),
      ...rejected.map((note) => ({ reason: 'NameNotServed', note })),
    ];
    if (notices.length === 0) return void said.delete(source);
    const words = hashOf(notices);
    if (said.get(source) === words) return;
    said.set(source, words);
    const left = notices.splice(MAX_NOTICES).length;
    if (left > 0) notices.push({ reason: 'NameNotServed', note: `and ${left} names more` });
    for (const notice of notices) {
      log.warn({ source, ...notice }, 'a name is not served');
      if (claimant.object) events.record(claimant.object, { type: 'Warning', action: ACTION, ...notice });
    }
  }

  return {
    set(claimant) {
      const { source, party, since, told } = claimant;
      claimants.set(source, claimant);
      claims.set({ source, party, since, records: told.records });
    },
    remove(source) {
      claimants.delete(source);
      claims.remove(source);
    },
    get troubled() {
      return said.size;
    },
  };
}

function unique(reasons: readonly string[]): string[] {
  return [...new Set(reasons)];
}
