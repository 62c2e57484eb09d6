/** The charter of a cluster as it is kept: a KafkaAnchor beside the Kafka, or what disks and pod sets still say where that was lost. Pure. */
import type { AnyObject } from '../../kube/object.ts';
import type { KafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import type { Kafka } from '../../resources/strimzi/kafka.ts';
import { MANAGED_BY } from '../kernel/field-manager.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { Charter, CharterNode } from './model/charter.ts';
import {
  CLUSTER_ID_ANNOTATION,
  CLUSTER_LABEL,
  NODE_ID_ANNOTATION,
  POOL_LABEL,
  anchorName,
} from './model/names.ts';

export function charterOf({ spec }: KafkaAnchor): Charter {
  const { clusterId, epoch, nodes, inFlight } = spec;
  return {
    clusterId,
    epoch,
    nodes: nodes.map((node) => ({ ...node, target: node.target ?? LOCAL })),
    ...(inFlight && { inFlight: { ...inFlight, since: Date.parse(inFlight.since) } }),
  };
}

/** The object to be written; over `live`, if there is one. */
export function anchorOf(
  kafka: Kafka,
  charter: Charter,
  holder: string,
  live: KafkaAnchor | undefined,
): AnyObject {
  const { namespace, name, uid = '' } = kafka.metadata;
  const { clusterId, epoch, nodes, inFlight } = charter;
  const kept = Object.entries(live?.spec ?? {}).filter(([field]) => field !== 'inFlight');
  return {
    apiVersion: 'isthmus.dev/v1alpha1',
    kind: 'KafkaAnchor',
    metadata: {
      ...(live?.metadata.resourceVersion !== undefined && { resourceVersion: live.metadata.resourceVersion }),
      name: anchorName(name),
      namespace,
      labels: { ...live?.metadata.labels, [CLUSTER_LABEL]: name, ...MANAGED_BY },
      ...(live && { annotations: live.metadata.annotations }),
    },
    spec: {
      ...Object.fromEntries(kept),
      clusterId,
      epoch,
      holder: live?.spec.holder ?? holder,
      kafka: { name, uid },
      nodes: nodes.map(({ target, ...node }) => ({ ...node, ...(target !== LOCAL && { target }) })),
      ...(inFlight && { inFlight: { ...inFlight, since: new Date(inFlight.since).toISOString() } }),
    },
  };
}

export type Adoption = { charter: Charter; problem?: never } | { charter?: never; problem: string };

/**
 * What there is to adopt where no anchor is: disks that a cluster of this name left. They keep its id, and which nodes they belong to, so
 * that a Kafka that was deleted and is applied again finds its data.
 */
export function adopt(claims: readonly AnyObject[], newClusterId: string): Adoption {
  const found = claims.flatMap(({ metadata: { annotations = {}, labels = {}, name } }) => {
    const clusterId = annotations[CLUSTER_ID_ANNOTATION];
    const id = Number(annotations[NODE_ID_ANNOTATION] ?? Number.NaN);
    const pool = labels[POOL_LABEL];
    if (clusterId === undefined || !Number.isInteger(id) || pool === undefined) return [];
    const volume = /^data(-\d+)?(?=-)/.exec(name)?.[0] ?? 'data';
    return [{ clusterId, id, pool, volume }];
  });
  const ids = [...new Set(found.map(({ clusterId }) => clusterId))];
  if (ids.length > 1)
    return {
      problem: `its PersistentVolumeClaims are of different Kafka clusters (${ids.join(', ')}); remove those of others`,
    };
  const byNode = Map.groupBy(found, ({ id }) => id);
  const nodes = [...byNode].map(([id, volumes]): CharterNode => ({
    id,
    pool: volumes[0]!.pool,
    target: LOCAL,
    roles: [],
    leaving: false,
    formatted: volumes.map(({ volume }) => volume).toSorted(),
  }));
  return {
    charter: { clusterId: ids[0] ?? newClusterId, epoch: 1, nodes: nodes.toSorted((a, b) => a.id - b.id) },
  };
}
