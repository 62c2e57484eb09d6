/** Has the proxy's own checks tell beforehand what it would refuse: one bad part would otherwise hold up all others. */
import { hashOf } from '../../kube/json.ts';
import type { PlannedConfig } from './planned-config.ts';

/** The proxy's checks. This part of the program does not know the proxy, so whoever starts it brings them. */
export interface ProxyChecks {
  /** What is wrong with the config of a filter; undefined if nothing is. */
  filter(type: string, config: unknown): Promise<string | undefined>;
  /** The same of a whole configuration. */
  document(document: object): Promise<string | undefined>;
}

export interface Refusals {
  filters: Map<string, string>;
  clusters: Map<string, string>;
}

export interface Checker {
  filter(type: string, config: unknown): Promise<string | undefined>;
  /** Looks at each virtual cluster's part for itself. */
  config(config: PlannedConfig): Promise<Refusals>;
}

const MAX_REMEMBERED = 20_000;

/** Remembers what has been checked: a reconcile looks at all parts, of which one has changed. */
export function createChecker(checks: ProxyChecks | undefined): Checker {
  const remembered = new Map<string, string | undefined>();

  async function once(hash: string, check: () => Promise<string | undefined>): Promise<string | undefined> {
    if (remembered.has(hash)) return remembered.get(hash);
    const problem = await check();
    const [oldest] = remembered.keys();
    if (remembered.size >= MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    remembered.set(hash, problem);
    return problem;
  }

  const filter: Checker['filter'] = async (type, config) =>
    checks && once(hashOf([type, config]), () => checks.filter(type, config));

  return {
    filter,
    async config({ parts }) {
      const refusals: Refusals = { filters: new Map(), clusters: new Map() };
      for (const [name, { document, hash }] of parts) {
        let isBad = false;
        for (const { name: filterName, type, config } of document.filterDefinitions) {
          const problem = await filter(type, config);
          if (problem !== undefined) refusals.filters.set(filterName, problem);
          isBad ||= problem !== undefined;
        }
        const problem = !isBad && checks && (await once(hash, () => checks.document(document)));
        if (problem) refusals.clusters.set(name, problem);
      }
      return refusals;
    },
  };
}
