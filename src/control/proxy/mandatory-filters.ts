/** The filters that a proxy demands of all its virtual clusters. Pure. */
import type { KafkaProtocolFilter } from '../../resources/kroxylicious/kafka-protocol-filter.ts';
import type { KafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { PROTECTED_LABEL } from './names.ts';

/** Their names, each once. */
export function mandatoryFilters(proxy: KafkaProxy | undefined): string[] {
  const { first, last } = proxy?.spec.mandatoryFilterRefs ?? { first: [], last: [] };
  return [...new Set([...first, ...last].map(({ name }) => name))];
}

/** Those that are not kept from developers: what is demanded is worth little if they may change what it does. */
export function unprotectedFilters(
  proxy: KafkaProxy | undefined,
  filters: readonly KafkaProtocolFilter[],
): string[] {
  const open = filters.filter(({ metadata }) => metadata.labels?.[PROTECTED_LABEL] !== 'true');
  const names = new Set(open.map(({ metadata }) => metadata.name));
  return mandatoryFilters(proxy).filter((name) => names.has(name));
}
