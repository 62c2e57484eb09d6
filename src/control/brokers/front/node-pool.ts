/** What a KafkaNodePool asks for. Pure. */
import type { KafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import type { Fault } from '../faults.ts';
import type { CharterNode } from '../model/charter.ts';
import type { Pool, Role, Volume } from '../model/cluster.ts';
import { parseIds } from '../model/ids.ts';
import type { PoolWish } from '../model/ids.ts';
import { logDir, volumeName } from '../model/names.ts';
import type { PoolPlace } from './placement.ts';
import { jvmOf, resourcesOf, templatesOf } from './templates.ts';

const NEXT_IDS = 'strimzi.io/next-node-ids';
const REMOVE_IDS = 'strimzi.io/remove-node-ids';
/** Ids in one message. */
const MAX_NAMED = 10;

/** Each once, however often it is written. */
const rolesOf = ({ spec }: KafkaNodePool): Role[] => [...new Set(spec.roles)];

/** How many nodes, and which ids. */
export function wishOf(pool: KafkaNodePool, { target }: PoolPlace): { wish: PoolWish; faults: Fault[] } {
  const { metadata, spec } = pool;
  const ids = (annotation: string) => {
    const text = metadata.annotations[annotation];
    return text === undefined ? [] : parseIds(text);
  };
  const [nextIds, removeIds] = [ids(NEXT_IDS), ids(REMOVE_IDS)];
  const unread = [...(nextIds ? [] : [NEXT_IDS]), ...(removeIds ? [] : [REMOVE_IDS])];
  const wish: PoolWish = {
    name: metadata.name,
    target,
    roles: rolesOf(pool),
    replicas: spec.replicas ?? 0,
    nextIds: nextIds ?? [],
    removeIds: removeIds ?? [],
  };
  const faults = unread.map((annotation): Fault => ({
    reason: 'ConfigIgnored',
    path: ['metadata', 'annotations', annotation],
    message: `KafkaNodePool "${metadata.name}": write ${annotation} as a list of ids and ranges, e.g. [0-2,7]`,
  }));
  return { wish, faults };
}

/** Ids that a pool would have next, and that are another's: it is given others. */
export function takenIdFaults({ name, nextIds }: PoolWish, nodes: readonly CharterNode[]): Fault[] {
  const others = nodes.filter(({ id, pool }) => pool !== name && nextIds.includes(id));
  if (others.length === 0) return [];
  const named = others.slice(0, MAX_NAMED).map(({ id, pool }) => `${id} (of "${pool}")`);
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
  const message = `KafkaNodePool "${name}": ${NEXT_IDS} has ids of other pools: ${named.join(', ')}${more}; choose others`;
  return [{ reason: 'ConfigIgnored', path: ['metadata', 'annotations', NEXT_IDS], message }];
}

/** The pool with its nodes. What it does not say itself, the Kafka says for all of its pools. */
export function poolOf(
  kafka: Kafka,
  pool: KafkaNodePool,
  place: PoolPlace,
  nodes: readonly CharterNode[],
  volumes: readonly Volume[],
): Pool {
  const { metadata, spec } = pool;
  const own = nodes.filter((node) => node.pool === metadata.name);
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    ...place,
    roles: rolesOf(pool),
    nodes: own.map(({ id, roles, formatted }) => ({
      id,
      roles,
      // A volume that lives as long as its pod is empty each time, as its owner chose.
      formatting: volumes.flatMap((volume) =>
        volume.persistent && formatted.includes(volumeName(volume)) ? [] : [logDir(volume, id)],
      ),
    })),
    volumes,
    resources: spec.resources ?? resourcesOf(kafka.spec.kafka['resources']),
    jvm: jvmOf(spec.jvmOptions),
    template: templatesOf(spec.template),
  };
}
