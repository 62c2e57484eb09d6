/**
 * Whether it shows anything that a place got no connection: only if somebody else got through to the same broker at the time. Of brokers
 * that are down it shows nothing. Pure.
 */
import type { SeenFrom } from '../../../resources/isthmus/exposure.ts';
import { listenerOf } from './task.ts';
import type { Look, Looks } from './reconcile.ts';

/** Looks from all places begin together, and a pod may have to wait for its image. */
const TOGETHER_MS = 60_000;

/** What is proven once stays so for as long as the look counts. */
export function withProofs(looks: Looks): Map<string, Look> {
  const all = [...looks.values()];
  return new Map(
    [...looks].map(([name, look]) => {
      const others = all.filter(
        ({ at, mark }) => mark === look.mark && Math.abs(at - look.at) <= TOGETHER_MS,
      );
      const open = new Set([...look.open, ...others.flatMap(({ outcome }) => outcome?.open ?? [])]);
      return [name, proven(look, open)];
    }),
  );
}

function proven(look: Look, open: ReadonlySet<string>): Look {
  const { outcome } = look;
  if (!outcome) return look;
  const listeners = new Set(outcome.shut.filter((one) => open.has(one)).map(listenerOf));
  const sources = outcome.seen.sources?.map((one) =>
    one.proven || one.connected || !listeners.has(one.name) ? one : { ...one, proven: true },
  );
  return sources ? { ...look, outcome: { ...outcome, seen: { ...outcome.seen, sources } } } : look;
}

/** Whether a place was kept out, and nobody can say by what. */
export const isUnproven = ({ sources = [] }: SeenFrom): boolean =>
  sources.some(({ connected, proven: isProven = false }) => !connected && !isProven);
