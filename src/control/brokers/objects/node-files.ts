/** What the pod of a node reads: its configuration, its certificate, and whom to trust. */
import type { AnyObject } from '../../../kube/object.ts';
import { propertiesOf, propertiesText } from '../config/properties.ts';
import type { BrokerCluster, Node, Pool } from '../model/cluster.ts';
import { NODE_PEM, podName, trustBundleName } from '../model/names.ts';
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

/** A key with its certificate, and the authorities between it and the trusted one. */
export interface KeyPair {
  /** PEM: the certificate first. */
  chain: string;
  /** PEM, PKCS#8. */
  key: string;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

export function nodeSecret(
  cluster: BrokerCluster,
  pool: Pool,
  node: Node,
  { chain, key }: KeyPair,
): AnyObject {
  const name = podName(cluster.name, pool.name, node.id);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...metadataOf(cluster, name, {}, pool), ownerReferences: ownedByKafka(cluster) },
    type: 'Opaque',
    data: {
      [`${name}.crt`]: base64(chain),
      [`${name}.key`]: base64(key),
      [NODE_PEM]: base64(`${key.trimEnd()}\n${chain.trimEnd()}\n`),
    },
  };
}

/** By file name: certificates of the authorities that nodes trust, PEM. */
export function trustBundle(cluster: BrokerCluster, bundles: Readonly<Record<string, string>>): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...metadataOf(cluster, trustBundleName(cluster.name)),
      ownerReferences: ownedByKafka(cluster),
    },
    type: 'Opaque',
    data: Object.fromEntries(Object.entries(bundles).map(([file, pem]) => [file, base64(pem)])),
  };
}
