/** What nodes tell Prometheus, as a user asks for it. Pure. */
import { z } from 'zod';
import { isJsonObject } from '../../../kube/json.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import type { Fault } from '../faults.ts';
import type { Metrics } from '../model/cluster.ts';
import { refusal } from './node-faults.ts';

/**
 * All of the node, and of each of its listeners; nothing that there is once a partition, of which there are very many, nor all that is
 * measured of each of a hundred kinds of request.
 */
const USUAL = [
  'kafka_controller_.*',
  'kafka_server_.*',
  'kafka_log_logmanager_.*',
  'kafka_network_(processor|requestchannel|socketserver)_.*',
  'kafka_network_requestmetrics_(errorspersec|totaltimems).*',
  'jvm_.*',
];

/** On a Kafka whose CRD knows no such type: its `metricsConfig` as JSON. It goes before what the resource says. */
export const METRICS_ANNOTATION = 'isthmus.dev/metrics-config';

const MAX_PATTERNS = 200;

const reporter = z.looseObject({
  values: z
    .looseObject({
      // The reporter separates them by commas.
      allowList: z
        .array(z.string().regex(/^[^,\p{Cc}]{1,1000}$/u))
        .max(MAX_PATTERNS)
        .nullish(),
    })
    .nullish(),
});

const EXAMPLE = '{"type": "strimziMetricsReporter", "values": {"allowList": ["jvm_.*"]}}';

/** What is written, and where; null stands for an annotation that cannot be read. */
function writtenIn({ metadata, spec }: Kafka): { wish: Wish | null | undefined; at: readonly string[] } {
  const text = metadata.annotations[METRICS_ANNOTATION];
  return text === undefined
    ? { wish: spec.kafka.metricsConfig, at: ['spec', 'kafka', 'metricsConfig'] }
    : { wish: parsed(text), at: ['metadata', 'annotations', METRICS_ANNOTATION] };
}

type Wish = Readonly<Record<string, unknown>>;

function parsed(text: string): Wish | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

export function metricsOf(kafka: Kafka, image: string): { metrics: Metrics | undefined; faults: Fault[] } {
  const { wish, at } = writtenIn(kafka);
  if (wish === undefined) return { metrics: undefined, faults: [] };
  const refuse = (reason: 'Invalid' | 'NotSupported', field: readonly string[], message: string) => ({
    metrics: undefined,
    faults: [refusal(reason, [...at, ...field], message)],
  });
  if (wish === null)
    return refuse('Invalid', [], `the annotation ${METRICS_ANNOTATION} is not JSON of a metricsConfig; correct it, e.g. ${EXAMPLE}`); // prettier-ignore
  const { type } = wish;
  if (type !== 'strimziMetricsReporter') {
    const named = typeof type === 'string' && type !== '' ? type : '(none)';
    const message = `metricsConfig of type ${named} is not supported; use strimziMetricsReporter`;
    return refuse('NotSupported', ['type'], message);
  }
  const { data } = reporter.safeParse(wish);
  if (!data) {
    const message = `allowList has at most ${MAX_PATTERNS} patterns, each on one line and without a comma`;
    return refuse('Invalid', ['values', 'allowList'], message);
  }
  return { metrics: { image, allowList: data.values?.allowList ?? USUAL }, faults: [] };
}
