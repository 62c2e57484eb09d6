/** What is seen of Kafka clusters, for whoever is to be told when it is not as it should be. */
import type { OnRequest } from '../../../kafka/admin/routing.ts';
import { nameOfKey } from '../../../kube/object.ts';
import type { Labels, Metrics } from '../../../ops/metrics.ts';
import type { Acted } from '../act.ts';

const GAUGES = {
  isthmus_kafka_nodes_to_restart: 'Nodes that are to be restarted, the one under way not among them.',
  isthmus_kafka_roll_state: 'What the operator is at: 1 for the state that it is in; a condition says why.',
  isthmus_kafka_partitions: 'Partitions that are under-replicated or offline.',
  isthmus_kafka_partitions_to_move: 'Partitions on brokers that are to go, and those of all that move.',
  isthmus_kafka_brokers: 'Brokers that Kafka knows, active or fenced.',
  isthmus_kafka_quorum_leader: 'The node that leads the controllers; -1 for none.',
  isthmus_kafka_quorum_voters: 'Controllers that vote, and those of them that are behind the leader.',
} as const;

type GaugeName = keyof typeof GAUGES;

/** One number, by what it is called and what of it. */
export interface Sample {
  name: GaugeName;
  labels?: Labels;
  value: number;
}

const STATES = ['restart', 'reconfigure', 'wait', 'blocked', 'done'] as const;
/** Kafka's own measure of a controller that does not keep up. */
const BEHIND_MS = 2000;

/** What the last look has shown; of what is not known there is no sample. Pure. */
export function samplesOf({ facts, decision, toRestart, moved }: Acted): Sample[] {
  const { health, quorum, brokers } = facts ?? {};
  const fenced = [...(brokers?.registered.values() ?? [])].filter((broker) => broker.fenced).length;
  const head = quorum?.voters.find(({ id }) => id === quorum.leader)?.lastCaughtUpMs ?? Infinity;
  const behind = (quorum?.voters ?? []).filter(({ lastCaughtUpMs }) => head - lastCaughtUpMs > BEHIND_MS);
  const of = (name: GaugeName, byState: Readonly<Record<string, number>>): Sample[] =>
    Object.entries(byState).map(([state, value]) => ({ name, labels: { state }, value }));
  return [
    ...(toRestart === undefined
      ? []
      : [{ name: 'isthmus_kafka_nodes_to_restart' as const, value: toRestart }]),
    ...(decision
      ? of(
          'isthmus_kafka_roll_state',
          Object.fromEntries(STATES.map((state) => [state, decision.do === state ? 1 : 0])),
        )
      : []),
    ...(health
      ? of('isthmus_kafka_partitions', { under_replicated: health.underReplicated, offline: health.offline })
      : []),
    ...(moved
      ? of('isthmus_kafka_partitions_to_move', { to_drain: moved.toDrain, under_way: moved.underWay })
      : []),
    ...(brokers ? of('isthmus_kafka_brokers', { active: brokers.registered.size - fenced, fenced }) : []),
    ...(quorum
      ? [
          { name: 'isthmus_kafka_quorum_leader' as const, value: quorum.leader },
          ...of('isthmus_kafka_quorum_voters', { all: quorum.voters.length, behind: behind.length }),
        ]
      : []),
  ];
}

/** Returns what reports a look at the Kafka of a key; what is no longer known of it is no longer reported. */
export function lookReporter(metrics: Metrics): (key: string, acted: Acted | undefined) => void {
  const gauges = new Map(
    Object.entries(GAUGES).map(([name, help]) => [name as GaugeName, metrics.gauge(name, help)]),
  );
  const reported = new Map<string, readonly Sample[]>();
  return (key, acted) => {
    const { namespace = '', name: kafka } = nameOfKey(key);
    const labelsOf = ({ labels }: Sample) => ({ namespace, kafka, ...labels });
    const samples = acted ? samplesOf(acted) : [];
    for (const old of reported.get(key) ?? [])
      if (!samples.some((one) => one.name === old.name)) gauges.get(old.name)!.drop(labelsOf(old));
    for (const one of samples) gauges.get(one.name)!.of(labelsOf(one)).value = one.value;
    if (samples.length > 0) reported.set(key, samples);
    else reported.delete(key);
  };
}

/** Counts what is asked of Kafka. */
export function requestCounter(metrics: Metrics): OnRequest {
  const requests = metrics.counter(
    'isthmus_operator_kafka_requests_total',
    'Requests to Kafka clusters, by API.',
  );
  return (api) => requests.of({ api }).value++;
}
