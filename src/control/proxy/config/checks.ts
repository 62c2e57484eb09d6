/** Has the proxy's own checks tell beforehand what it would refuse: one bad part would otherwise hold up all others. */
import { hashOf } from '../../../kube/json.ts';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import type { PlannedConfig } from './planned-config.ts';

/** The proxy's checks. This part of the program does not know the proxy, so whoever starts it brings them. */
export interface ProxyChecks {
  /** What is wrong with the config of a filter; undefined if nothing is. */
  filter(type: string, config: unknown): Promise<string | undefined>;
  /** The same of a whole configuration. */
  document(document: object): Promise<string | undefined>;
}

/** What the proxy would refuse, and why: filters by name, and parts of virtual clusters. */
export interface ConfigRejections {
  filters: ReadonlyMap<string, string>;
  clusters: ReadonlyMap<string, string>;
  /** Virtual clusters of which it would refuse even what was served before. */
  hopeless: ReadonlySet<string>;
}

export interface Checker {
  filter(type: string, config: unknown): Promise<string | undefined>;
  /** Looks at each virtual cluster's part for itself. Undefined if it finds no more than is known. */
  config(config: PlannedConfig, known?: ConfigRejections): Promise<ConfigRejections | undefined>;
}

const MAX_REMEMBERED = 20_000;

/** Remembers what has been checked: a reconcile looks at all parts, of which one has changed. */
export function createChecker(checks: ProxyChecks | undefined): Checker {
  const remembered = new BoundedMap<string, string | undefined>(MAX_REMEMBERED);

  async function once(hash: string, check: () => Promise<string | undefined>): Promise<string | undefined> {
    if (remembered.has(hash)) return remembered.get(hash);
    const problem = await check();
    remembered.set(hash, problem);
    return problem;
  }

  const filter: Checker['filter'] = async (type, config) =>
    checks && once(hashOf([type, config]), () => checks.filter(type, config));

  return {
    filter,
    async config({ parts }, known) {
      const filters = new Map(known?.filters);
      const clusters = new Map(known?.clusters);
      const hopeless = new Set(known?.hopeless);
      const count = () => filters.size + clusters.size + hopeless.size;
      const before = count();
      for (const [name, { document, hash }] of parts) {
        let isBad = false;
        for (const { name: filterName, type, config } of document.filterDefinitions) {
          const problem = await filter(type, config);
          // Whoever was told of it has something else, unless it is what was good once.
          if (problem !== undefined && known?.filters.has(filterName)) hopeless.add(name);
          if (problem !== undefined) filters.set(filterName, problem);
          isBad ||= problem !== undefined;
        }
        const problem = !isBad && checks && (await once(hash, () => checks.document(document)));
        if (problem && known?.clusters.has(name)) hopeless.add(name);
        if (problem) clusters.set(name, problem);
      }
      return count() > before ? { filters, clusters, hopeless } : undefined;
    },
  };
}
