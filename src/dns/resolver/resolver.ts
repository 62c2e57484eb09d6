import { randomInt } from 'node:crypto';
import { RCODE } from '../wire/constants.ts';
import { domainOf, outsideKey } from '../zone/outside.ts';
import { createPlaces } from './places.ts';
import { answersOf } from './response.ts';
import type { Name } from '../wire/name.ts';
import type { OutsideAnswer, OutsideAnswers } from '../zone/outside.ts';
import type { ResolverAddress } from './exchange.ts';
import type { OutsideQuestion, ResolverResponse } from './response.ts';

export interface ResolverOptions {
  servers: readonly ResolverAddress[];
  exchange: (server: ResolverAddress, question: OutsideQuestion, ms: number) => Promise<ResolverResponse>;
  /** What is known already, for the last good answer when no server responds. */
  known: OutsideAnswers;
  /** Whether a name is in a zone of this server: then nobody else is asked about it. */
  isOurs: (name: Name) => boolean;
  /** Gets every answer, a failure too. */
  publish: (answers: OutsideAnswer[]) => void;
  /** The time in seconds. */
  now: () => number;
}

/** Resolves the targets of our own aliases outside of our zones, by way of other resolvers. */
export interface Resolver {
  /**
   * Has published an answer about the name when it resolves, or a failure. Never rejects. `client`: who asks; undefined for
   * one that asks for many others.
   */
  ask(name: Name, type: number, client?: string): Promise<void>;
  readonly counts: ResolverCounts;
}

export interface ResolverCounts {
  answered: number;
  failed: number;
  /** Refused because too many were outstanding. */
  overload: number;
  outstanding: number;
}

/** Clients wait for five seconds: three attempts end before that. */
const ATTEMPTS = 3;
const ATTEMPT_MS = 1500;
const MAX_OUTSTANDING = 256;
/** While half of that is in use, the most for names of one domain, and for one client. */
const MAX_OF_ONE = 64;
const FAILURE_SECONDS = 5;
const OVERLOAD_SECONDS = 1;
/** When no server responds, what was known stays for so long, in turns of 30 seconds (RFC 8767). */
const STALE_SECONDS = 86_400;
const STALE_TURN_SECONDS = 30;
const MAX_STEPS = 16;

export function createResolver(options: ResolverOptions): Resolver {
  const { known, publish, now } = options;
  const outstanding = new Map<string, Promise<void>>();
  const places = createPlaces(MAX_OUTSTANDING, MAX_OF_ONE);
  const counts = { answered: 0, failed: 0, overload: 0 };

  async function resolve(name: Name, type: number): Promise<void> {
    const response = await askServers(options, name, type);
    const answers = response && answersOf(response, { id: 0, name, type }, options.isOurs, now());
    if (answers) counts.answered += 1;
    else counts.failed += 1;
    publish(answers ?? lastGood(known, name, type, now()) ?? [failure(name, type, now() + FAILURE_SECONDS)]);
  }

  return {
    async ask(name, type, client) {
      const key = outsideKey(name, type);
      const fresh = known.get(key);
      if (fresh && fresh.expires > now()) return publish([fresh]);
      const running = outstanding.get(key);
      if (running) return running;
      const names = [domainOf(name), ...(client === undefined ? [] : [client])];
      if (options.isOurs(name) || !places.hasRoomFor(names)) {
        counts.overload += 1;
        // What was known is better than a failure, and must not be forgotten for one.
        const kept = options.isOurs(name) ? undefined : lastGood(known, name, type, now(), OVERLOAD_SECONDS);
        return publish(kept ?? [failure(name, type, now() + OVERLOAD_SECONDS)]);
      }
      places.take(names);
      const asked = resolve(name, type).finally(() => {
        outstanding.delete(key);
        places.leave(names);
      });
      outstanding.set(key, asked);
      return asked;
    },
    get counts() {
      return { ...counts, outstanding: outstanding.size };
    },
  };
}

/** The first usable response of the servers, asked in turn; undefined if there is none. */
async function askServers(
  { servers, exchange }: ResolverOptions,
  name: Name,
  type: number,
): Promise<ResolverResponse | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const question = { id: randomInt(0x10000), name, type };
    const response = await exchange(servers[attempt % servers.length]!, question, ATTEMPT_MS).catch(
      () => undefined,
    );
    if (response?.rcode === RCODE.NOERROR || response?.rcode === RCODE.NXDOMAIN) return response;
  }
  return undefined;
}

function failure(name: Name, type: number, expires: number): OutsideAnswer {
  return { name, type, kind: 'failed', rrset: undefined, soa: undefined, expires };
}

/** The steps from the name on that were known before, valid for another turn; undefined if there are none. */
function lastGood(
  known: OutsideAnswers,
  from: Name,
  type: number,
  now: number,
  seconds = STALE_TURN_SECONDS,
): OutsideAnswer[] | undefined {
  const kept: OutsideAnswer[] = [];
  for (let name: Name | undefined = from; name !== undefined && kept.length < MAX_STEPS;) {
    const before: OutsideAnswer | undefined = known.get(outsideKey(name, type));
    if (before?.kind !== 'answer') break;
    const goodUntil = before.goodUntil ?? before.expires;
    if (goodUntil + STALE_SECONDS < now) break;
    kept.push({ ...before, goodUntil, expires: Math.max(before.expires, now + seconds) });
    name = before.rrset!.type === type ? undefined : before.rrset!.data[0];
  }
  return kept.length > 0 ? kept : undefined;
}
