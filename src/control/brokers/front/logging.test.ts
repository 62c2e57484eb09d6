import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { conditionOf, kafkaObject, settledKafka } from '../../../../test/support/brokers/kafka-objects.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { loggingOf, loggingSource } from './logging.ts';

const kafkaWith = (logging: unknown) => kafkaObject({ logging });
const inline = (loggers: object) => loggingOf(kafkaWith({ type: 'inline', loggers }), undefined);
const EXTERNAL = {
  type: 'external',
  valueFrom: { configMapKeyRef: { name: 'our-logging', key: 'log4j2.properties' } },
};
const linesOf = ({ logging }: ReturnType<typeof loggingOf>) => logging.text.split('\n');

suite('logging', () => {
  test('inline loggers come on top of what is usual', () => {
    const usual = linesOf(loggingOf(kafkaWith(undefined), undefined));
    assert.ok(usual.includes('rootLogger.level = INFO'));
    const own = inline({
      'rootLogger.level': 'WARN',
      'logger.net.name': 'a\\b',
      'logger.net.level': 'DEBUG',
    });
    assert.deepEqual(own.faults, []);
    const expected = usual.flatMap((line) =>
      line === 'rootLogger.level = INFO' ? ['rootLogger.level = WARN'] : line === '' ? [] : [line],
    );
    assert.deepEqual(
      linesOf(own).toSorted(),
      [...expected, 'logger.net.name = a\\\\b', 'logger.net.level = DEBUG', ''].toSorted(),
    );
  });

  test('what Log4j 2 does not know is left out, and said', () => {
    const old = inline({ 'kafka.root.logger.level': 'DEBUG', 'log4j.logger.kafka': 'INFO' });
    assert.deepEqual(old.faults.map(({ reason }) => reason), ['ConfigIgnored', 'ConfigIgnored']); // prettier-ignore
    assert.equal(old.logging.text, inline({}).logging.text);
  });

  test('what is no line of a file is refused', () => {
    for (const loggers of [{ 'rootLogger.level': 'INFO\nstatus = off' }, { 'a b': 'x' }, { status: {} }])
      assert.deepEqual(inline(loggers).faults.map(({ reason }) => reason), ['Invalid']); // prettier-ignore
    for (const logging of [{}, { type: 'file' }, { type: 'external' }, 'x', [], { type: 'inline', loggers: 7 }])
      assert.deepEqual(loggingOf(kafkaWith(logging), 'x').faults.map(({ reason }) => reason), ['Invalid']); // prettier-ignore
  });

  test('a file of a ConfigMap is taken as it is; without one, nothing is changed', () => {
    assert.deepEqual(loggingSource(kafkaWith(EXTERNAL)), { name: 'our-logging', key: 'log4j2.properties' });
    assert.equal(loggingSource(kafkaWith({ type: 'inline' })), undefined);
    assert.equal(loggingSource(kafkaWith(undefined)), undefined);
    assert.equal(
      loggingOf(kafkaWith(EXTERNAL), 'rootLogger.level = OFF').logging.text,
      'rootLogger.level = OFF',
    );
    assert.match(loggingOf(kafkaWith(EXTERNAL), undefined).faults[0]!.message, /no ConfigMap "our-logging"/);
    assert.match(loggingOf(kafkaWith(EXTERNAL), 'x'.repeat(200_000)).faults[0]!.message, /longer than/);
  });

  test('it is known whether nodes read a file again', () => {
    assert.equal(inline({}).logging.isReread, true);
    assert.equal(inline({ monitorInterval: 0 }).logging.isReread, false);
    const external = (text: string) => loggingOf(kafkaWith(EXTERNAL), text).logging.isReread;
    assert.equal(external('monitorInterval=5'), true);
    assert.equal(external('# monitorInterval = 5\nstatus = warn'), false);
  });
});

suite('logging of a cluster', () => {
  const revisionsOf = (memory: MemoryKafka) =>
    memory
      .list('StrimziPodSet')
      .flatMap(({ spec }) => (spec as { pods: { metadata: { annotations: Record<string, string> } }[] }).pods)
      .map(({ metadata }) => metadata.annotations['strimzi.io/revision']);
  const fileOf = (memory: MemoryKafka) =>
    (memory.get('ConfigMap', 'events-dual-0')!['data'] as Record<string, string>)['log4j2.properties']!;

  test('a file that nodes read again restarts none of them; one that they do not is a new form of the pod', async () => {
    const memory = await settledKafka();
    const before = revisionsOf(memory);
    memory.put(kafkaWith({ type: 'inline', loggers: { 'rootLogger.level': 'DEBUG' } }));
    await memory.settle();
    assert.match(fileOf(memory), /^rootLogger.level = DEBUG$/m);
    assert.deepEqual(revisionsOf(memory), before);
    memory.externalLogging = 'rootLogger.level = OFF';
    memory.put(kafkaWith(EXTERNAL));
    await memory.settle();
    assert.equal(fileOf(memory), 'rootLogger.level = OFF');
    assert.notDeepEqual(revisionsOf(memory), before);
  });

  test('a ConfigMap that is missing is said, looked for again, and what runs goes on', async () => {
    const memory = await settledKafka();
    const before = fileOf(memory);
    memory.put(kafkaWith(EXTERNAL));
    await memory.settle();
    assert.equal(conditionOf(memory, 'Accepted')?.reason, 'Invalid');
    assert.equal(memory.plan().lookAgainInMs, 60_000);
    assert.equal(fileOf(memory), before);
  });
});
