/** The road of Kafka clusters that we run: Kafka and KafkaNodePool become brokers and controllers. */
import type { Client } from '../../kube/http/client.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { reconcileBy } from '../kernel/reconcile.ts';
import type { Road, RoadController } from '../kernel/road.ts';
import { KAFKA_EVENTS } from './faults.ts';
import type { KafkaSettings } from './plan.ts';
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

/** Clusters mostly wait for the API server and for Kafka. */
const CLUSTERS_AT_ONCE = 8;

export function kafkaRoad({ settings, client, metrics, log }: KafkaRoadOptions): Road<KafkaViews> {
  return {
    name: 'kafka',
    watches: KAFKA_WATCHES,
    events: KAFKA_EVENTS,
    everyKey: {
      kafka: everyKafka,
      'kafka-topic': everyLabelled('kafkaTopics'),
      'kafka-user': everyLabelled('kafkaUsers'),
    },
    controllers: (context) => {
      const { watched: caches, targets, events } = context;
      const reconciler = kafkaReconciler({ caches, client, targets, settings, events, metrics, log });
      const entities = { caches, client, log };
      const { certificateTimes } = settings;
      const controller = (reconcile: RoadController['reconcile']) => ({
        concurrency: CLUSTERS_AT_ONCE,
        reconcile,
      });
      return {
        kafka: controller(reconcileBy(reconciler, context)),
        'kafka-topic': controller(reconcileBy(topicReconciler(entities), context)),
        'kafka-user': controller(reconcileBy(userReconciler({ ...entities, certificateTimes }), context)),
      };
    },
  };
}
