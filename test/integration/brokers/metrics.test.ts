/** What real nodes tell Prometheus, by the reporter that our image brings. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isthmusImage } from '../../../deploy/image/contents.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { BROKER_METRICS, KAFKA_METRICS } from '../../support/dashboards.ts';
import { IMAGES } from '../../support/images/images.ts';
import { workspace } from '../../support/workspace.ts';
import { PATIENCE, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

suite('metrics of nodes', () => {
  let bed: Bed;
  before(async () => {
    // All of the image but the program, which pods of Kafka do not run.
    const image = await isthmusImage(IMAGES.isthmus, workspace('no-program'));
    bed = await startBed({
      nodes: [{ name: 'a' }],
      images: [image],
      operator: { proxyImage: IMAGES.isthmus },
    });
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const metricsOf = async (pod: string) => {
    const response = await fetch(`http://${bed.runner.addressOf(`default/${pod}`)}:9404/metrics`);
    assert.equal(response.status, 200);
    return response.text();
  };

  test('brokers and controllers tell of themselves, of the quorum, and of each listener', async () => {
    await bed.apply(
      kafka('one', { metricsConfig: { type: 'strimziMetricsReporter' } }),
      nodePool('one', 'control', { roles: ['controller'] }),
      nodePool('one', 'brokers', { roles: ['broker'] }),
    );
    await bed.untilReady('one');
    const broker = await waitFor(
      'the metrics of the broker',
      async () => {
        const text = await metricsOf('one-brokers-0');
        return /^kafka_server_replicamanager_leadercount/m.test(text) ? text : undefined;
      },
      PATIENCE,
    );
    for (const expected of [
      /^kafka_server_socket_server_metrics_connection_count\{.*listener="PLAIN-9092".*\} /m,
      /^kafka_server_socket_server_metrics_incoming_byte_rate\{.*listener="TLS-9093".*\} /m,
      /^kafka_server_socket_server_metrics_outgoing_byte_rate\{.*listener="PLAIN-9092".*\} /m,
      /^kafka_server_replicamanager_underreplicatedpartitions 0/m,
      /^kafka_network_/m,
      /^jvm_memory_used_bytes/m,
    ])
      assert.match(broker, expected);
    for (const name of KAFKA_METRICS)
      assert.match(broker, new RegExp(`^${name}\\{.*listener="TLS-9093"`, 'm'), `${name} is on a dashboard`);
    assert.doesNotMatch(broker, /^kafka_log_log_size/m, 'nothing once a partition');
    const controller = await metricsOf('one-control-1');
    assert.match(controller, /^kafka_controller_kafkacontroller_offlinepartitionscount 0/m);
    assert.match(controller, /^kafka_server_raft_metrics_/m);
    for (const name of BROKER_METRICS)
      assert.match(`${broker}\n${controller}`, new RegExp(`^${name}[ {]`, 'm'), `${name} is on a dashboard`);
  });
});
