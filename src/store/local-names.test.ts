import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ServedCluster } from '../control/proxy/config/document.ts';
import { createLog } from '../ops/log.ts';
import { createMetrics } from '../ops/metrics.ts';
import { createLocalNames, localNames, zonesOf } from './local-names.ts';

const sni = (name: string) =>
  ({
    name,
    namespace: 'default',
    target: { nodeIdRanges: [{ start: 0, end: 1 }] },
    ingresses: [
      {
        name: 'lb',
        address: {
          by: 'sni',
          bootstrapHost: `${name}.kafka.test`,
          brokerPattern: `b$(nodeId).${name}.kafka.test`,
          port: 9443,
          listenPort: 9443,
        },
      },
    ],
  }) as unknown as ServedCluster & { namespace: string };

const endpoint = (dnsName: string) => ({
  apiVersion: 'externaldns.k8s.io/v1alpha1',
  kind: 'DNSEndpoint',
  metadata: { name: 'more', namespace: 'default' },
  spec: { endpoints: [{ dnsName, recordType: 'A', targets: ['192.0.2.7'] }] },
});

suite('names on this machine', () => {
  test('are those of virtual clusters, of their brokers, and of DNSEndpoints', () => {
    const sources = localNames([sni('orders')], [endpoint('web.other.test')]);
    assert.deepEqual(
      sources.map(({ source, records }) => [source, records.map(({ name, data }) => `${name} ${data}`)]),
      [
        [
          'VirtualKafkaCluster default/orders',
          ['orders.kafka.test 127.0.0.1', 'b0.orders.kafka.test 127.0.0.1', 'b1.orders.kafka.test 127.0.0.1'],
        ],
        ['DNSEndpoint default/more', ['web.other.test 192.0.2.7']],
      ],
    );
    assert.deepEqual(zonesOf(sources), ['kafka.test', 'other.test']);
  });

  test('are answered for, from which object is said, and other zones take effect while it runs', async () => {
    const names = createLocalNames(0, { log: createLog('silent'), metrics: createMetrics });
    try {
      assert.deepEqual([names.endpoint(), names.explain('orders.kafka.test', 'A')], [undefined, undefined]);
      await names.set(localNames([sni('orders')], []));
      const answer = names.explain('orders.kafka.test', 'A')!;
      assert.deepEqual(answer.answer[0]?.sources, ['VirtualKafkaCluster default/orders']);
      assert.deepEqual(answer.answer[0]?.data, ['127.0.0.1']);
      await names.set(localNames([sni('payments')], [endpoint('web.other.test')]));
      assert.equal(names.explain('orders.kafka.test', 'A')?.rcode, 'NXDOMAIN');
      assert.deepEqual(names.explain('web.other.test', 'A')?.answer[0]?.data, ['192.0.2.7']);
      await names.set([]);
      assert.equal(names.endpoint(), undefined);
    } finally {
      await names.close();
    }
  });
});
