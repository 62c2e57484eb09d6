/** What is on every object of a cluster: its labels, and what users want on it. */
import type { ObjectMeta, OwnerReference } from '../../../kube/object.ts';
import type { BrokerCluster, Pool, Templates } from '../model/cluster.ts';
import { POOL_LABEL, objectLabels } from '../model/names.ts';

interface Wishes {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
}

/** What a user wants of one sort of object. */
export const wishesOf = <T extends object>(template: Templates, object: string): Partial<T> & Wishes =>
  (template[object] ?? {}) as Partial<T> & Wishes;

/** Labels that mean something to Strimzi or to us are never a user's. */
const isOurs = (label: string) => /^(strimzi\.io|app\.kubernetes\.io|isthmus\.dev)\//.test(label);

export function metadataOf(
  cluster: BrokerCluster,
  name: string,
  { metadata = {} }: Wishes = {},
  pool?: Pick<Pool, 'name'>,
): ObjectMeta {
  const { labels = {}, annotations } = metadata;
  const wanted = Object.fromEntries(Object.entries(labels).filter(([label]) => !isOurs(label)));
  return {
    name,
    namespace: cluster.namespace,
    labels: { ...wanted, ...objectLabels(cluster.name), ...(pool && { [POOL_LABEL]: pool.name }) },
    ...(annotations && { annotations }),
  };
}

/** Everything but data and authorities goes with the Kafka. */
export const ownedByKafka = ({
  name,
  uid,
  apiVersions,
}: Pick<BrokerCluster, 'name' | 'uid' | 'apiVersions'>): OwnerReference[] => [
  {
    apiVersion: apiVersions.kafka,
    kind: 'Kafka',
    name,
    uid,
    controller: false,
    blockOwnerDeletion: false,
  },
];
