/** The road of Kafka clusters that we run: Kafka and KafkaNodePool become brokers and controllers. */
import type { Client } from '../../kube/http/client.ts';
import type { Log } from '../../ops/log.ts';
import { BoundedMap } from '../../ops/bounded-map.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { resolverFor } from '../../probe/resolve.ts';
import { reconcileBy } from '../kernel/reconcile.ts';
import type { Road, RoadController } from '../kernel/road.ts';
import type { Promises } from './expose/promised.ts';
import type { ToldListener } from './expose/told.ts';
import { KAFKA_EVENTS } from './faults.ts';
import { requestCounter } from './look/metrics.ts';
import type { KafkaSettings } from './plan.ts';
import { kafkaSource } from './probe/kafka-source.ts';
import { probeReporter } from './probe/metrics.ts';
import { probeReconciler } from './probe/reconcile.ts';
import { kafkaReconciler } from './reconcile.ts';
import { topicReconciler } from './topics/reconcile.ts';
import { userReconciler } from './users/reconcile.ts';
import { withPodsEverywhere } from './stretch/everywhere.ts';
import { targetController } from './stretch/reconcile.ts';
import { TARGET_WATCHES } from './stretch/watches.ts';
import type { TargetViews } from './stretch/watches.ts';
import { vantageReporter } from './vantage/metrics.ts';
import { vantageReconciler } from './vantage/reconcile.ts';
import type { Vantages } from './vantage/reconcile.ts';
import { KAFKA_WATCHES, everyKafka, everyLabelled } from './watches.ts';
import type { KafkaViews } from './watches.ts';

export interface KafkaRoadOptions {
  settings: KafkaSettings;
  client: () => Client;
  metrics: Metrics;
  log: Log;
  /** The clusters that exposed brokers are also looked at from; none if left out. */
  vantages?: Vantages | undefined;
  /** Names that this road and others give out. */
  promised: Promises;
}

const NO_VANTAGES: Vantages = { names: [], placeOf: () => ({ problem: 'nobody is to look from there' }) };

/** Of which is kept what their clients are told. */
const MAX_KAFKAS = 10_000;

/** Clusters mostly wait for the API server and for Kafka. */
const CLUSTERS_AT_ONCE = 8;

/** A cluster that comes, goes, or is seen again concerns all Kafkas that may be in it: any of them. */
const everyRemoteKey = { kafka: everyKafka };

export function kafkaRoad(options: KafkaRoadOptions): Road<KafkaViews, TargetViews> {
  const { settings, client, metrics, log } = options;
  return {
    name: 'kafka',
    watches: KAFKA_WATCHES,
    remoteWatches: TARGET_WATCHES,
    everyRemoteKey,
    events: KAFKA_EVENTS,
    everyKey: {
      kafka: everyKafka,
      'kafka-probe': everyKafka,
      'kafka-vantage': everyKafka,
      'kafka-topic': everyLabelled('kafkaTopics'),
      'kafka-user': everyLabelled('kafkaUsers'),
    },
    controllers: (context) => {
      const { watched: caches, remotes, targets, events, wake } = context;
      const told = new BoundedMap<string, readonly ToldListener[]>(MAX_KAFKAS);
      const onRequest = requestCounter(metrics);
      const entities = { caches: withPodsEverywhere(caches, remotes), client, onRequest, events, log };
      const elsewhere = targetController(remotes, context, {
        kafka: (key) => wake('kafka', key),
        target: (key) => wake('kafka-target', key),
      });
      const reconciler = kafkaReconciler({
        caches,
        remotes,
        handover: elsewhere,
        client,
        targets,
        settings,
        told,
        promised: options.promised,
        events,
        metrics,
        onRequest,
        log,
      });
      const { certificateTimes, probeResolver: resolver, probeNetworks: networks } = settings;
      const source = kafkaSource(caches, told, { resolve: resolverFor(resolver), networks });
      const prober = probeReconciler({
        source,
        told,
        report: probeReporter(metrics, 'Kafka'),
        withoutPolicies: settings.networkPolicies === false,
      });
      const lookout = vantageReconciler({
        source,
        told,
        resolver,
        networks,
        vantages: options.vantages ?? NO_VANTAGES,
        image: settings.ownImage,
        report: vantageReporter(metrics, 'Kafka'),
      });
      const controller = (reconcile: RoadController['reconcile']) => ({
        concurrency: CLUSTERS_AT_ONCE,
        reconcile,
      });
      return {
        kafka: controller(reconcileBy(reconciler, context)),
        ...(remotes && { 'kafka-target': controller(elsewhere.controller) }),
        'kafka-probe': controller(reconcileBy(prober, context)),
        'kafka-vantage': controller(reconcileBy(lookout, context)),
        'kafka-topic': controller(reconcileBy(topicReconciler(entities), context)),
        'kafka-user': controller(reconcileBy(userReconciler({ ...entities, certificateTimes }), context)),
      };
    },
  };
}
