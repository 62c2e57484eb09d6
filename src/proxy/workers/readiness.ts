import type { LoadedConfig } from '../config/load.ts';
import type { Problem } from '../config/model.ts';

/** What is known when somebody asks. */
export interface Outlook {
  /** Undefined until a configuration is in effect. */
  current: Pick<LoadedConfig, 'config' | 'rejected'> | undefined;
  /** By virtual cluster, why its target cannot be reached, or undefined; those that have been looked at. */
  targets: ReadonlyMap<string, string | undefined>;
  problems: readonly Problem[];
  everReady: boolean;
}

/**
 * Why a proxy should not be sent connections; undefined if it should. Ready is: every port bound, and a target that can be reached, of a
 * virtual cluster that is served. What goes wrong for one virtual cluster later does not take the others off the network with it, so
 * after that only a proxy that is of no use to anyone is not ready. The same goes for virtual clusters that cannot be loaded or
 * are out of service: new pods come up with the rest, but none that serves nothing takes the place of one that does.
 */
export function whyNotReady({ current, targets, problems, everReady }: Outlook): string | undefined {
  if (!current) return 'no configuration is in effect yet';
  const { virtualClusters } = current.config;
  if (virtualClusters.length === 0)
    return current.rejected.length > 0 ? 'no virtual cluster can be loaded' : undefined;
  const isOut = new Set(problems.filter(({ stage }) => stage === 'serve').map(({ cluster }) => cluster));
  const served = virtualClusters.map(({ name }) => name).filter((name) => !isOut.has(name));
  if (served.length === 0) return 'no virtual cluster can be served';
  const unbound = problems.filter(({ stage }) => stage === 'listen');
  if (!everReady && unbound.length > 0)
    return unbound.map(({ cluster, problem }) => `${cluster}: ${problem}`).join('; ');
  const seen = served.filter((name) => targets.has(name));
  if (seen.some((name) => targets.get(name) === undefined)) return undefined;
  return seen.length === 0 ? 'no target has been looked at yet' : 'no target can be reached';
}
