/**
 * Keeps filters that an admin has labelled from developers, who may write all others: what a KafkaProxy demands of every virtual
 * cluster would be worth little if they could change what it does. Whoever may change KafkaProxies may change such a filter.
 */
import { kafkaProtocolFilter } from '../../resources/kroxylicious/kafka-protocol-filter.ts';
import { kafkaProxy } from '../../resources/kroxylicious/kafka-proxy.ts';
import { PROTECTED_LABEL } from '../proxy/names.ts';
import { boundPolicy, labelsOf } from './objects.ts';
import type { Manifest } from './objects.ts';

export function filterProtection(): Manifest[] {
  const metadata = { name: 'isthmus-protected-filters', labels: labelsOf('personas') };
  // Deleting is asked for by itself: who clears up a whole namespace may delete everything and change nothing.
  const may = `authorizer.group('${kafkaProxy.group}').resource('${kafkaProxy.plural}').namespace(request.namespace)`;
  const expression = `${may}.check(request.operation == 'DELETE' ? 'delete' : 'update').allowed()`;
  const rule = {
    apiGroups: [kafkaProtocolFilter.group],
    apiVersions: ['*'],
    operations: ['UPDATE', 'DELETE'],
    resources: [kafkaProtocolFilter.plural],
  };
  const message = `only who may change KafkaProxies here may change a filter with the label ${PROTECTED_LABEL}`;
  return boundPolicy(metadata, {
    // Counts for what is there as well as for what comes, so nobody gets rid of it by taking the label off.
    matchConstraints: {
      resourceRules: [rule],
      objectSelector: { matchLabels: { [PROTECTED_LABEL]: 'true' } },
    },
    validations: [{ expression, message, reason: 'Forbidden' }],
  });
}
