import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from '../../kafka/admin/admin.ts';
import { IsthmusError } from '../../ops/errors.ts';
import type { Work } from './copy.ts';
import { describeTopic, offsetsOf, Refused } from './source.ts';
import type { TopicState } from './source.ts';
import { openTarget } from './target.ts';

const LOOK_AGAIN_MS = 100;
const MOST_LOOKS = 600;

/** What would be done. */
export interface Prepared {
  topic: string;
  into: string;
  partitions: number;
  /** Offsets that the source has, and how many of them have not been copied. */
  offsets: number;
  left: number;
  /** The target does not exist yet, and gets these settings of the source. */
  creates: { partitions: number; replicas: number; configs: Record<string, string> } | undefined;
}

/** Looks, and refuses what cannot be; nothing is changed. */
export async function prepare({ from, to, topic, into, group }: Work): Promise<Prepared> {
  const source = await describeTopic(from, topic);
  if (!source) throw new IsthmusError('USAGE', `there is no topic ${topic} at --from`);
  const target = await describeTopic(to, into);
  if (target && target.id === source.id)
    throw new IsthmusError(
      'USAGE',
      `${topic} and ${into} are the same topic: it would be copied into itself`,
    );
  if (target && target.leaders.length < source.leaders.length)
    throw new IsthmusError(
      'USAGE',
      `${into} has ${target.leaders.length} partitions, ${topic} has ${source.leaders.length}: keys would be in other partitions than before`,
    );
  const { first, end } = await offsetsOf(from, topic, source);
  const copied = target
    ? await openTarget({ admin: to, topic: into, leaders: target.leaders, group }).copied()
    : new Map<number, bigint>();
  const count = (firstOf: (partition: number) => bigint) =>
    Number(end.reduce((sum, last, i) => sum + (last > firstOf(i) ? last - firstOf(i) : 0n), 0n));
  const start = (i: number) => {
    const [known, done] = [first[i] ?? 0n, copied.get(i) ?? 0n];
    return known > done ? known : done;
  };
  return {
    topic,
    into,
    partitions: source.leaders.length,
    offsets: count((i) => first[i] ?? 0n),
    left: count(start),
    creates: target ? undefined : await shapeOf(from, topic, source),
  };
}

/** What the target is to be like: as the source, with all that was set for it. */
async function shapeOf(from: Admin, topic: string, { leaders, replicas }: TopicState) {
  const [described] = await from.configs([{ type: 'topic', name: topic }]);
  const configs = Object.entries(described?.configs ?? {}).flatMap(([name, { value, source }]) =>
    source === 'topic' && value !== null ? [[name, value] as const] : [],
  );
  return { partitions: leaders.length, replicas, configs: Object.fromEntries(configs) };
}

/** Makes the target, if it has to be made. */
export async function createTarget(to: Admin, { into, creates }: Prepared): Promise<void> {
  if (!creates) return;
  const { partitions, replicas, configs } = creates;
  const wanted = { name: into, partitions, replicationFactor: replicas, configs };
  const [result] = await to.createTopics([wanted]);
  if (result?.error && result.error.name !== 'TOPIC_ALREADY_EXISTS')
    throw new Refused(`topic ${into}`, result.error);
  // The controller has it first; brokers hear of it later, and then of its leaders.
  for (let times = 0; times < MOST_LOOKS; times++) {
    const made = await describeTopic(to, into);
    if (made?.leaders.every((leader) => leader >= 0)) return;
    await sleep(LOOK_AGAIN_MS);
  }
  throw new IsthmusError('KAFKA_REFUSED', `${into} was made, and its partitions have no leaders`);
}
