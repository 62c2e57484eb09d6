/** The disks of nodes. Claims are owned by nobody unless their owner said that data may go: deleting a Kafka keeps it. */
import type { AnyObject } from '../../../kube/object.ts';
import { nodesOf } from '../model/cluster.ts';
import type { BrokerCluster, Node, Pool, Volume } from '../model/cluster.ts';
import {
  CLUSTER_ID_ANNOTATION,
  FORMATTED_ANNOTATION,
  NODE_ID_ANNOTATION,
  claimName,
  logDir,
  mountPath,
  podName,
  volumeName,
} from '../model/names.ts';
import { metadataOf, ownedByKafka, wishesOf } from './metadata.ts';

export function claimsOf(cluster: BrokerCluster): AnyObject[] {
  return nodesOf(cluster).flatMap(({ pool, node }) =>
    pool.volumes.flatMap((volume) => (volume.persistent ? [claim(cluster, pool, node, volume)] : [])),
  );
}

function claim(cluster: BrokerCluster, pool: Pool, node: Node, volume: Volume): AnyObject {
  const { storageClass, size, deleteClaim } = volume;
  const wishes = wishesOf({ ...cluster.template, ...pool.template }, 'persistentVolumeClaim');
  const name = claimName(volume, podName(cluster.name, pool.name, node.id));
  const metadata = metadataOf(cluster, name, wishes, pool);
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        [CLUSTER_ID_ANNOTATION]: cluster.clusterId,
        [NODE_ID_ANNOTATION]: String(node.id),
        // Where the anchor is lost, nobody else knows.
        [FORMATTED_ANNOTATION]: String(!node.formatting.includes(logDir(volume, node.id))),
      },
      ...(deleteClaim && { ownerReferences: ownedByKafka(cluster) }),
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(storageClass !== undefined && { storageClassName: storageClass }),
      resources: { requests: { storage: size } },
    },
  };
}

/** In the pod. */
export function podVolume(volume: Volume, pod: string): object {
  const name = volumeName(volume);
  if (volume.persistent) return { name, persistentVolumeClaim: { claimName: claimName(volume, pod) } };
  return { name, emptyDir: volume.size === undefined ? {} : { sizeLimit: volume.size } };
}

export const volumeMount = (volume: Volume) => ({ name: volumeName(volume), mountPath: mountPath(volume) });
