/** How the road decides about one Kafka cluster: what the kernel calls in its order. */
import { randomBytes } from 'node:crypto';
import { keyOf, nameOfKey } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { BoundedMap } from '../../ops/bounded-map.ts';
import { IsthmusError } from '../../ops/errors.ts';
import type { Client } from '../../kube/http/client.ts';
import type { EventRecorder } from '../../kube/write/events.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { OnRequest } from '../../kafka/admin/routing.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { Reconciler } from '../kernel/reconcile.ts';
import type { Remotes } from '../kernel/remotes.ts';
import type { Targets } from '../kernel/targets.ts';
import type { Watched } from '../kernel/watches.ts';
import { act } from './act.ts';
import type { Acted } from './act.ts';
import { certificateEndReporter } from './certificates/metrics.ts';
import { promisedAlso, promisesOf } from './expose/promised.ts';
import type { Promises } from './expose/promised.ts';
import type { ToldListener } from './expose/told.ts';
import { isManaged } from './front/kafka.ts';
import { loggingSource } from './front/logging.ts';
import { lookReporter } from './look/metrics.ts';
import { isSecretOf } from './model/names.ts';
import { toldBy } from './news.ts';
import { observeKafka } from './observe.ts';
import type { Observed } from './observe.ts';
import { planKafka } from './plan.ts';
import type { KafkaPlan, KafkaSettings } from './plan.ts';
import type { Handover } from './stretch/reconcile.ts';
import { targetReporter } from './stretch/metrics.ts';
import { podsEverywhere } from './stretch/everywhere.ts';
import { sightsOf } from './stretch/sight.ts';
import type { TargetViews } from './stretch/watches.ts';
import { isOfUser } from './watches.ts';
import type { KafkaViews } from './watches.ts';

export interface KafkaReconcilerOptions {
  caches: Watched<KafkaViews>;
  /** Other clusters; undefined where none can be joined. */
  remotes: Remotes<TargetViews> | undefined;
  /** Where it is said what is wanted in those. */
  handover: Handover;
  client: () => Client;
  targets: Targets;
  settings: KafkaSettings;
  /** By key: what clients outside are told, for whoever probes it. */
  told: Map<string, readonly ToldListener[]>;
  /** Names that plans have given out, which other plans may not see written down yet. */
  promised: Promises;
  events: EventRecorder;
  metrics: Metrics;
  /** Told of each request to Kafka. */
  onRequest: OnRequest;
  log: Log;
}

interface ObjectPlace {
  namespace: string;
  name: string;
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

/** Those that a cluster of ours has. Anybody may label theirs so, and Strimzi does for clusters that are not ours. */
function secretsOf({ kafkas, secrets }: KafkaViews, key: string): string[] {
  const kafka = kafkas?.get(key);
  if (!kafka || !isManaged(kafka)) return [];
  const { name } = kafka.metadata;
  return secrets
    .find('kafka', key)
    .filter((secret) => !isOfUser(secret) && isSecretOf(name, secret.metadata.name))
    .map(({ metadata }) => keyOf(metadata));
}

export function kafkaReconciler(
  options: KafkaReconcilerOptions,
): Reconciler<Observed, KafkaPlan, never, Acted> {
  const { caches, remotes, handover, client, targets, settings, told, promised, events, onRequest, log } =
    options;
  const { views } = caches;
  const reportLook = lookReporter(options.metrics);
  const reportEnds = certificateEndReporter(options.metrics);
  const reportPlaces = targetReporter(options.metrics);
  /** By key of a Kafka: what is in the ConfigMap that it names. */
  const logging = new BoundedMap<string, string>(MAX_LOGGING);
  const promises = promisesOf(promised, 'Kafka');
  return {
    async load(key, signal) {
      if (await caches.load(`kafka ${key}`, { secrets: secretsOf(views, key) }, signal)) return true;
      const text = await readLogging(client(), views.kafkas?.get(key), signal);
      if (text === undefined) logging.delete(key);
      else logging.set(key, text);
      return false;
    },
    observe(key, acted, now) {
      const { namespace = '', name } = nameOfKey(key);
      const externalLogging = logging.get(key);
      const targetFaults = handover.faultsOf(key);
      const brought = { acted, externalLogging, newClusterId: newClusterId(), now, promised, targetFaults };
      const seen = {
        views,
        undiscovered: caches.undiscovered,
        versionOf: (row: keyof KafkaViews) => caches.versionOf(row),
        sightsOf: (one: ObjectPlace) => sightsOf(remotes, one),
      };
      return observeKafka(seen, { namespace, name }, brought);
    },
    plan(observed, learned) {
      const plan = planKafka(observed, settings, learned);
      reportEnds(keyOf(observed), plan.certificateEnds);
      if (plan.places.length > 0 || !observed.isManaged) reportPlaces(keyOf(observed), plan.places);
      if (!observed.isManaged) told.delete(keyOf(observed));
      else if (plan.told) told.set(keyOf(observed), plan.told);
      if (!observed.isManaged) promises.delete(keyOf(observed));
      else if (plan.names) {
        const version = observed.anchor?.metadata.resourceVersion;
        const names = Object.values(plan.names);
        promises.set(keyOf(observed), promisedAlso(promises.get(keyOf(observed)), version, names));
      }
      if (!observed.isManaged && !observed.isLeaving) handover.forget(keyOf(observed));
      else handover.want(keyOf(observed), plan.wishes);
      reportLook(keyOf(observed), observed.isManaged ? observed.acted : undefined);
      return plan;
    },
    avoidsTaken: true,
    act({ key, plan, before }, signal) {
      const { namespace = '' } = nameOfKey(key);
      return act(
        plan.actions,
        before,
        {
          client: (cluster = LOCAL) => (cluster === LOCAL ? client() : clientOf(remotes, cluster)),
          targets,
          namespace,
          podsOf: () => podsEverywhere(views, remotes).find('kafka', key),
          secretOf: (name) => views.secrets.get(keyOf({ namespace, name })),
          tell(reason, note) {
            const kafka = views.kafkas?.get(key);
            if (kafka) events.record(kafka, toldBy({ reason, note }));
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

function clientOf(remotes: Remotes<TargetViews> | undefined, cluster: string): Client {
  const remote = remotes?.get(cluster);
  if (!remote) throw new IsthmusError('CLUSTER_UNKNOWN', cluster);
  return remote.cluster.client;
}

/** As Kafka makes them: a random UUID in URL-safe Base64, which must not look like an option of a command. */
function newClusterId(): string {
  for (;;) {
    const id = randomBytes(16).toString('base64url');
    if (!id.startsWith('-')) return id;
  }
}
