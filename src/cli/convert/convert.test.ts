import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { parseResource } from '../../resources/parse.ts';
import { convert } from './convert.ts';
import type { Fields } from './fields.ts';

const FILE = join(import.meta.dirname, '../../../test/fixtures/kroxylicious/manifests.yaml');
const given = parseAllDocuments(readFileSync(FILE, 'utf8')).map((document) => document.toJS() as unknown);
const { documents, remarks } = convert(given);

const specOf = (kind: string, name: string) =>
  documents.find((one) => one['kind'] === kind && (one['metadata'] as Fields)['name'] === name)?.['spec'];

suite('convert', () => {
  test('everything that it gives is valid, and converting it again changes nothing', () => {
    for (const document of documents.filter(({ kind }) => kind !== 'ConfigMap')) {
      const parsed = parseResource(document);
      assert.ok(parsed.ok, JSON.stringify([document, parsed]));
    }
    assert.deepEqual(convert(documents).documents, documents);
    assert.deepEqual(documents.at(-1), given.at(-1), 'what is no business of ours is passed on');
  });

  test('a proxy keeps its pods and timeouts, and nothing of the API server', () => {
    assert.deepEqual(documents[0], {
      apiVersion: 'kroxylicious.io/v1alpha1',
      kind: 'KafkaProxy',
      metadata: { name: 'simple', namespace: 'default' },
      spec: {
        infrastructure: {
          proxy: {
            replicas: 2,
            resources: {
              requests: { cpu: '400m', memory: '656Mi' },
              limits: { cpu: '500m', memory: '756Mi' },
            },
          },
        },
        limits: { idleTimeout: '630s', unauthenticatedIdleTimeout: '1500ms', drainTimeout: '15s' },
      },
    });
  });

  test('ingresses keep the ports that clients know, and get what virtual clusters asked of TLS', () => {
    assert.deepEqual(specOf('KafkaProxyIngress', 'inside'), {
      proxyRef: { name: 'simple' },
      clusterIP: { protocol: 'TCP', port: 9292 },
      infrastructure: { annotations: { 'example.com/team': 'shop' } },
    });
    assert.deepEqual(specOf('KafkaProxyIngress', 'outside'), {
      proxyRef: { name: 'simple' },
      loadBalancer: {
        bootstrapAddressPattern: '$(virtualClusterName).kafka.example.com',
        brokerAddressPattern: 'broker-$(nodeId).$(virtualClusterName).kafka.example.com',
        port: 9083,
      },
      tls: {
        protocols: { allowed: ['TLSv1.3'], denied: ['TLSv1.1'] },
        cipherSuites: { allowed: ['TLS_AES_256_GCM_SHA384'], denied: ['TLS_AES_128_CCM_SHA256'] },
      },
    });
  });

  test('a KafkaService becomes a KafkaClusterRef, and its client certificate the virtual cluster’s', () => {
    assert.deepEqual(specOf('KafkaClusterRef', 'secure'), {
      bootstrap: 'kafka.example.com:9093',
      protocol: 'TLS',
      tls: {
        trustAnchorRefs: [{ name: 'kafka-ca', key: 'ca.pem' }],
        protocols: { allowed: ['TLSv1.3', 'TLSv1.2'], denied: ['TLSv1.1'] },
        cipherSuites: { allowed: ['TLS_AES_256_GCM_SHA384'], denied: ['TLS_AES_128_CCM_SHA256'] },
      },
    });
    assert.equal(specOf('KafkaClusterRef', 'strimzi'), undefined);
    assert.deepEqual((specOf('VirtualKafkaCluster', 'orders') as Fields)['targetCluster'], {
      clusterRef: { group: 'kafka.strimzi.io', kind: 'Kafka', name: 'my-cluster', listenerName: 'tls' },
      tls: { certificateRef: { name: 'proxy-client' } },
    });
    assert.deepEqual(specOf('VirtualKafkaCluster', 'shop'), {
      proxyRef: { name: 'simple' },
      ingresses: [
        { name: 'inside' },
        {
          name: 'outside',
          tls: {
            certificateRefs: [{ kind: 'Secret', group: '', name: 'shop-cert' }],
            trustAnchorRefs: [{ name: 'clients-ca', key: 'ca.pem' }],
            trustOptions: { clientAuth: 'REQUESTED' },
          },
        },
        { name: 'inside-tls', tls: { certificateRefs: [{ name: 'shop-cert' }] } },
      ],
      filterRefs: [{ name: 'encryption' }],
      targetCluster: {
        clusterRef: { name: 'secure' },
        tls: { certificateRef: { kind: 'Secret', group: '', name: 'proxy-client' } },
      },
    });
  });

  test('placeholders for files become those for what is in them', () => {
    const { config } = specOf('KafkaProtocolFilter', 'encryption') as { config: { kmsConfig: Fields } };
    assert.deepEqual(config.kmsConfig, {
      vaultTransitEngineUrl: 'https://vault.example.com/v1/transit',
      vaultToken: { password: '${secret:vault:token}' },
      tls: { trust: { certificates: '${configmap:vault-ca:ca.pem}' } },
    });
  });

  test('what cannot be taken over is told, with the object and the field', () => {
    const told = remarks.map(({ object, field }) => `${object} ${field}`);
    assert.deepEqual(told.toSorted(), [
      'KafkaProxy/simple spec.network.management',
      'KafkaProxy/simple spec.network.proxy.shutdownQuietPeriod',
      'KafkaProxy/simple spec.network.proxy.workerThreadCount',
      'KafkaProxyIngress/inside spec.clusterIP',
      'KafkaProxyIngress/inside-tls spec.clusterIP',
      'KafkaProxyIngress/routes spec.openShiftRoute',
      'KafkaService/stores spec.tls.trustAnchorRef',
      'KafkaService/stores spec.tls.trustAnchorRef',
      'KroxyliciousSidecarConfig/sidecar ',
    ]);
  });

  test('two virtual clusters that ask for different TLS at one ingress are told', () => {
    const cluster = (name: string, version: string) => ({
      apiVersion: 'kroxylicious.io/v1alpha1',
      kind: 'VirtualKafkaCluster',
      metadata: { name },
      spec: { ingresses: [{ ingressRef: { name: 'i' }, tls: { protocols: { allow: [version] } } }] },
    });
    const { remarks: its } = convert([cluster('a', 'TLSv1.3'), cluster('b', 'TLSv1.2')]);
    assert.deepEqual(
      its.map(({ object, field }) => `${object} ${field}`),
      ['VirtualKafkaCluster/b spec.ingresses[0].tls'],
    );
  });
});
