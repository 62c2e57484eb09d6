/** What the pod of a node reads when it starts. */
import type { AnyObject } from '../../../kube/object.ts';
import { propertiesOf, propertiesText } from '../config/properties.ts';
import type { BrokerCluster, Node, Pool } from '../model/cluster.ts';
import { podName } from '../model/names.ts';
import { START_SCRIPT } from '../start-script.ts';
import { metadataOf, ownedByKafka } from './metadata.ts';

const LOGGING = `status = warn
appender.console.type = Console
appender.console.name = CONSOLE
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{ISO8601} %-5p [%t] %c{1}:%L - %m%n
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = CONSOLE
`;

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
      'log4j2.properties': cluster.logging ?? LOGGING,
      format: node.formatting.map((dir) => `${dir}\n`).join(''),
      'start.sh': START_SCRIPT,
    },
  };
}
