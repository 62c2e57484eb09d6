/** How the road decides about the KafkaUsers that are labelled with one cluster in one namespace: all of them at once. */
import type { OnRequest } from '../../../kafka/admin/routing.ts';
import type { Client } from '../../../kube/http/client.ts';
import { isBeingDeleted, keyOf, nameOfKey } from '../../../kube/object.ts';
import type { AnyObject } from '../../../kube/object.ts';
import type { EventRecorder } from '../../../kube/write/events.ts';
import type { Log } from '../../../ops/log.ts';
import { kafkaUser } from '../../../resources/strimzi/kafka-user.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { read } from '../../kernel/read.ts';
import type { Reconciler } from '../../kernel/reconcile.ts';
import type { Watched } from '../../kernel/watches.ts';
import type { CertificateTimes } from '../certificates/policy.ts';
import { homeOf, isHomeUnclear } from '../entities/home.ts';
import { charterIn, reach, secretsToReach } from '../entities/reach.ts';
import { clientsCaCertName, clientsCaName } from '../model/names.ts';
import { isOfUser } from '../watches.ts';
import type { KafkaViews } from '../watches.ts';
import { actOnUsers } from './act.ts';
import { clientsAuthority } from './credentials.ts';
import { planUsers } from './plan-users.ts';
import type { ObservedUser, ObservedUsers, UsersActed, UsersPlan } from './plan-users.ts';

export interface UserReconcilerOptions {
  caches: Watched<KafkaViews>;
  client: () => Client;
  /** Told of each request to Kafka. */
  onRequest: OnRequest;
  events: Pick<EventRecorder, 'record'>;
  /** How long certificates live, if not as the Kafka says. */
  certificateTimes: CertificateTimes | undefined;
  log: Log;
}

export function userReconciler({
  caches,
  client,
  onRequest,
  events,
  certificateTimes,
  log,
}: UserReconcilerOptions): Reconciler<ObservedUsers, UsersPlan, never, UsersActed> {
  const { views } = caches;
  return {
    load(key, signal) {
      const home = homeOf(key, views.kafkas, 'userOperator');
      const users = new Set(
        (views.kafkaUsers?.find('kafka', key) ?? []).map(({ metadata }) => metadata.name),
      );
      // Anybody may label theirs so.
      const own = views.secrets
        .find('kafka', key)
        .filter((secret) => isOfUser(secret) && users.has(secret.metadata.name));
      const secrets = home
        ? [...own.map(({ metadata }) => keyOf(metadata)), ...secretsToReach(home), ...authorityKeys(home)]
        : [];
      return caches.load(`kafka-user ${key}`, { secrets }, signal);
    },
    observe: (key, acted, now) => observeUsers(caches, key, certificateTimes, acted, now),
    plan: planUsers,
    avoidsTaken: true,
    async act({ plan: { actions }, before, now }, signal) {
      const [action] = actions;
      if (!action) return { acted: undefined };
      const { home } = action;
      const admin = home && reach(views, home, charterIn(views, home), onRequest);
      try {
        const context = { client: client(), admin, events, log, now: new Date(now) };
        return { acted: await actOnUsers(action, before, context, signal) };
      } finally {
        admin?.close();
      }
    },
  };
}

const authorityKeys = ({ metadata: { namespace, name } }: Kafka): string[] =>
  [clientsCaCertName(name), clientsCaName(name)].map((secret) => keyOf({ namespace, name: secret }));

function observeUsers(
  { views, undiscovered }: Pick<Watched<KafkaViews>, 'views' | 'undiscovered'>,
  key: string,
  times: CertificateTimes | undefined,
  acted: UsersActed | undefined,
  now: number,
): ObservedUsers {
  const { namespace = '', name: cluster } = nameOfKey(key);
  const home = homeOf(key, views.kafkas, 'userOperator');
  const readings = (views.kafkaUsers?.find('kafka', key) ?? []).map((object) => ({
    object,
    ...read(kafkaUser, object),
  }));
  const users = readings
    .flatMap(({ resource }) => resource ?? [])
    .map((user): ObservedUser => ({ user, secret: secretOf(views, keyOf(user.metadata)) }));
  return {
    namespace,
    cluster,
    home,
    users,
    unreadable: readings.flatMap(({ object, problem }) =>
      problem === undefined ? [] : [{ object, problem }],
    ),
    authority: home && authorityOf(views, home, users, new Date(now), times),
    isUnclear: undiscovered.size > 0 || isHomeUnclear(key, views.kafkas, 'userOperator'),
    acted,
  };
}

function secretOf({ secrets }: KafkaViews, key: string): AnyObject | undefined {
  const found = secrets.get(key);
  return found && isOfUser(found) ? found : undefined;
}

function authorityOf(
  views: KafkaViews,
  home: Kafka,
  users: readonly ObservedUser[],
  now: Date,
  times: CertificateTimes | undefined,
) {
  const { namespace } = home.metadata;
  const holders = users
    .filter(({ user }) => user.spec.authentication?.type === 'tls' && !isBeingDeleted(user))
    .map(({ user, secret }) => ({ name: user.metadata.name, secret }));
  return clientsAuthority(
    home,
    (name) => views.secrets.get(keyOf({ namespace, name })),
    views.pods.find('kafka', keyOf(home.metadata)),
    holders,
    now,
    times,
  );
}
