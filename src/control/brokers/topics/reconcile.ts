/**
 * How the road decides about the KafkaTopics that are labelled with one cluster in one namespace: all of them at once, so that a thousand
 * take no more connections and hardly more requests than one.
 */
import type { OnRequest } from '../../../kafka/admin/routing.ts';
import type { Client } from '../../../kube/http/client.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { EventRecorder } from '../../../kube/write/events.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import { kafkaTopic } from '../../../resources/strimzi/kafka-topic.ts';
import type { KafkaTopic } from '../../../resources/strimzi/kafka-topic.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import type { Plan } from '../../kernel/plan.ts';
import { read } from '../../kernel/read.ts';
import type { Reconciler } from '../../kernel/reconcile.ts';
import type { Watched } from '../../kernel/watches.ts';
import { UNAVAILABLE, deniedBy, refusedBy, statusOf } from '../entities/faults.ts';
import type { EntityState } from '../entities/faults.ts';
import { homeOf, isHomeUnclear } from '../entities/home.ts';
import { writeMarks } from '../entities/mark.ts';
import type { Marks } from '../entities/mark.ts';
import { charterIn, leavingIn, reach, secretsToReach } from '../entities/reach.ts';
import { toldBy } from '../news.ts';
import type { KafkaViews } from '../watches.ts';
import { lookAtTopics, takeSteps } from './look.ts';
import type { LookContext } from './look.ts';
import { newsOfStep } from './news.ts';
import { topicNameOf } from './plan-topic.ts';
import { planTopics, releaseTopics } from './plan-topics.ts';
import type { PlannedTopic } from './plan-topics.ts';
import type { Surpluses } from './replicas.ts';

export interface TopicReconcilerOptions {
  caches: Watched<KafkaViews>;
  client: () => Client;
  /** Told of each request to Kafka. */
  onRequest: OnRequest;
  events: Pick<EventRecorder, 'record'>;
  log: Log;
}

interface Observed {
  home: Kafka | undefined;
  topics: readonly KafkaTopic[];
  /** Resources that cannot be read, and why. */
  unreadable: readonly { object: KubeObject; problem: string }[];
  /** Whether it is not known yet who has the topics. */
  isUnclear: boolean;
  acted: TopicsActed | undefined;
}

interface TopicsAction {
  home: Kafka | undefined;
  topics: readonly KafkaTopic[];
}

export interface TopicsActed {
  /** By uid: what is known, and of which generation. */
  states: ReadonlyMap<string, { generation: number | undefined; state: EntityState }>;
  /** Topics with more replicas than wanted, as this look has seen them. */
  surpluses: Surpluses;
  /** Whether something was begun, whose end is to be seen. */
  isBusy: boolean;
  isReached: boolean;
}

type TopicsPlan = Plan<TopicsAction>;

const NOTHING: TopicsPlan = { persist: [], targets: [], actions: [], statuses: [], lookAgainInMs: undefined };
const SOON_MS = 500;
const UNREACHED_MS = 5000;
/** Kafka tells nobody of changes that others make. */
const IDLE_MS = 120_000;

export function topicReconciler(
  options: TopicReconcilerOptions,
): Reconciler<Observed, TopicsPlan, never, TopicsActed> {
  const { caches, client } = options;
  const { views } = caches;
  return {
    load(key, signal) {
      const home = homeOf(key, views.kafkas, 'topicOperator');
      return caches.load(`kafka-topic ${key}`, { secrets: home ? secretsToReach(home) : [] }, signal);
    },
    observe(key, acted) {
      const readings = (views.kafkaTopics?.find('kafka', key) ?? []).map((object) => ({
        object,
        ...read(kafkaTopic, object),
      }));
      return {
        home: homeOf(key, views.kafkas, 'topicOperator'),
        topics: readings.flatMap(({ resource }) => resource ?? []),
        unreadable: readings.flatMap(({ object, problem }) =>
          problem === undefined ? [] : [{ object, problem }],
        ),
        isUnclear: caches.undiscovered.size > 0 || isHomeUnclear(key, views.kafkas, 'topicOperator'),
        acted,
      };
    },
    plan,
    async act({ plan: { actions }, before, now }, signal) {
      const [action] = actions;
      if (!action) return { acted: undefined };
      const seen = { surpluses: before?.surpluses ?? new Map(), now };
      return { acted: await act(action, options, seen, client, signal) };
    },
  };
}

