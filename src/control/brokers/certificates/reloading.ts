/** How a broker comes to load new certificates while it runs: asked for, looked at, and asked for again until it is seen to have them. Pure. */

/** A reload that is under way. */
export interface Reloading {
  /** Which certificates and trust it is about, see `markOf`. */
  mark: string;
  since: number;
  /** When the broker was last told to look at its files. */
  askedAt: number;
  /** What is not as it should be; undefined while only time has to pass. */
  problem: string | undefined;
}

export interface ReloadStep {
  do: 'ask' | 'wait' | 'record';
  state: Reloading;
}

const ASK_AGAIN_MS = 5000;
/** Kubelets bring a change of a Secret into a pod within two minutes, as a rule. */
const KUBELET_MS = 180_000;

/** What only time can tell is given that much of it; of certificates that live for minutes it must not take all. */
export const settlesInMs = ({ renewalMs }: { renewalMs: number }): number =>
  Math.min(KUBELET_MS, renewalMs / 20);

/**
 * Nobody can see from outside whether a broker has stopped trusting something, nor which files a kubelet has brought it. So it is told
 * once more after the time that this takes, and counts as done only then. Where it cannot be seen to have loaded what it should, it is told less
 * and less often: each time is a record in Kafka's metadata.
 */
export function nextReload(
  mark: string,
  problem: string | undefined,
  before: Reloading | undefined,
  { now, settlesMs }: { now: number; settlesMs: number },
): ReloadStep {
  if (before?.mark !== mark) return { do: 'ask', state: { mark, since: now, askedAt: now, problem } };
  const { since, askedAt } = before;
  const waited = { ...before, problem };
  const asked: ReloadStep = { do: 'ask', state: { ...waited, askedAt: now } };
  if (problem !== undefined) {
    const pause = Math.max(ASK_AGAIN_MS, (askedAt - since) / 2);
    return now - askedAt >= pause ? asked : { do: 'wait', state: waited };
  }
  if (askedAt - since >= settlesMs) return { do: 'record', state: waited };
  return now - since >= settlesMs ? asked : { do: 'wait', state: waited };
}
