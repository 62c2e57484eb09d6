/** Brokers that Kafka still knows although their nodes are gone for good. */
import type { Admin } from '../../../kafka/admin/admin.ts';
import type { Log } from '../../../ops/log.ts';
import { mayBeBroker } from '../model/charter.ts';
import type { Charter } from '../model/charter.ts';
import type { KafkaFacts } from './facts.ts';

/** Those that do not run any more and that no node is, or is as a broker, by what Kafka said. */
function goneBrokers({ nodes }: Pick<Charter, 'nodes'>, facts: Pick<KafkaFacts, 'brokers'>): number[] {
  const known = new Set(nodes.filter(mayBeBroker).map(({ id }) => id));
  return [...(facts.brokers?.registered ?? [])].flatMap(([id, { fenced }]) =>
    fenced && !known.has(id) ? [id] : [],
  );
}

/** Gone brokers that were given replicas in their last moment: those have to be put elsewhere as well. */
export function strandedBrokers(
  charter: Pick<Charter, 'nodes'>,
  facts: Pick<KafkaFacts, 'brokers' | 'partitions'>,
): number[] {
  return goneBrokers(charter, facts).filter((id) => facts.partitions?.byNode.has(id));
}

/** Takes gone brokers off Kafka's books; those that have replicas, as far as is known, stay there. */
export async function forget(
  brokers: Pick<Admin, 'unregisterBroker'>,
  charter: Pick<Charter, 'nodes'>,
  facts: Pick<KafkaFacts, 'brokers' | 'partitions'>,
  { log, tell }: { log: Log; tell: (reason: string, note: string) => void },
): Promise<void> {
  const { partitions } = facts;
  if (!partitions) return;
  for (const id of goneBrokers(charter, facts)) {
    if (partitions.byNode.has(id)) continue;
    const { error } = await brokers.unregisterBroker(id);
    if (error) log.warn({ node: id, problem: error.message }, 'broker could not be unregistered');
    else {
      log.info({ node: id }, 'broker was unregistered');
      tell('BrokerUnregistered', `Kafka has forgotten broker ${id}, which is gone`);
    }
  }
}
