/** What somebody may read, by access reviews: roles can be bound in more ways than one could read. Remembered for a while. */
import { createHash } from 'node:crypto';
import { BoundedMap } from '../../ops/bounded-map.ts';
import { forEachLimit } from '../../ops/for-each-limit.ts';
import type { Place } from '../cluster-source.ts';
import type { Identity } from './token-reviews.ts';

export type AskAccess = (identity: Identity, place: Place) => Promise<boolean>;

export interface AccessReviews {
  /** Says of which of these places somebody may read all objects. Fails where the API server cannot be asked: in doubt nothing is shown. */
  readable: (identity: Identity, places: readonly Place[]) => Promise<(place: Place) => boolean>;
  /** Asks anew about what was refused: who logs in again has perhaps just been granted it. */
  forget: (identity: Identity) => void;
}

/** A right that is taken away counts for so much longer. */
const GRANTED_MS = 60_000;
/** Most of what there is is refused to most people, and asking costs the API server something. */
const REFUSED_MS = 300_000;
const MOST_PEOPLE = 256;
const MOST_ANSWERS = 20_000;
const AT_ONCE = 16;

type Answers = Map<string, { until: number; isGranted: boolean }>;

export function createAccessReviews(
  ask: AskAccess,
  now: () => number = () => performance.now(),
): AccessReviews {
  const people = new BoundedMap<string, Answers>(MOST_PEOPLE);
  /** Several views of one person need the same answers at the same time. */
  const turns = new Map<string, Promise<unknown>>();

  async function complete(identity: Identity, answers: Answers, places: readonly Place[]): Promise<void> {
    const isOpen = (place: Place) => (answers.get(keyOf(place))?.until ?? -Infinity) <= now();
    const open = [...new Map(places.map((place) => [keyOf(place), place])).values()].filter(isOpen);
    await forEachLimit(
      open,
      AT_ONCE,
      async (place) => {
        const isGranted = await ask(identity, place);
        answers.set(keyOf(place), { until: now() + (isGranted ? GRANTED_MS : REFUSED_MS), isGranted });
      },
      () => true,
    );
  }

  async function look(identity: Identity, places: readonly Place[]): Promise<(place: Place) => boolean> {
    const answers = people.get(identityKey(identity)) ?? new BoundedMap(MOST_ANSWERS);
    people.set(identityKey(identity), answers);
    const isGranted = (place: Place) => answers.get(keyOf(place))?.isGranted ?? false;
    const everywhere = (place: Place): Place => ({ ...place, namespace: undefined });
    // Who may read a kind everywhere needs no questions about its namespaces.
    await complete(identity, answers, places.map(everywhere));
    const local = places.filter((place) => place.namespace !== undefined && !isGranted(everywhere(place)));
    await complete(identity, answers, local);
    return (place) => isGranted(everywhere(place)) || isGranted(place);
  }

  return {
    async readable(identity, places) {
      const key = identityKey(identity);
      const before = turns.get(key) ?? Promise.resolve();
      const mine = before.catch(() => {}).then(() => look(identity, places));
      turns.set(key, mine);
      try {
        return await mine;
      } finally {
        if (turns.get(key) === mine) turns.delete(key);
      }
    },
    forget: (identity) => void people.delete(identityKey(identity)),
  };
}

const keyOf = ({ group, resource, namespace = '' }: Place) => `${group}/${resource}/${namespace}`;

/** The same rights, the same key. */
export function identityKey({ user, uid, groups, extra }: Identity): string {
  return createHash('sha256')
    .update(JSON.stringify([user, uid, groups, extra]))
    .digest('base64');
}
