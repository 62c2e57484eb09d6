/** What the pod of a node reads when it starts. */
import type { AnyObject } from '../../../kube/object.ts';
import { propertiesOf, propertiesText } from '../config/properties.ts';
import { hasRole } from '../model/cluster.ts';
import type { BrokerCluster, Node, Pool } from '../model/cluster.ts';
import { podName } from '../model/names.ts';
import { formatFlag } from '../quorum/chosen.ts';
import { START_SCRIPT } from '../start-script.ts';
import { metadataOf, ownedByKafka } from './metadata.ts';

export function nodeConfigMap(cluster: BrokerCluster, pool: Pool, node: Node): AnyObject {
  const name = podName(cluster.name, pool.name, node.id);
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadataOf(cluster, name, {}, pool), ownerReferences: ownedByKafka(cluster) },
    data: {
      'server.config': propertiesText(propertiesOf(cluster, pool, node)),
      'cluster.id': cluster.clusterId,
      'metadata.version': cluster.metadataVersion,
      'log4j2.properties': cluster.logging.text,
      format: node.formatting.map((dir) => `${dir}\n`).join(''),
      ...(cluster.quorum && hasRole(node, 'controller') && { quorum: formatFlag(cluster.quorum, node.id) }),
      'start.sh': START_SCRIPT,
    },
  };
}
