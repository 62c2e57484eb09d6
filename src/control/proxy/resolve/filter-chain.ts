/** Which filters a virtual cluster has: those that its proxy demands, and between them its own or the proxy's default ones. */
import type { KafkaProxy } from '../../../resources/kroxylicious/kafka-proxy.ts';
import type { VirtualKafkaCluster } from '../../../resources/kroxylicious/virtual-kafka-cluster.ts';
import type { Fault } from '../faults.ts';

export interface ChainedFilter {
  name: string;
  /** The field of the virtual cluster that leads there. */
  path: Fault['path'];
  isMandatory: boolean;
}

/**
 * The filters as a request meets them. What the proxy demands is met whatever the virtual cluster says, and once: one that names
 * it, too, must not have its records encrypted twice.
 */
export function filterChain(
  spec: Pick<VirtualKafkaCluster['spec'], 'filterRefs'>,
  proxy: Pick<KafkaProxy, 'spec'> | undefined,
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
