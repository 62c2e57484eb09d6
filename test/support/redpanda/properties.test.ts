import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import { configFiles } from '../../../src/control/redpanda/config.ts';
import { fromCluster } from '../../../src/control/redpanda/front/cluster.ts';
import { parseAs } from '../../../src/resources/parse.ts';
import { redpandaCluster } from '../../../src/resources/redpanda/cluster.ts';
import { clusterIdOf, propertiesOf } from './properties.ts';
import type { NodeFile } from './properties.ts';

/** The files of a broker, as the operator makes them. */
function filesOf(ordinal: number, configuration: object = {}): { file: NodeFile; bootstrap: object } {
  const document = {
    apiVersion: 'redpanda.vectorized.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'p', namespace: 'n' },
    spec: { version: 'v25.2.1', replicas: 3, configuration },
  };
  const parsed = parseAs(redpandaCluster, document, { unknownFields: 'ignore' });
  assert.ok(parsed.ok);
  const { model } = fromCluster(parsed.resource, undefined);
  assert.ok(model);
  const files = configFiles(model, 'cluster.local');
  return {
    file: parse(files[`p-${ordinal}.yaml`]!) as NodeFile,
    bootstrap: parse(files['bootstrap.yaml']!) as object,
  };
}

const propertiesFor = (ordinal: number, configuration?: object) => {
  const { file, bootstrap } = filesOf(ordinal, configuration);
  return propertiesOf(file, bootstrap, '127.0.0.9');
};

suite('the stand-in for Redpanda', () => {
  test('listens at its own address, and tells clients the name', () => {
    const { properties } = propertiesFor(1, { kafkaApi: [{ port: 19_092 }] });
    assert.equal(properties.get('node.id'), '1');
    assert.equal(properties.get('process.roles'), 'broker,controller');
    assert.equal(
      properties.get('listeners'),
      'RPC://127.0.0.9:33145,KAFKA://127.0.0.9:19092,CONTROLLER://127.0.0.9:33146',
    );
    const host = 'p-1.p.n.svc.cluster.local';
    assert.equal(properties.get('advertised.listeners'), `RPC://${host}:33145,KAFKA://${host}:19092`);
    const voters = [0, 1, 2].map((id) => `${id}@p-${id}.p.n.svc.cluster.local:33146`);
    assert.equal(properties.get('controller.quorum.voters'), voters.join());
    assert.equal(properties.get('log.dirs'), '/var/lib/redpanda/data/kafka');
  });

  test('has TLS where the file has it', () => {
    const tls = { enabled: true, nodeSecretRef: { name: 's' } };
    const { properties, pem } = propertiesFor(0, { kafkaApi: [{}, { name: 'secure', port: 1, tls }] });
    assert.match(properties.get('listener.security.protocol.map') ?? '', /KAFKA:PLAINTEXT,SECURE:SSL/);
    assert.deepEqual([...pem.values()], [['/etc/tls/certs/secure/tls.key', '/etc/tls/certs/secure/tls.crt']]);
  });

  test('is of one cluster with all others, and refuses what cannot be meant', () => {
    const { file, bootstrap } = filesOf(2);
    assert.equal(clusterIdOf(file), clusterIdOf(filesOf(0).file));
    assert.match(clusterIdOf(file), /^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/);
    const broken = (change: object) => () =>
      propertiesOf({ redpanda: { ...file.redpanda, ...change } }, bootstrap, '127.0.0.9');
    assert.throws(broken({ node_id: 1 }), /not at its place/);
    assert.throws(broken({ seed_servers: [] }), /no seed_servers/);
    assert.throws(broken({ empty_seed_starts_cluster: undefined }), /a cluster of its own/);
    assert.throws(broken({ advertised_kafka_api: [] }), /no advertised_kafka_api/);
    assert.throws(() => propertiesOf(file, { unknown: 1 }, '127.0.0.9'), /knows no unknown/);
  });
});
