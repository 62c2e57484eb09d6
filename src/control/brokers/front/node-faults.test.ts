import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  conditionOf,
  kafkaObject,
  poolObject,
  settledKafka,
} from '../../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';

/** Why a new cluster is refused. */
async function refusalOf(broker: object, spec: object, pool?: string) {
  const memory = createMemoryKafka();
  memory.put(kafkaObject(broker));
  memory.put(poolObject(spec, pool));
  await memory.step();
  const { status, message = '' } = conditionOf(memory, 'Accepted') ?? {};
  return status === 'True' ? undefined : message;
}

suite('what is refused of pools', () => {
  test('what cannot be run', async () => {
    const cases: [broker: object, pool: object, said: RegExp, name?: string][] = [
      [{}, { roles: [] }, /"dual": it has no roles/],
      [{}, { cluster: 'east' }, /another Kubernetes cluster \(east\)/],
      [{}, { replicas: 1025 }, /at most 1024/],
      [{}, {}, /pods would be named like events-x{60}-10000/, 'x'.repeat(60)],
      [{}, {}, /pods would be named like events-a\.b-10000/, 'a.b'],
      [{ authorization: { type: 'opa' } }, {}, /authorization opa is not supported/],
      [{ authorization: { type: 'simple', superUsers: ['a\nlog.dirs=/tmp'] } }, {}, /super user/],
    ];
    for (const [broker, spec, said, name] of cases)
      assert.match((await refusalOf(broker, spec, name)) ?? '', said);
  });

  test('more replicas than brokers are refused where they are written, and warned of where Kafka has them by itself', async () => {
    const factors = {
      'offsets.topic.replication.factor': 1,
      'transaction.state.log.replication.factor': 1,
      'share.coordinator.state.topic.replication.factor': 1,
    };
    const warningOf = async (replicas: number, config: object) =>
      conditionOf(await settledKafka({ config }, { replicas }), 'Warning')?.reason;
    for (const replicas of [1, 2]) {
      const config = { ...factors, 'transaction.state.log.min.isr': replicas + 1 };
      const said = new RegExp(`min\\.isr is ${replicas + 1}, but there are only ${replicas} brokers`);
      assert.match((await refusalOf({ config }, { replicas })) ?? '', said);
      assert.equal(await refusalOf({}, { replicas }), undefined);
      assert.equal(await warningOf(replicas, {}), 'NoInternalTopics');
      assert.notEqual(await warningOf(replicas, factors), 'NoInternalTopics');
    }
    assert.equal(await warningOf(3, {}), undefined);
  });

  test('controllers that have never run may go', async () => {
    const memory = createMemoryKafka();
    memory.keepsPods = false;
    memory.put(kafkaObject());
    memory.put(poolObject());
    await memory.settle();
    memory.put(poolObject({ replicas: 1 }));
    memory.keepsPods = true;
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.status, 'True');
    const { nodes } = memory.get('KafkaAnchor', 'events')!['spec'] as { nodes: object[] };
    assert.equal(nodes.length, 1);
  });
});

suite('templates and options of Java', () => {
  test('of another form are refused, by field', async () => {
    const templates: [object, RegExp][] = [
      [{ pod: { metadata: { labels: 'x' } } }, /template\.pod\.metadata\.labels/],
      [{ pod: { tolerations: {} } }, /template\.pod\.tolerations/],
      [{ pod: { volumes: [null] } }, /template\.pod\.volumes\.0/],
      [{ kafkaContainer: { env: 5 } }, /template\.kafkaContainer\.env/],
      [{ pod: 'x' }, /template\.pod/],
    ];
    for (const [template, said] of templates) {
      assert.match((await refusalOf({ template }, {})) ?? '', said);
      assert.match((await refusalOf({}, { template })) ?? '', said);
    }
    assert.match(
      (await refusalOf({}, { jvmOptions: { javaSystemProperties: {} } })) ?? '',
      /javaSystemProperties/,
    );
  });

  test('that are empty say nothing', async () => {
    const template = {
      pod: { metadata: { labels: null, annotations: null }, tolerations: null },
      podSet: null,
    };
    const jvmOptions = { '-XX': null, javaSystemProperties: null };
    assert.equal(await refusalOf({ template, jvmOptions }, { template, jvmOptions }), undefined);
  });
});
