/** What is on every object of a cluster: its labels, and what users want on it. */
import type { ObjectMeta, OwnerReference } from '../../../kube/object.ts';
import type { BrokerCluster, Pool, Templates } from '../model/cluster.ts';
import { POOL_LABEL, isReservedKey, objectLabels } from '../model/names.ts';

interface Wishes {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> };
}

/** What a user wants of one sort of object. */
export const wishesOf = <T extends object>(template: Templates, object: string): Partial<T> & Wishes =>
  (template[object] ?? {}) as Partial<T> & Wishes;

const usersOwn = (entries: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(entries).filter(([key]) => !isReservedKey(key)));

export function metadataOf(
  cluster: BrokerCluster,
  name: string,
  { metadata = {} }: Wishes = {},
  pool?: Pick<Pool, 'name'>,
): ObjectMeta {
  const { labels = {}, annotations } = metadata;
  return {
    name,
    namespace: cluster.namespace,
    labels: { ...usersOwn(labels), ...objectLabels(cluster.name), ...(pool && { [POOL_LABEL]: pool.name }) },
    ...(annotations && { annotations: usersOwn(annotations) }),
  };
}

/** Everything but data, and authorities that are to stay, goes with the Kafka. */
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