function plan({ home, topics, unreadable, isUnclear, acted }: Observed): TopicsPlan {
  if (isUnclear) return { ...NOTHING, lookAgainInMs: UNREACHED_MS };
  if (topics.length + unreadable.length === 0) return NOTHING;
  const known = topics.flatMap((topic) => {
    const found = acted?.states.get(topic.metadata.uid ?? '');
    return found && found.generation === topic.metadata.generation ? statusOf(topic, found.state) : [];
  });
  const broken = unreadable.flatMap(({ object, problem }) =>
    statusOf(object, {
      is: 'judged',
      faults: [{ reason: 'Invalid', path: [], message: problem }],
      fields: {},
    }),
  );
  return {
    ...NOTHING,
    actions: [{ home, topics }],
    statuses: home ? [...known, ...broken] : [],
    lookAgainInMs: home && (acted?.isBusy ? SOON_MS : acted?.isReached === false ? UNREACHED_MS : IDLE_MS),
  };
}

async function act(
  { home, topics }: TopicsAction,
  { caches: { views }, onRequest, events, log }: TopicReconcilerOptions,
  seen: Pick<LookContext, 'surpluses' | 'now'>,
  client: () => Client,
  signal: AbortSignal,
): Promise<TopicsActed> {
  if (!home) {
    const { denied } = await mark(releaseTopics(topics), client(), signal);
    for (const refusal of denied.values()) throw refusal;
    return { states: new Map(), surpluses: new Map(), isBusy: false, isReached: true };
  }
  const charter = charterIn(views, home);
  const admin = reach(views, home, charter, onRequest);
  if (!admin) return unreached(topics);
  try {
    const found = await lookAtTopics(admin, topics, { ...seen, leaving: leavingIn(charter) });
    const planned = planTopics(home, topics, found);
    const { marked, denied } = await mark(planned, client(), signal);
    const begun = planned.filter(({ topic }) => marked.has(topic));
    const refused = await takeSteps(
      admin,
      begun.flatMap((one) => one.steps),
    );
    for (const { topic, steps } of begun)
      if (!refused.has(topicNameOf(topic)))
        for (const step of steps) events.record(topic, toldBy(newsOfStep(step)));
    const isBusy = planned.some(
      (one) => isUnderWay(one) && !refused.has(topicNameOf(one.topic)) && !denied.has(one.topic),
    );
    const { surpluses } = found;
    return { states: statesOf(planned, refused, denied), surpluses, isBusy, isReached: true };
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ reason: messageOf(error) }, 'topics could not be looked at');
    return unreached(topics);
  } finally {
    admin.close();
  }
}

/** Whether something was begun, or replicas are on their way. */
const isUnderWay = ({ steps, state }: PlannedTopic): boolean =>
  steps.length > 0 || (state?.is === 'judged' && state.faults.some(({ reason }) => reason === 'Reassigning'));

const mark = (planned: readonly PlannedTopic[], client: Client, signal: AbortSignal) =>
  writeMarks(
    client,
    planned.map(({ topic: resource, mark: wanted }) => ({ resource, mark: wanted })),
    signal,
  );

type States = TopicsActed['states'];

const unreached = (topics: readonly KafkaTopic[]): TopicsActed => ({
  states: new Map(topics.map((topic) => entryOf(topic, { is: 'unknown', fault: UNAVAILABLE }))),
  surpluses: new Map(),
  isBusy: false,
  isReached: false,
});

const entryOf = ({ metadata }: KafkaTopic, state: EntityState) =>
  [metadata.uid ?? '', { generation: metadata.generation, state }] as const;

function statesOf(
  planned: readonly PlannedTopic[],
  refused: ReadonlyMap<string, { message: string }>,
  denied: Marks<KafkaTopic>['denied'],
): States {
  return new Map(
    planned.flatMap(({ topic, steps, state }) => {
      const denial = denied.get(topic);
      if (denial) return [entryOf(topic, { is: 'judged', faults: [deniedBy(denial)], fields: {} })];
      const refusal = steps.length > 0 ? refused.get(topicNameOf(topic)) : undefined;
      if (refusal) return [entryOf(topic, { is: 'judged', faults: [refusedBy(refusal)], fields: {} })];
      return state ? [entryOf(topic, state)] : [];
    }),
  );
}
