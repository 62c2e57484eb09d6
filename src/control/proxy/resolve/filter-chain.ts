/** Which filters a virtual cluster has: those that its proxy demands, and between them its own or the proxy's default ones. */
import type { Fault } from '../faults.ts';

export interface ChainedFilter {
  name: string;
  /** The field of the virtual cluster that leads there. */
  path: Fault['path'];
  isMandatory: boolean;
}

type Refs = readonly { name: string }[];

/** What a proxy says of the filters of its virtual clusters. */
export interface ProxyFilters {
  defaultFilterRefs: Refs;
  mandatoryFilterRefs: { first: Refs; last: Refs };
}

/**
 * The filters as a request meets them. What the proxy demands is met whatever the virtual cluster says, and once: one that names
 * it, too, must not have its records encrypted twice.
 */
export function filterChain(
  spec: { filterRefs?: Refs | undefined },
  proxy: { spec: ProxyFilters } | undefined,
): ChainedFilter[] {
  const { first, last } = proxy?.spec.mandatoryFilterRefs ?? { first: [], last: [] };
  const demanded = new Set([...first, ...last].map(({ name }) => name));
  const refs = spec.filterRefs ?? proxy?.spec.defaultFilterRefs ?? [];
  const own = refs.map(({ name }, index) => ({
    name,
    path: ['spec', 'filterRefs', index],
    isMandatory: false,
  }));
  const byProxy = ({ name }: { name: string }) => ({ name, path: ['spec', 'proxyRef'], isMandatory: true });
  return [...first.map(byProxy), ...own.filter(({ name }) => !demanded.has(name)), ...last.map(byProxy)];
}
