/** What the container of a node is told by variables: about Java, and where to look for the place of its pod. */
import { TOLD_ADDRESS_ANNOTATION, nodeLabelAnnotation } from '../../shared/node-annotations.ts';
import { hasRole, tellsAddress } from '../model/cluster.ts';
import type { BrokerCluster, JvmOptions, Node, Pool } from '../model/cluster.ts';

export const environmentOf = (cluster: BrokerCluster, pool: Pool, node: Node): object[] => [
  ...javaEnv(cluster.jvm, pool.jvm),
  ...rackEnv(cluster, node),
  ...addressEnv(cluster, node),
];

/** Half of the memory is for the page cache, which Kafka reads from. */
const HEAP = '-XX:InitialRAMPercentage=50 -XX:MaxRAMPercentage=50';

function javaEnv(shared: JvmOptions, own: JvmOptions): object[] {
  const isOwn = own.xms !== undefined || own.xmx !== undefined || own.options.length > 0;
  const { xms, xmx, options } = isOwn ? own : shared;
  const heap = [xms === undefined ? [] : [`-Xms${xms}`], xmx === undefined ? [] : [`-Xmx${xmx}`]].flat();
  return [
    { name: 'KAFKA_HEAP_OPTS', value: heap.length > 0 ? heap.join(' ') : HEAP },
    ...(options.length > 0 ? [{ name: 'KAFKA_JVM_OPTS', value: options.join(' ') }] : []),
  ];
}

/** The start script takes the rack from what is known of the pod's place. */
function rackEnv({ rack }: BrokerCluster, node: Node): object[] {
  if (rack?.by !== 'topology-label' || !hasRole(node, 'broker')) return [];
  return [{ name: 'ISTHMUS_RACK_ANNOTATION', value: nodeLabelAnnotation(rack.label) }];
}

function addressEnv(cluster: BrokerCluster, node: Node): object[] {
  if (!tellsAddress(cluster) || !hasRole(node, 'broker')) return [];
  return [{ name: 'ISTHMUS_ADDRESS_ANNOTATION', value: TOLD_ADDRESS_ANNOTATION }];
}
