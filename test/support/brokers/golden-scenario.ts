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
import { createMemoryKafka } from './memory-kafka.ts';
import type { MemoryKafka } from './memory-kafka.ts';

const NAMESPACE = 'kafka';

export async function planKafkaScenario(
  input: readonly InputDocument[],
  former: readonly InputDocument[],
): Promise<Planned> {
  const memory = createMemoryKafka();
  for (const documents of [former, input]) {
    for (const document of documents)
      if (document.kind !== 'Scenario') memory.put(complete(document as AnyObject, memory));
    await memory.settle();
  }
  const outcome: Outcome = { names: {}, sections: render(memory) };
  return { outcome, changesInTheEnd: await memory.step() };
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
  const { targets, statuses } = memory.plan();
  const objects = targets.flatMap((target) => target.objects);
  const documents = [...objects.map(shown), ...objects.flatMap(podsIn), ...memory.list('KafkaAnchor')];
  const titled = (entries: readonly (readonly [string, unknown])[]) => {
    const section: Record<string, Json> = {};
    for (const [title, value] of entries) {
      if (title in section) throw new Error(`there are two of ${title}`);
      section[title] = JSON.parse(JSON.stringify(masked(value))) as Json;
    }
    return section;
  };
  return {
    objects: titled(
      documents.map((object) => [`${object.kind} ${object.metadata.name}`, withoutStore(object)]),
    ),
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
        'log4j2.properties': '@logging',
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
