/** How the road decides about one Kafka cluster: what the kernel calls in its order. */
import { randomBytes } from 'node:crypto';
import { keyOf, nameOfKey } from '../../kube/object.ts';
import type { Client } from '../../kube/http/client.ts';
import type { Log } from '../../ops/log.ts';
import type { Reconciler } from '../kernel/reconcile.ts';
import type { Targets } from '../kernel/targets.ts';
import type { Watched } from '../kernel/watches.ts';
import { act } from './act.ts';
import type { Acted } from './act.ts';
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
  log: Log;
}

export function kafkaReconciler(
  options: KafkaReconcilerOptions,
): Reconciler<Observed, KafkaPlan, never, Acted> {
  const { caches, client, targets, settings, log } = options;
  const { views } = caches;
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
    plan: (observed, learned) => planKafka(observed, settings, learned),
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
