import { hostname } from 'node:os';
import { BoundedMap } from '../../ops/bounded-map.ts';
import { messageOf } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import type { Client } from '../http/client.ts';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { hasStatus } from '../http/errors.ts';
import { hashOf } from '../json.ts';
import type { KubeObject } from '../object.ts';

/** Something worth telling whoever looks at an object with `kubectl describe`. */
export interface Notice {
  type: 'Normal' | 'Warning';
  /** In CamelCase, for machines. */
  reason: string;
  /** What was being done, in CamelCase. */
  action: string;
  /** For people. */
  note: string;
}

/** Records events. Never throws and never waits; what cannot be told is dropped, since events are a courtesy. */
export interface EventRecorder {
  record(regarding: KubeObject, notice: Notice): void;
  /** Waits until all that was recorded has been sent or dropped, repetitions included. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

export interface EventRecorderOptions {
  client: () => Client;
  /** A domain-like name. */
  reportingController: string;
  reportingInstance?: string;
  log: Log;
  clock?: Clock;
}

interface EventObject extends KubeObject {
  series?: { count: number; lastObservedTime: string };
}

/** One thing that is said again and again. */
interface Series {
  count: number;
  /** How many times the server has been told. */
  told: number;
  lastAt: number;
  regarding: KubeObject;
  notice: Notice;
  /** The event on the server. */
  sent: EventObject | undefined;
}

/** The same thing said again within this time is counted, not told anew. */
const SERIES_MS = 6 * 60_000;
/** Counts are told this often. */
const TELL_MS = 30_000;
const MAX_SERIES = 1000;
/** The server counts bytes. */
const MAX_NOTE_BYTES = 1024;
/** How long a stop waits for what has not been told yet. */
const LAST_WORDS_MS = 5000;
/** Different events about one object: so many at once, then one each so often. */
const BURST = 25;
const REFILL_MS = 60_000;

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, reportingController, clock = systemClock } = options;
  const reportingInstance = options.reportingInstance ?? hostname();
  const { log } = options;
  const series = new Map<string, Series>();
  const allowances = createAllowances();
  const stopped = new AbortController();
  let sending: Promise<void> = Promise.resolve();
  let ticking = false;

  const microTime = () => new Date(clock.wallTime()).toISOString().replace('Z', '000Z');

  function eventOf({ regarding, notice }: Series, id: string): EventObject & Record<string, unknown> {
    const { apiVersion, kind, metadata } = regarding;
    const { name, namespace, uid, resourceVersion } = metadata;
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      // An event about something without a namespace lives in `default`: the server insists.
      metadata: {
        name: `${name.slice(0, 200).replace(/[-.]+$/, '')}.${id}`,
        namespace: namespace ?? 'default',
      },
      eventTime: microTime(),
      reportingController,
      reportingInstance,
      regarding: { apiVersion, kind, name, namespace, uid, resourceVersion },
      ...notice,
      note: cut(notice.note, MAX_NOTE_BYTES),
    };
  }

  /** Tells what has not been told: whoever was first in the queue has perhaps done it. */
  async function tell(entry: Series): Promise<void> {
    const { count, sent } = entry;
    if (entry.told === count) return;
    entry.told = count;
    const series = { count, lastObservedTime: microTime() };
    try {
      if (sent) {
        const patch = { series };
        const type = { group: 'events.k8s.io', version: 'v1', kind: 'Event' };
        entry.sent = await client().mergePatch<EventObject>(type, sent.metadata, patch);
      } else {
        const id = hashOf([clock.wallTime(), Math.random()])
          .replace(/[^a-zA-Z0-9]/g, '')
          .slice(0, 16)
          .toLowerCase();
        const event = { ...eventOf(entry, id), ...(count > 1 ? { series } : {}) };
        entry.sent = await client().create<EventObject>(event);
      }
    } catch (error) {
      // The server forgets events after an hour; the next one starts a new series.
      if (hasStatus(error, 404)) entry.sent = undefined;
      log.debug({ problem: messageOf(error), reason: entry.notice.reason }, 'an event could not be sent');
    }
  }

  function tellAll(): Promise<void> {
    sending = sending.then(async () => {
      for (const [id, entry] of series) {
        await tell(entry);
        if (clock.now() - entry.lastAt > SERIES_MS) series.delete(id);
      }
    });
    return sending;
  }

  /** Runs only while there is something to count. */
  async function tick(): Promise<void> {
    ticking = true;
    while (series.size > 0 && !stopped.signal.aborted) {
      await clock.wait(TELL_MS, stopped.signal);
      if (!stopped.signal.aborted) await tellAll();
    }
    ticking = false;
  }

  function recordNew(id: string, regarding: KubeObject, notice: Notice): void {
    const subject = regarding.metadata.uid ?? `${regarding.kind} ${regarding.metadata.name}`;
    // What is done for thousands of objects leaves room for what is wrong with others.
    const most = notice.type === 'Normal' ? MAX_SERIES / 2 : MAX_SERIES;
    if (!allowances.take(subject, clock.now()) || series.size >= most) {
      log.debug({ reason: notice.reason }, 'an event was dropped: there are too many');
      return;
    }
    const entry = { count: 1, told: 0, lastAt: clock.now(), regarding, notice, sent: undefined };
    series.set(id, entry);
    sending = sending.then(() => tell(entry));
    if (!ticking) void tick();
  }

  return {
    record(regarding, notice) {
      if (stopped.signal.aborted) return;
      const id = hashOf([regarding.metadata.uid, regarding.kind, regarding.metadata.name, notice]);
      const known = series.get(id);
      if (!known || clock.now() - known.lastAt > SERIES_MS) return recordNew(id, regarding, notice);
      known.count += 1;
      known.lastAt = clock.now();
    },
    flush: tellAll,
    async stop() {
      stopped.abort();
      const done = new AbortController();
      await Promise.race([tellAll(), clock.wait(LAST_WORDS_MS, done.signal)]);
      done.abort();
    },
  };
}

/** The beginning of a text, in whole characters. */
function cut(text: string, maxBytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });
}

/** A bucket of permissions for each object, so that one that goes wild cannot flood the server. */
function createAllowances(): { take(subject: string, now: number): boolean } {
  const buckets = new BoundedMap<string, { tokens: number; at: number }>(MAX_SERIES);
  return {
    take(subject, now) {
      const { tokens, at } = buckets.get(subject) ?? { tokens: BURST, at: now };
      const filled = Math.min(BURST, tokens + (now - at) / REFILL_MS);
      // The one unused for longest is full again anyway.
      buckets.set(subject, { tokens: Math.max(0, filled - 1), at: now });
      return filled >= 1;
    },
  };
}
