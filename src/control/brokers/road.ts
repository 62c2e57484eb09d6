/** The road of Kafka clusters that we run: Kafka and KafkaNodePool become brokers and controllers. */
import type { Client } from '../../kube/http/client.ts';
import type { Log } from '../../ops/log.ts';
import { BoundedMap } from '../../ops/bounded-map.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { resolveBy, resolveBySystem } from '../../probe/resolve.ts';
import { reconcileBy } from '../kernel/reconcile.ts';
import type { Road, RoadController } from '../kernel/road.ts';
import type { ToldListener } from './expose/told.ts';
import { KAFKA_EVENTS } from './faults.ts';
import { requestCounter } from './look/metrics.ts';
import type { KafkaSettings } from './plan.ts';
import { probeReconciler } from './probe/reconcile.ts';
import { kafkaReconciler } from './reconcile.ts';
import { topicReconciler } from './topics/reconcile.ts';
import { userReconciler } from './users/reconcile.ts';
import { KAFKA_WATCHES, everyKafka, everyLabelled } from './watches.ts';
import type { KafkaViews } from './watches.ts';

export interface KafkaRoadOptions {
  settings: KafkaSettings;
  client: () => Client;
  metrics: Metrics;
  log: Log;
}

/** Of which is kept what their clients are told. */
const MAX_KAFKAS = 10_000;
const RESOLVE_MS = 5000;

/** The resolver that clients outside use, if the operator was told; else the one of its own machine. */
const resolverOf = ({ probeResolver }: KafkaSettings) =>
  probeResolver === undefined ? resolveBySystem : resolveBy(probeResolver, RESOLVE_MS);

/** Clusters mostly wait for the API server and for Kafka. */
const CLUSTERS_AT_ONCE = 8;

export function kafkaRoad({ settings, client, metrics, log }: KafkaRoadOptions): Road<KafkaViews> {
  return {
    name: 'kafka',
    watches: KAFKA_WATCHES,
    events: KAFKA_EVENTS,
    everyKey: {
      kafka: everyKafka,
      'kafka-probe': everyKafka,
      'kafka-topic': everyLabelled('kafkaTopics'),
      'kafka-user': everyLabelled('kafkaUsers'),
    },
    controllers: (context) => {
      const { watched: caches, targets, events } = context;
      const told = new BoundedMap<string, readonly ToldListener[]>(MAX_KAFKAS);
      const onRequest = requestCounter(metrics);
      const entities = { caches, client, onRequest, log };
      const reconciler = kafkaReconciler({ ...entities, targets, settings, told, events, metrics });
      const networks = settings.probeNetworks;
      const prober = probeReconciler({ caches, told, resolve: resolverOf(settings), networks, metrics });
      const { certificateTimes } = settings;
      const controller = (reconcile: RoadController['reconcile']) => ({
        concurrency: CLUSTERS_AT_ONCE,
        reconcile,
      });
      return {
        kafka: controller(reconcileBy(reconciler, context)),
        'kafka-probe': controller(reconcileBy(prober, context)),
        'kafka-topic': controller(reconcileBy(topicReconciler(entities), context)),
        'kafka-user': controller(reconcileBy(userReconciler({ ...entities, certificateTimes }), context)),
      };
    },
  };
}
