/** Reads all that decisions about one Kafka cluster depend on, from caches. */
import { isBeingDeleted, keyOf } from '../../kube/object.ts';
import type { AnyObject, KubeObject } from '../../kube/object.ts';
import { kafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import type { KafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { kafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import type { KafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { kafka } from '../../resources/strimzi/kafka.ts';
import type { Kafka } from '../../resources/strimzi/kafka.ts';
import { strimziPodSet } from '../../resources/strimzi/strimzi-pod-set.ts';
import { read } from '../kernel/read.ts';
import type { Watched } from '../kernel/watches.ts';
import type { Acted } from './act.ts';
import { anchorName } from './model/names.ts';
import type { KafkaViews } from './watches.ts';

export type KafkaCaches = Pick<Watched<KafkaViews>, 'views' | 'undiscovered' | 'versionOf'>;

export interface Observed {
  namespace: string;
  name: string;
  /** Undefined if there is none, or none that can be read. */
  kafka: Kafka | undefined;
  /** In the order of their names. */
  pools: readonly KafkaNodePool[];
  /** Resources that cannot be read, and why: nobody can tell what they want. */
  unreadable: readonly { object: KubeObject; problem: string }[];
  anchor: KafkaAnchor | undefined;
  podSets: readonly AnyObject[];
  /** In which pod sets are written. */
  podSetVersion: string;
  pods: readonly AnyObject[];
  claims: readonly AnyObject[];
  /** With what they hold, by name. */
  secrets: ReadonlyMap<string, AnyObject>;
  /** Whether it is not known yet which kinds there are. */
  undiscovered: boolean;
  acted: Acted | undefined;
  /** An id for a cluster that has none. */
  newClusterId: string;
  now: number;
}

export function observeKafka(
  { views, undiscovered, versionOf }: KafkaCaches,
  { namespace, name }: { namespace: string; name: string },
  { acted, newClusterId, now }: Pick<Observed, 'acted' | 'newClusterId' | 'now'>,
): Observed {
  const key = keyOf({ namespace, name });
  const unreadable: { object: KubeObject; problem: string }[] = [];
  const own = (view: { find(index: string, value: string): AnyObject[] } | undefined) =>
    (view?.find('kafka', key) ?? []).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const found = views.kafkas?.get(key);
  const reading = found && read(kafka, found);
  if (found && reading?.problem !== undefined) unreadable.push({ object: found, problem: reading.problem });
  const pools = own(views.nodePools)
    .filter((pool) => !isBeingDeleted(pool))
    .flatMap((object) => {
      const { resource, problem } = read(kafkaNodePool, object);
      if (problem !== undefined) unreadable.push({ object, problem });
      return resource ?? [];
    });
  const anchor = views.anchors?.get(keyOf({ namespace, name: anchorName(name) }));
  const anchored = anchor && read(kafkaAnchor, anchor);
  if (anchor && anchored?.problem !== undefined)
    unreadable.push({ object: anchor, problem: anchored.problem });
  const secrets = own(views.secrets).flatMap(({ metadata }) => views.secrets.get(keyOf(metadata)) ?? []);
  return {
    namespace,
    name,
    kafka: reading?.resource,
    pools,
    unreadable,
    anchor: anchored?.resource,
    podSets: own(views.podSets),
    podSetVersion: `${strimziPodSet.group}/${versionOf('podSets') ?? strimziPodSet.versions.at(-1)}`,
    pods: own(views.pods),
    claims: own(views.claims),
    secrets: new Map(secrets.map((secret) => [secret.metadata.name, secret])),
    undiscovered: undiscovered.size > 0,
    acted,
    newClusterId,
    now,
  };
}
