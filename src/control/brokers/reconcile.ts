/** How the road decides about one Kafka cluster: what the kernel calls in its order. */
import { randomBytes } from 'node:crypto';
import { keyOf, nameOfKey } from '../../kube/object.ts';
import type { Client } from '../../kube/http/client.ts';
import type { EventRecorder } from '../../kube/write/events.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Reconciler } from '../kernel/reconcile.ts';
import type { Targets } from '../kernel/targets.ts';
import type { Watched } from '../kernel/watches.ts';
import { act } from './act.ts';
import type { Acted } from './act.ts';
import { certificateEndReporter } from './certificates/metrics.ts';
import { observeKafka } from './observe.ts';
import type { Observed } from './observe.ts';
import { planKafka } from './plan.ts';
import type { KafkaPlan, KafkaSettings } from './plan.ts';
import { isOfUser } from './watches.ts';
import type { KafkaViews } from './watches.ts';

export interface KafkaReconcilerOptions {
  caches: Watched<KafkaViews>;
  client: () => Client;
  targets: Targets;
  settings: KafkaSettings;
  events: EventRecorder;
  metrics: Metrics;
  log: Log;
}

export function kafkaReconciler(
  options: KafkaReconcilerOptions,
): Reconciler<Observed, KafkaPlan, never, Acted> {
  const { caches, client, targets, settings, events, log } = options;
  const { views } = caches;
  const reportEnds = certificateEndReporter(options.metrics);
  return {
    load(key, signal) {
      const secrets = views.secrets
        .find('kafka', key)
        .filter((secret) => !isOfUser(secret))
        .map(({ metadata }) => keyOf(metadata));
      return caches.load(`kafka ${key}`, { secrets }, signal);
    },
    observe(key, acted, now) {
      const { namespace = '', name } = nameOfKey(key);
      return observeKafka(caches, { namespace, name }, { acted, newClusterId: newClusterId(), now });
    },
    plan(observed, learned) {
      const plan = planKafka(observed, settings, learned);
      reportEnds(keyOf(observed), plan.certificateEnds);
      return plan;
    },
    avoidsTaken: true,
    act({ key, plan, before }, signal) {
      const { namespace } = nameOfKey(key);
      return act(
        plan.actions,
        before,
        {
          client,
          targets,
          podsOf: () => views.pods.find('kafka', key),
          secretOf: (name) => views.secrets.get(keyOf({ namespace, name })),
          log: log.child({ object: key }),
          tell(reason, note) {
            const kafka = views.kafkas?.get(key);
            if (kafka) events.record(kafka, { type: 'Normal', reason, action: 'Reconcile', note });
          },
          clock: Date.now,
        },
        signal,
      );
    },
  };
}

/** As Kafka makes them: a random UUID in URL-safe Base64, which must not look like an option of a command. */
function newClusterId(): string {
  for (;;) {
    const id = randomBytes(16).toString('base64url');
    if (!id.startsWith('-')) return id;
  }
}
