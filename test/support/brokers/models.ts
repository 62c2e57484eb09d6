/** A cluster to begin with, for tests. */
import type { BrokerCluster, Pool, Role } from '../../../src/control/brokers/model/cluster.ts';

export function poolWith(name: string, ids: readonly number[], roles: readonly Role[]): Pool {
  return {
    name,
    uid: `uid-${name}`,
    target: 'local',
    networkId: undefined,
    roles,
    nodes: ids.map((id) => ({ id, roles, formatting: [] })),
    volumes: [
      {
        id: undefined,
        persistent: true,
        size: '1Gi',
        storageClass: undefined,
        deleteClaim: false,
        metadata: true,
      },
    ],
    resources: undefined,
    jvm: { options: [] },
    template: {},
  };
}

export const clusterWith = (parts: Partial<BrokerCluster>): BrokerCluster => ({
  namespace: 'kafka',
  name: 'events',
  uid: 'uid-events',
  apiVersions: { kafka: 'kafka.strimzi.io/v1', podSet: 'core.strimzi.io/v1' },
  clusterId: 'MkU3OEVBNTcwNTJENDM2Qg',
  version: '4.3.1',
  metadataVersion: '4.3',
  image: 'apache/kafka:4.3.1',
  imagePullSecrets: [],
  pools: [poolWith('dual', [0, 1, 2], ['broker', 'controller'])],
  network: undefined,
  quorum: undefined,
  listeners: [
    {
      name: 'plain',
      port: 9092,
      tls: false,
      authentication: 'none',
      networkPolicyPeers: undefined,
      alternativeNames: [],
      exposure: undefined,
    },
  ],
  config: {},
  rack: undefined,
  authorization: undefined,
  keptAuthorities: [],
  template: {},
  jvm: { options: [] },
  readiness: {},
  logging: { text: '', isReread: true },
  metrics: undefined,
  ...parts,
});
