/** Says whether a part is well: `undefined`, or a sentence about what is missing. */
export type Check = () => string | undefined;

/**
 * Liveness and readiness, kept apart: not live means "restart me, I cannot recover", not ready means "send me nothing yet".
 * A part that waits for someone else is never a reason to restart.
 */
export interface Health {
  live(name: string, check: Check): void;
  ready(name: string, check: Check): void;
  report(which: 'live' | 'ready'): Report;
}

export interface Report {
  ok: boolean;
  checks: { name: string; problem?: string }[];
}

export function createHealth(): Health {
  const checks = { live: new Map<string, Check>(), ready: new Map<string, Check>() };
  return {
    live: (name, check) => void checks.live.set(name, check),
    ready: (name, check) => void checks.ready.set(name, check),
    report(which) {
      const results = [...checks[which]].map(([name, check]) => {
        const problem = check();
        return problem === undefined ? { name } : { name, problem };
      });
      return { ok: results.every((result) => !('problem' in result)), checks: results };
    },
  };
}
