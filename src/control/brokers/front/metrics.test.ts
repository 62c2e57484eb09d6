import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  conditionOf,
  kafkaObject,
  poolObject,
  settledKafka,
} from '../../../../test/support/brokers/kafka-objects.ts';
import { KAFKA_SETTINGS, createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';

const REPORTER = { type: 'strimziMetricsReporter' };

interface PodSpec {
  initContainers?: { image: string }[];
  containers: { ports: { name: string; containerPort: number }[]; env: { name: string; value: string }[] }[];
}

const podOf = (memory: MemoryKafka) => {
  const { pods } = memory.get('StrimziPodSet', 'events-dual')!['spec'] as {
    pods: { metadata: { annotations: Record<string, string> }; spec: PodSpec }[];
  };
  return pods[0]!;
};
const settingsOf = (memory: MemoryKafka) => {
  const { 'server.config': text } = memory.get('ConfigMap', 'events-dual-0')!['data'] as Record<
    string,
    string
  >;
  return new Map(text!.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
};
const openPorts = (memory: MemoryKafka) => {
  const [policy] = memory.list('NetworkPolicy');
  const { ingress } = policy!['spec'] as { ingress: { ports: { port: number }[] }[] };
  return ingress.flatMap(({ ports }) => ports.map(({ port }) => port));
};

suite('metrics of nodes', () => {
  test('nobody asked: no port, no container, nothing on the class path', async () => {
    const memory = await settledKafka();
    assert.equal(podOf(memory).spec.initContainers, undefined);
    assert.ok(!settingsOf(memory).has('metric.reporters'));
    assert.ok(!openPorts(memory).includes(9404));
  });

  test('the reporter is brought by our image, and loaded beside those of the user', async () => {
    const memory = await settledKafka({
      metricsConfig: REPORTER,
      config: { 'metric.reporters': 'com.example.Own' },
    });
    const { spec } = podOf(memory);
    assert.deepEqual(spec.initContainers?.map(({ image }) => image), ['isthmus:test']); // prettier-ignore
    const [kafka] = spec.containers;
    assert.ok(
      kafka!.ports.some(({ name, containerPort }) => name === 'tcp-prometheus' && containerPort === 9404),
    );
    assert.equal(
      kafka!.env.find(({ name }) => name === 'ISTHMUS_CLASS_PATH')?.value,
      '/opt/isthmus/metrics/*',
    );
    assert.ok(openPorts(memory).includes(9404));
    const settings = settingsOf(memory);
    assert.match(settings.get('metric.reporters')!, /^com\.example\.Own,io\.strimzi\./);
    assert.match(settings.get('prometheus.metrics.reporter.allowlist')!, /kafka_server_\.\*/);
  });

  test('another version of the operator restarts no node', async () => {
    const revisions: (string | undefined)[] = [];
    for (const ownImage of ['isthmus:1', 'isthmus:2']) {
      const memory = createMemoryKafka({ ...KAFKA_SETTINGS, ownImage });
      memory.put(kafkaObject({ metricsConfig: REPORTER }));
      memory.put(poolObject());
      await memory.settle();
      assert.equal(podOf(memory).spec.initContainers?.[0]?.image, ownImage);
      revisions.push(podOf(memory).metadata.annotations['strimzi.io/revision']);
    }
    assert.equal(revisions[0], revisions[1]);
  });

  test('patterns of a user take the place of ours', async () => {
    const values = { allowList: ['kafka_log.*', 'kafka_cluster.*'] };
    const memory = await settledKafka({ metricsConfig: { ...REPORTER, values } });
    const patterns = settingsOf(memory).get('prometheus.metrics.reporter.allowlist');
    assert.equal(patterns, 'kafka_log.*,kafka_cluster.*');
  });

  const annotatedWith = async (text: string, broker: object = {}) => {
    const memory = createMemoryKafka();
    const { metadata, ...kafka } = kafkaObject(broker);
    const annotations = { ...metadata.annotations, 'isthmus.dev/metrics-config': text };
    memory.put({ ...kafka, metadata: { ...metadata, annotations } });
    memory.put(poolObject());
    await memory.settle();
    return memory;
  };

  test('an annotation says the same, and goes before what a CRD that knows nothing of it lets through', async () => {
    const said = JSON.stringify({ ...REPORTER, values: { allowList: ['kafka_log.*'] } });
    const memory = await annotatedWith(said, { metricsConfig: { type: 'jmxPrometheusExporter' } });
    assert.equal(settingsOf(memory).get('prometheus.metrics.reporter.allowlist'), 'kafka_log.*');
  });

  for (const [text, message] of [
    ['strimziMetricsReporter', /the annotation isthmus\.dev\/metrics-config is not JSON .* e\.g\. \{"type"/],
    ['null', /is not JSON of a metricsConfig/],
    ['{}', /\(none\) is not supported/],
    [JSON.stringify({ ...REPORTER, values: { allowList: ['a,b'] } }), /without a comma/],
  ] as const)
    test(`the annotation ${text} is refused`, async () => {
      const { status, message: said = '' } = conditionOf(await annotatedWith(text), 'Accepted') ?? {};
      assert.equal(status, 'False');
      assert.match(said, message);
    });

  const refused: [wish: object, reason: string, message: RegExp][] = [
    [
      { type: 'jmxPrometheusExporter' },
      'NotSupported',
      /jmxPrometheusExporter is not supported; use strimzi/,
    ],
    [{}, 'NotSupported', /\(none\) is not supported/],
    [{ ...REPORTER, values: { allowList: ['a,b'] } }, 'Invalid', /without a comma/],
    [{ ...REPORTER, values: { allowList: ['a\nlog.dirs=/x'] } }, 'Invalid', /on one line/],
    [{ ...REPORTER, values: { allowList: 'kafka_.*' } }, 'Invalid', /allowList/],
  ];
  for (const [metricsConfig, reason, message] of refused)
    test(`${JSON.stringify(metricsConfig)} is refused`, async () => {
      const memory = await settledKafka({ metricsConfig });
      assert.equal(conditionOf(memory, 'Accepted')?.reason, reason);
      assert.match(conditionOf(memory, 'Accepted')?.message ?? '', message);
    });
});
