/** KafkaService: half of it is a KafkaClusterRef here, half the target of a virtual cluster. */
import type { Tell } from './convert.ts';
import { given, isEmpty, isRecord, mapOf, without } from './fields.ts';
import type { Fields } from './fields.ts';
import { certificateOf, parametersOf, trustAnchorsOf } from './tls.ts';

/** Undefined for one of Strimzi's. */
export function clusterRefSpec(spec: Fields, tell: Tell): Fields | undefined {
  if (isRecord(spec['strimziKafkaRef'])) {
    tellOfStrimzi(spec, mapOf(spec['strimziKafkaRef']), tell);
    return undefined;
  }
  const { bootstrapServers, nodeIdRanges, tls } = spec;
  const rest = without(spec, 'bootstrapServers', 'nodeIdRanges', 'tls');
  if (!isRecord(tls)) return given({ bootstrap: bootstrapServers, nodeIdRanges, ...rest });
  const known = given({ ...trustAnchorsOf(tls, 'spec.tls', tell), ...parametersOf(tls) });
  return given({
    bootstrap: bootstrapServers,
    protocol: 'TLS',
    nodeIdRanges,
    tls: isEmpty(known) ? undefined : known,
    ...rest,
  });
}

/** What a virtual cluster in the namespace `home` is in front of, by the KafkaService that it names. */
export function targetOf(name: string, service: Fields | undefined, home: unknown, tell: Tell): Fields {
  const spec = mapOf(service);
  const strimzi = spec['strimziKafkaRef'];
  const certificateRef = certificateOf(mapOf(spec['tls']));
  const tls = certificateRef && { certificateRef };
  if (!isRecord(strimzi)) return { targetCluster: given({ clusterRef: { name }, tls }) };
  const { namespace } = strimzi;
  if (namespace !== undefined && namespace !== home)
    tell(
      'spec.targetKafkaServiceRef',
      `the Kafka is in the namespace ${JSON.stringify(namespace)}: put the virtual cluster there, or write a KafkaClusterRef with its bootstrap address`,
    );
  const clusterRef = given({
    group: 'kafka.strimzi.io',
    kind: 'Kafka',
    name: strimzi['name'],
    listenerName: strimzi['listenerName'],
  });
  return { targetCluster: given({ clusterRef, tls }) };
}

function tellOfStrimzi(spec: Fields, strimzi: Fields, tell: Tell): void {
  const tls = mapOf(spec['tls']);
  if ('trustAnchorRef' in tls)
    tell('spec.tls.trustAnchorRef', 'the listener of the Kafka says itself which certificates to trust');
  if ('protocols' in tls || 'cipherSuites' in tls)
    tell('spec.tls', 'protocols and cipherSuites towards a Kafka of Strimzi cannot be chosen');
  if ('nodeIdRanges' in spec) tell('spec.nodeIdRanges', 'ids of brokers are read from the KafkaNodePools');
  if (strimzi['trustStrimziCaCertificate'] === false)
    tell('spec.strimziKafkaRef', 'the certificates that the listener says are trusted');
}
