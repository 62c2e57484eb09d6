/**
 * Has this cluster take over a Kafka whose former central cluster is lost. What is to be done next is read off the resources each time, so
 * that whoever runs the command again goes on. Pure.
 */
import { ADOPT_ANNOTATION } from '../../control/brokers/stretch/adoption.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { KafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { conditionsIn } from '../../view/health.ts';

/** A joined cluster, and what it has of a Kafka of that name. */
export interface Joined {
  cluster: string;
  anchor?: KafkaAnchor | undefined;
  /** Why it could not be looked at. */
  problem?: string;
}

/** All that was read; other clusters only while there is no anchor here. */
export interface AdoptionSight {
  kafka: AnyObject | undefined;
  anchor: KafkaAnchor | undefined;
  joined: readonly Joined[];
}

export type AdoptionStep =
  | { do: 'refuse'; why: string }
  /** The operator may take over the Kafka cluster of this id. */
  | { do: 'annotate'; clusterId: string; progress: string }
  | { do: 'wait'; progress: string }
  | { do: 'done' };

const refuse = (why: string): AdoptionStep => ({ do: 'refuse', why });

export function nextAdoption(name: string, { kafka, anchor, joined }: AdoptionSight): AdoptionStep {
  if (!kafka)
    return refuse(`there is no Kafka ${name} here; apply it first, with its node pools, topics and users`);
  const wanted = kafka.metadata.annotations?.[ADOPT_ANNOTATION];
  if (anchor) {
    if (wanted !== anchor.spec.clusterId)
      return refuse(`Kafka ${name} has a KafkaAnchor here, so it is run from here already`);
    return isReady(kafka) ? { do: 'done' } : { do: 'wait', progress: saidOf(kafka) };
  }
  const found = joined.flatMap((one) => (one.anchor ? [{ cluster: one.cluster, ...one.anchor.spec }] : []));
  const newest = found.toSorted((a, b) => b.epoch - a.epoch)[0];
  if (!newest) return refuse(whyNothing(name, joined));
  const other = found.find(({ clusterId }) => clusterId !== newest.clusterId);
  if (other)
    return refuse(
      `there is more than one Kafka of this name: in ${newest.cluster} of the cluster id ${newest.clusterId}, in ${other.cluster} of ${other.clusterId}; remove what is left of the wrong one`,
    );
  if (wanted === newest.clusterId) return { do: 'wait', progress: saidOf(kafka) };
  const { clusterId, holder, epoch, nodes } = newest;
  const places = found.map(({ cluster }) => cluster).join(', ');
  return {
    do: 'annotate',
    clusterId,
    progress: `Kafka ${name} (${clusterId}) is taken over: ${nodes.length} nodes, known from ${places}; run from "${holder}" until now, epoch ${epoch}`,
  };
}

function whyNothing(name: string, joined: readonly Joined[]): string {
  if (joined.length === 0) return 'no cluster is joined for stretched Kafkas; join those that it runs in';
  const unseen = joined.flatMap(({ cluster, problem }) => (problem === undefined ? [] : `${cluster} (${problem})`)); // prettier-ignore
  const seen = joined.flatMap(({ cluster, problem }) => (problem === undefined ? cluster : []));
  return [
    ...(seen.length > 0 ? [`there is no KafkaAnchor ${name} in ${seen.join(', ')}`] : []),
    ...(unseen.length > 0 ? [`nobody could look into ${unseen.join(', ')}`] : []),
  ].join('; ');
}

const isReady = (kafka: AnyObject) =>
  conditionsIn(kafka).some(({ type, status }) => type === 'Ready' && status === 'True');

/** What the operator says that it waits for. */
function saidOf(kafka: AnyObject): string {
  const find = (type: string) =>
    conditionsIn(kafka).find((one) => one.type === type && one.status !== 'True');
  const said = find('Accepted') ?? find('Ready');
  return said ? `${said.reason}: ${said.message}` : 'the operator has to see it';
}
