import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { clusterWith, poolWith } from '../../../../test/support/brokers/models.ts';
import { propertiesOf, propertiesText } from './properties.ts';
import { userConfigOf } from './user-config.ts';

const valueOf = (cluster: Parameters<typeof propertiesOf>[0], index: number, key: string) => {
  const pool = cluster.pools[index]!;
  return new Map(propertiesOf(cluster, pool, pool.nodes[0]!)).get(key);
};

suite('node configuration', () => {
  const cluster = clusterWith({
    pools: [poolWith('control', [0, 1, 2], ['controller']), poolWith('brokers', [3, 4], ['broker'])],
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
      {
        name: 'tls',
        port: 9093,
        tls: true,
        authentication: 'tls',
        networkPolicyPeers: undefined,
        alternativeNames: [],
        exposure: undefined,
      },
      {
        name: 'scram',
        port: 9095,
        tls: true,
        authentication: 'scram-sha-512',
        networkPolicyPeers: undefined,
        alternativeNames: [],
        exposure: undefined,
      },
    ],
  });

  test('all nodes have the same voters, by the names that their certificates have', () => {
    const voters = [0, 1, 2].map((id) => `${id}@events-control-${id}.events-kafka-brokers.kafka.svc:9090`);
    for (const index of [0, 1])
      assert.equal(valueOf(cluster, index, 'controller.quorum.voters'), voters.join());
  });

  test('controllers bind the control plane alone, brokers everything but it', () => {
    assert.equal(valueOf(cluster, 0, 'listeners'), 'CONTROLPLANE-9090://0.0.0.0:9090');
    assert.equal(
      valueOf(cluster, 1, 'listeners'),
      'REPLICATION-9091://0.0.0.0:9091,PLAIN-9092://0.0.0.0:9092,TLS-9093://0.0.0.0:9093,SCRAM-9095://0.0.0.0:9095',
    );
    assert.equal(
      valueOf(cluster, 1, 'listener.security.protocol.map'),
      'CONTROLPLANE-9090:SSL,REPLICATION-9091:SSL,PLAIN-9092:PLAINTEXT,TLS-9093:SSL,SCRAM-9095:SASL_SSL',
    );
  });

  test('nodes must show a certificate of the cluster, clients one of the clients’ authority', () => {
    const prefix = (id: string) => `listener.name.${id}.ssl.`;
    assert.equal(valueOf(cluster, 0, `${prefix('controlplane-9090')}client.auth`), 'required');
    for (const id of ['replication-9091', 'tls-9093'])
      assert.equal(valueOf(cluster, 1, `${prefix(id)}client.auth`), 'required', id);
    assert.match(
      valueOf(cluster, 1, `${prefix('replication-9091')}truststore.location`)!,
      /cluster-ca\.crt$/,
    );
    assert.match(valueOf(cluster, 1, `${prefix('tls-9093')}truststore.location`)!, /clients-ca\.crt$/);
    assert.equal(valueOf(cluster, 1, `${prefix('scram-9095')}client.auth`), undefined);
  });

  test('no key is there twice, whatever the user sets', () => {
    const keys = fc.array(fc.constantFrom('log.retention.hours', 'listeners', 'ssl.protocol', 'broker.rack', 'replica.selector.class', 'node.id')); // prettier-ignore
    const rack = fc.constantFrom(undefined, { by: 'environment-variable', variable: 'ZONE' } as const, { by: 'topology-label', label: 'z' } as const); // prettier-ignore
    fc.assert(
      fc.property(keys, rack, (set, where) => {
        const { config } = userConfigOf(Object.fromEntries(set.map((key) => [key, 'x'])));
        const changed = { ...cluster, config, rack: where, authorization: { superUsers: ['CN=me'] } };
        for (const pool of changed.pools) {
          const all = propertiesOf(changed, pool, pool.nodes[0]!).map(([key]) => key);
          assert.equal(new Set(all).size, all.length);
        }
      }),
    );
  });

  test('what a user may not set is left out, what is no setting is named', () => {
    const { config, ignored, broken } = userConfigOf({
      long: 'v'.repeat(32_768),
      'min.insync.replicas': 2,
      'controller.quorum.fetch.timeout.ms': 3000,
      'log.dirs': '/x',
      'ssl.keystore.location': '/y',
      'bad key': 1,
      'two.lines': 'a\nsuper.users=User:me',
      nested: {},
    });
    assert.deepEqual(config, { 'controller.quorum.fetch.timeout.ms': '3000', 'min.insync.replicas': '2' });
    assert.deepEqual(ignored, ['log.dirs', 'ssl.keystore.location']);
    assert.deepEqual(broken, ['bad key', 'long', 'nested', 'two.lines']);
  });

  test('backslashes survive the properties file', () => {
    assert.equal(propertiesText([['a', String.raw`x\y`]]), 'a=x\\\\y\n');
  });
});
