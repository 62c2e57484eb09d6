/** The listeners of Kafkas that are for clients outside, as they are written. Pure. */
import { exposureWish } from '../../control/brokers/expose/wish.ts';
import type { ExposureWish } from '../../control/brokers/expose/wish.ts';
import { isManaged } from '../../control/brokers/front/kafka.ts';
import { kafkaOf } from '../../control/brokers/model/names.ts';
import { read } from '../../control/kernel/read.ts';
import { keyOf } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { kafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { kafka } from '../../resources/strimzi/kafka.ts';

export interface ExposedListener {
  namespace: string;
  /** For people. */
  text: string;
  wish: ExposureWish;
  /** How many brokers its Kafka is to have. */
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
      return [{ namespace, text: `${key} ${listener.name}`, wish: asked.wish, brokers }];
    });
  });
}

function replicasOf(pool: AnyObject): number {
  const { spec } = read(kafkaNodePool, pool).resource ?? {};
  return spec?.roles?.includes('broker') ? (spec.replicas ?? 0) : 0;
}
