/**
 * What the planner of Kafka clusters makes of a golden scenario, once there is nothing left to do: every object as it would be applied.
 * What is random, or a hash, or the same in every scenario, has a stand-in.
 */
import { START_SCRIPT } from '../../../src/control/brokers/start-script.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import type { InputDocument } from '../golden/input.ts';
import type { Outcome, Sections } from '../golden/outcome.ts';
import type { Json } from '../golden/patch.ts';
import type { Planned } from '../golden/suite.ts';
import { podsIn } from '../../../src/control/brokers/objects/pod-sets.ts';
import { loggingOf } from '../../../src/control/brokers/front/logging.ts';
import { kafkaObject, settledKafka } from './kafka-objects.ts';
import type { Place } from './memory-objects.ts';
import { KAFKA_SETTINGS, createMemoryKafka } from './memory-kafka.ts';
import type { MemoryKafka } from './memory-kafka.ts';

const NAMESPACE = 'kafka';
const USUAL_LOGGING = loggingOf(kafkaObject(), undefined).logging.text;

export async function planKafkaScenario(
  input: readonly InputDocument[],
  former: readonly InputDocument[],
): Promise<Planned> {
  const { clusters = [], central } = input[0] as Surroundings;
  const memory = createMemoryKafka({ ...KAFKA_SETTINGS, centralId: central }, clusters);
  const { places = false, balancers = false, suppliedCa, drained = [], logging } = input[0] as Surroundings;
  const { podNetworks = {} } = input[0] as Surroundings;
  for (const [cluster, podCIDRs] of Object.entries(podNetworks)) {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node' }, spec: { podCIDRs } };
    if (cluster === central) memory.put(node);
    else memory.elsewhere.put(cluster, node);
  }
  if (places) memory.placeOf = places === 'both' ? placeOfBoth : placeOf;
  memory.externalLogging = logging;
  if (suppliedCa !== undefined) await supplyCa(memory, suppliedCa);
  for (const documents of [former, input]) {
    memory.drained = documents === input ? drained : [];
    for (const document of documents)
      if (document.kind !== 'Scenario') memory.put(complete(document as AnyObject, memory));
    await memory.settle();
  }
  if (balancers && giveAddresses(memory)) await memory.settle();
  const outcome: Outcome = { names: {}, sections: render(memory) };
  return { outcome, changesInTheEnd: await memory.step() };
}

/** What a scenario says of the world around the cluster. */
interface Surroundings {
  /** Whether pods run on nodes that have addresses; `both`: of both families. */
  places?: boolean | 'both';
  /** Whether somebody gives addresses to load balancers. */
  balancers?: boolean;
  /** The authority that its owner brings. */
  suppliedCa?: string;
  /** Brokers that Kafka says are empty. */
  drained?: number[];
  /** What is in the ConfigMap that the Kafka has its logging from. */
  logging?: string;
  /** Other Kubernetes clusters that were joined. */
  clusters?: string[];
  /** The id of the cluster of the operator, among those. */
  central?: string;
  /** By cluster: what its nodes give addresses to their pods from. */
  podNetworks?: Record<string, string[]>;
}

const placeOf = (pod: string): Place => ({
  node: `node-${pod.at(-1)}`,
  addresses: [
    { type: 'InternalIP', address: `10.0.0.${pod.at(-1)}` },
    { type: 'ExternalIP', address: `192.0.2.${pod.at(-1)}` },
  ],
});

const placeOfBoth = (pod: string): Place => {
  const { node, addresses } = placeOf(pod);
  return { node, addresses: [...addresses, { type: 'ExternalIP', address: `2001:db8::${pod.at(-1)}` }] };
};

function giveAddresses(memory: MemoryKafka): boolean {
  const services = memory
    .list('Service')
    .filter(({ spec }) => (spec as { type?: string }).type === 'LoadBalancer')
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  for (const [at, service] of services.entries())
    memory.put({ ...service, status: { loadBalancer: { ingress: [{ ip: `192.0.2.${at + 1}` }] } } });
  return services.length > 0;
}

