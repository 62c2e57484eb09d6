/** What nodes tell Prometheus, as a user asks for it. Pure. */
import { z } from 'zod';
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

const PATH = ['spec', 'kafka', 'metricsConfig'] as const;
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

export function metricsOf({ spec }: Kafka, image: string): { metrics: Metrics | undefined; faults: Fault[] } {
  const wish = spec.kafka.metricsConfig;
  if (wish === undefined) return { metrics: undefined, faults: [] };
  const refuse = (reason: 'Invalid' | 'NotSupported', field: readonly string[], message: string) => ({
    metrics: undefined,
    faults: [refusal(reason, [...PATH, ...field], message)],
  });
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
