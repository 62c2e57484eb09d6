/** The listeners of Kafkas and Redpanda clusters that are for clients outside, as they are written. Pure. */
import { HOST_PORTS, REDPANDA_HOST_PORTS } from '../../control/brokers/expose/ports.ts';
import type { PortRange } from '../../control/brokers/expose/ports.ts';
import { exposureWish } from '../../control/brokers/expose/wish.ts';
import type { ExposureWish } from '../../control/brokers/expose/wish.ts';
import { isManaged } from '../../control/brokers/front/kafka.ts';
import { kafkaOf } from '../../control/brokers/model/names.ts';
import { read } from '../../control/kernel/read.ts';
import { fromCluster, isManaged as isManagedRedpanda } from '../../control/redpanda/front/cluster.ts';
import { keyOf } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { redpandaCluster } from '../../resources/redpanda/cluster.ts';
import { kafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { kafka } from '../../resources/strimzi/kafka.ts';

export interface ExposedListener {
  namespace: string;
  /** For people. */
  text: string;
  wish: ExposureWish;
  /** The ports that are chosen from where the operator chooses. */
  range: PortRange;
  /** How many brokers its cluster is to have. */
  brokers: number;
}

/** Of Kafkas that Isthmus runs. */
export function exposedListeners(
  kafkas: readonly AnyObject[],
  pools: readonly AnyObject[],
): ExposedListener[] {
  const brokersOf = Map.groupBy(pools, (pool) => kafkaOf(pool)[0]);
  return kafkas.filter(isManaged).flatMap((object) => {
    const { resource } = read(kafka, object);
    const key = keyOf(object.metadata);
    const brokers = (brokersOf.get(key) ?? []).map(replicasOf).reduce((sum, one) => sum + one, 0);
    return (resource?.spec.kafka.listeners ?? []).flatMap((listener): ExposedListener[] => {
      const asked = resource && exposureWish(resource, listener);
      if (!asked) return [];
      const { namespace = '' } = object.metadata;
      return [{ namespace, text: `${key} ${listener.name}`, wish: asked.wish, range: HOST_PORTS, brokers }];
    });
  });
}

/** Of Redpanda clusters that Isthmus runs. */
export function exposedRedpandas(clusters: readonly AnyObject[]): ExposedListener[] {
  return clusters.filter(isManagedRedpanda).flatMap((object): ExposedListener[] => {
    const { resource } = read(redpandaCluster, object);
    const { external } = resource ? fromCluster(resource, undefined) : {};
    if (!resource || !external) return [];
    const { name, names, addressType } = external.listener;
    return [
      {
        namespace: resource.metadata.namespace,
        text: `${keyOf(object.metadata)} ${name}`,
        wish: {
          by: 'hostport',
          strategy: external.strategy,
          hostPattern: names?.broker,
          addressType,
          allowedSources: [],
        },
        range: REDPANDA_HOST_PORTS,
        brokers: resource.spec.replicas ?? 1,
      },
    ];
  });
}

function replicasOf(pool: AnyObject): number {
  const { spec } = read(kafkaNodePool, pool).resource ?? {};
  return spec?.roles?.includes('broker') ? (spec.replicas ?? 0) : 0;
}
