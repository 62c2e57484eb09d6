/** How the road decides about one Kafka cluster: what the kernel calls in its order. */
import { randomBytes } from 'node:crypto';
import { keyOf, nameOfKey } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { BoundedMap } from '../../ops/bounded-map.ts';
import type { Client } from '../../kube/http/client.ts';
import type { EventRecorder } from '../../kube/write/events.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { OnRequest } from '../../kafka/admin/routing.ts';
import type { Reconciler } from '../kernel/reconcile.ts';
import type { Targets } from '../kernel/targets.ts';
import type { Watched } from '../kernel/watches.ts';
import { act } from './act.ts';
import type { Acted } from './act.ts';
import { certificateEndReporter } from './certificates/metrics.ts';
import { promisedAlso } from './expose/grants.ts';
import type { Promised } from './expose/grants.ts';
import type { ToldListener } from './expose/told.ts';
import { isManaged } from './front/kafka.ts';
import { loggingSource } from './front/logging.ts';
import { lookReporter } from './look/metrics.ts';
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
  /** By key: what clients outside are told, for whoever probes it. */
  told: Map<string, readonly ToldListener[]>;
  events: EventRecorder;
  metrics: Metrics;
  /** Told of each request to Kafka. */
  onRequest: OnRequest;
  log: Log;
}

const MAX_LOGGING = 1000;
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };

/** Read each time: it need not have a label by which it would be followed. */
async function readLogging(
  client: Client,
  kafka: AnyObject | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const source = kafka && isManaged(kafka) ? loggingSource(kafka) : undefined;
  if (!kafka || !source) return undefined;
  const { namespace } = kafka.metadata;
  const found = await client.get(CONFIG_MAP, { namespace, name: source.name }, { signal });
  const text = ((found?.['data'] ?? {}) as Record<string, unknown>)[source.key];
  return typeof text === 'string' ? text : undefined;
}

export function kafkaReconciler(
  options: KafkaReconcilerOptions,
): Reconciler<Observed, KafkaPlan, never, Acted> {
  const { caches, client, targets, settings, told, events, onRequest, log } = options;
  const { views } = caches;
  const reportLook = lookReporter(options.metrics);
  const reportEnds = certificateEndReporter(options.metrics);
  /** By key of a Kafka: what is in the ConfigMap that it names. */
  const logging = new BoundedMap<string, string>(MAX_LOGGING);
  /** By key: names that plans have given out, which other plans may not see in anchors yet. */
  const promised = new Map<string, Promised>();
  return {
    async load(key, signal) {
      const secrets = views.secrets
        .find('kafka', key)
        .filter((secret) => !isOfUser(secret))
        .map(({ metadata }) => keyOf(metadata));
      if (await caches.load(`kafka ${key}`, { secrets }, signal)) return true;
      const text = await readLogging(client(), views.kafkas?.get(key), signal);
      if (text === undefined) logging.delete(key);
      else logging.set(key, text);
      return false;
    },
    observe(key, acted, now) {
      const { namespace = '', name } = nameOfKey(key);
      const externalLogging = logging.get(key);
      const brought = { acted, externalLogging, newClusterId: newClusterId(), now, promised };
      return observeKafka(caches, { namespace, name }, brought);
    },
    plan(observed, learned) {
      const plan = planKafka(observed, settings, learned);
      reportEnds(keyOf(observed), plan.certificateEnds);
      if (!observed.isManaged) told.delete(keyOf(observed));
      else if (plan.told) told.set(keyOf(observed), plan.told);
      if (!observed.isManaged) promised.delete(keyOf(observed));
      else if (plan.names) {
        const version = observed.anchor?.metadata.resourceVersion;
        promised.set(keyOf(observed), promisedAlso(promised.get(keyOf(observed)), version, plan.names));
      }
      reportLook(keyOf(observed), observed.isManaged ? observed.acted : undefined);
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
          tell(reason, note) {
            const kafka = views.kafkas?.get(key);
            if (kafka) events.record(kafka, { type: 'Normal', reason, action: 'Reconcile', note });
          },
          onRequest,
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
