/** Decides about all KafkaTopics of a cluster together: whose a topic is, and how much is moved at once. Pure. */
import type { Fault as KafkaFault } from '../../../kafka/admin/answer.ts';
import { ageOf, isBeingDeleted } from '../../../kube/object.ts';
import type { KafkaTopic } from '../../../resources/strimzi/kafka-topic.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { refusedBy } from '../entities/faults.ts';
import type { EntityFault, EntityState } from '../entities/faults.ts';
import { isPaused, usesFinalizer } from '../entities/home.ts';
import type { Board } from '../moves/layout.ts';
import { hasHeld, isTopicName, planTopic, release, topicNameOf } from './plan-topic.ts';
import type { LiveTopic, TopicPlan, TopicStep } from './plan-topic.ts';
import type { Surpluses } from './replicas.ts';

/** What Kafka has, by name. A topic of which it could not say is a fault. */
export interface SeenTopics {
  live: ReadonlyMap<string, LiveTopic | KafkaFault>;
  board: Board;
  /** Reassignments under way, of all topics. */
  moving: number;
  surpluses: Surpluses;
}

export interface PlannedTopic extends Pick<TopicPlan, 'mark' | 'steps'> {
  topic: KafkaTopic;
  /** What is known already; undefined as long as there are steps to take. */
  state: EntityState | undefined;
}

/** Partitions whose number of replicas may be changing at once, what others move included. */
export const MAX_MOVING = 100;

const isManagedTopic = ({ metadata }: KafkaTopic) => metadata.annotations['strimzi.io/managed'] !== 'false';

/** The topics that Kafka has to be asked about. */
export const namesToAsk = (topics: readonly KafkaTopic[]): string[] => [
  ...new Set(topics.filter(isManagedTopic).map(topicNameOf).filter(isTopicName)),
];

/** Nobody has them: those that are to go may go, and what Kafka has stays. */
export const releaseTopics = (topics: readonly KafkaTopic[]): PlannedTopic[] =>
  topics.filter(isBeingDeleted).map((topic) => ({ topic, ...release(topic), state: undefined }));

export function planTopics(home: Kafka, topics: readonly KafkaTopic[], seen: SeenTopics): PlannedTopic[] {
  const holders = holdersOf(topics);
  let left = MAX_MOVING - seen.moving;
  return topics.map((topic): PlannedTopic => {
    if (!isManagedTopic(topic)) return { topic, ...release(topic), state: { is: 'Unmanaged' } };
    if (isPaused(topic)) return { topic, mark: undefined, steps: [], state: { is: 'ReconciliationPaused' } };
    const name = topicNameOf(topic);
    const holder = holders.get(name)!;
    if (holder !== topic)
      return { topic, ...release(topic), state: judged(topic, undefined, [conflict(name, holder)]) };
    const live = seen.live.get(name);
    if (live && 'message' in live)
      return { topic, mark: undefined, steps: [], state: judged(topic, undefined, [refusedBy(live)]) };
    const plan = planTopic(topic, live, seen.board, { holds: usesFinalizer(topic, home) });
    const steps = plan.steps.flatMap((step) => withinBudget(step, left));
    left -= movesIn(steps);
    const isWaiting = plan.steps.length > 0 && steps.length === 0;
    const faults = isWaiting ? [...plan.faults, WAITING] : plan.faults;
    return {
      topic,
      mark: plan.mark,
      steps,
      state: steps.length > 0 || isBeingDeleted(topic) ? undefined : judged(topic, live, faults),
    };
  });
}

/** Of several that name one topic that has it which has had it, and else the oldest. */
function holdersOf(topics: readonly KafkaTopic[]): Map<string, KafkaTopic> {
  const byRank = topics
    .filter(isManagedTopic)
    .map((topic) => ({ topic, rank: `${hasHeld(topic) ? 0 : 1} ${ageOf(topic.metadata)}` }))
    .toSorted((a, b) => (a.rank < b.rank ? 1 : -1));
  return new Map(byRank.map(({ topic }) => [topicNameOf(topic), topic]));
}

const conflict = (name: string, { metadata }: KafkaTopic): EntityFault => ({
  reason: 'ResourceConflict',
  path: ['spec', 'topicName'],
  message: `the topic "${name}" belongs to the KafkaTopic "${metadata.name}", which was first; delete one of the two`,
});

const WAITING: EntityFault = {
  reason: 'Reassigning',
  path: ['spec', 'replicas'],
  message: 'the number of replicas is changed when others have been moved',
};

function judged(topic: KafkaTopic, live: LiveTopic | undefined, faults: readonly EntityFault[]): EntityState {
  const fields = live ? { topicName: topicNameOf(topic), topicId: live.id } : {};
  return { is: 'judged', faults, fields };
}

function withinBudget(step: TopicStep, left: number): TopicStep[] {
  if (step.do !== 'reassign') return [step];
  const wanted = step.wanted.slice(0, Math.max(left, 0));
  return wanted.length > 0 ? [{ do: 'reassign', wanted }] : [];
}

const movesIn = (steps: readonly TopicStep[]): number =>
  steps.reduce((sum, step) => sum + (step.do === 'reassign' ? step.wanted.length : 0), 0);