/** One that another cluster has made, as somebody would copy it: its key and its certificate. */
async function supplyCa(memory: MemoryKafka, name: string): Promise<void> {
  const other = await settledKafka();
  for (const secret of [`events-${name}`, `events-${name}-cert`]) {
    const { apiVersion, kind, data } = other.get('Secret', secret)!;
    const metadata = { name: secret, namespace: NAMESPACE, labels: { 'strimzi.io/cluster': 'events' } };
    const kept = Object.entries(data as object).filter(([key]) => /^ca\.(key|crt)$/.test(key));
    memory.put({ apiVersion, kind, metadata, data: Object.fromEntries(kept) });
  }
}

/** What an API server would have added, and what is there already. */
function complete(object: AnyObject, memory: MemoryKafka): AnyObject {
  const { name } = object.metadata;
  const status = memory.get(object.kind, name)?.['status'];
  const metadata = { namespace: NAMESPACE, uid: `uid-of-${name}`, generation: 1, ...object.metadata };
  return { ...object, metadata, ...(status !== undefined && { status }) };
}

/** Objects by kind and name; the pods of a set beside it, because they are compared one by one. */
function render(memory: MemoryKafka): Sections {
  const { targets, statuses, wishes } = memory.plan();
  const objects = targets.flatMap((target) => target.objects);
  const documents = [...objects.map(shown), ...objects.flatMap(podsIn), ...memory.list('KafkaAnchor')];
  const elsewhere = [...wishes].flatMap(([cluster, wish]) =>
    (wish.do === 'have' ? wish.target.objects : []).flatMap((object) =>
      [shown(object), ...podsIn(object)].map(
        (one) => [`${one.kind} ${cluster}/${one.metadata.name}`, withoutStore(one)] as const,
      ),
    ),
  );
  const titled = (entries: readonly (readonly [string, unknown])[]) => {
    const section: Record<string, Json> = {};
    for (const [title, value] of entries) {
      if (title in section) throw new Error(`there are two of ${title}`);
      section[title] = JSON.parse(JSON.stringify(masked(value))) as Json;
    }
    return section;
  };
  return {
    objects: titled([
      ...documents.map((object) => [`${object.kind} ${object.metadata.name}`, withoutStore(object)] as const),
      ...elsewhere,
    ]),
    statuses: titled(statuses.map(({ kind, name, status }) => [`${kind} ${name}`, status])),
  };
}

/** Without what only a store knows. */
function withoutStore({ metadata, ...rest }: AnyObject): object {
  return { ...rest, metadata: { ...metadata, resourceVersion: undefined, uid: undefined } };
}

/** As it is worth reading. */
function shown(object: AnyObject): AnyObject {
  const data = (object['data'] ?? {}) as Record<string, string>;
  if (object.kind === 'Secret')
    return { ...object, data: Object.fromEntries(Object.keys(data).map((key) => [key, '@data'])) };
  if (object.kind === 'ConfigMap')
    return {
      ...object,
      data: {
        ...data,
        'server.config': propertiesIn(data['server.config'] ?? ''),
        ...(data['log4j2.properties'] === USUAL_LOGGING && { 'log4j2.properties': '@logging' }),
        ...(data['start.sh'] === START_SCRIPT && { 'start.sh': '@start-script' }),
      },
    };
  if (object.kind === 'StrimziPodSet') {
    const spec = { ...(object['spec'] as object), pods: podsIn(object).map(({ metadata }) => metadata.name) };
    return { ...object, spec };
  }
  return object;
}

const propertiesIn = (text: string) =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

/** Annotations that are digests of other parts of an object. */
const DIGESTS = new Set(['isthmus.dev/config-digests', 'strimzi.io/revision', 'strimzi.io/server-cert-hash']);

function masked(value: unknown, key = ''): unknown {
  if (typeof value === 'string')
    return DIGESTS.has(key)
      ? '@digest'
      : value
          .replaceAll(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n?/gs, '@certificate')
          .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '@time')
          .replaceAll(/\b[0-9a-f]{16,64}\b/g, '@digest');
  if (Array.isArray(value)) return value.map((item) => masked(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, masked(inner, name)]));
}
