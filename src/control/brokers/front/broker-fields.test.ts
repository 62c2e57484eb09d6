import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kafkaObject } from '../../../../test/support/brokers/kafka-objects.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { rackFaults, rackOf } from './broker-fields.ts';

const kafkaWith = (annotations: Record<string, string>, broker: object = {}) =>
  ({
    ...kafkaObject(broker),
    metadata: { name: 'events', namespace: 'kafka', annotations },
  }) as unknown as Kafka;

const ofTopology = { rack: { topologyKey: 'zone' } };

test('the variable of the rack is said by an annotation where a CRD has no field for it', () => {
  const variable = { 'isthmus.dev/rack-variable': 'ZONE' };
  for (const broker of [{}, ofTopology]) {
    assert.deepEqual(rackOf(kafkaWith(variable, broker)), { by: 'environment-variable', variable: 'ZONE' });
    assert.deepEqual(rackFaults(kafkaWith(variable, broker)), []);
  }
  assert.deepEqual(rackOf(kafkaWith({}, ofTopology)), { by: 'topology-label', label: 'zone' });
});

test('what is no name of a variable is refused, and said to be in the annotation', () => {
  for (const variable of ['', 'a zone', '1ZONE', 'ZONE}\nlog.dirs=/x']) {
    const [fault] = rackFaults(kafkaWith({ 'isthmus.dev/rack-variable': variable }, ofTopology));
    assert.deepEqual(fault?.path, ['metadata', 'annotations', 'isthmus.dev/rack-variable']);
    assert.match(fault.message, /is not the name of an environment variable; correct it/);
  }
  const [fault] = rackFaults(kafkaWith({}, { rack: { type: 'environment-variable' } }));
  assert.deepEqual(fault?.path, ['spec', 'kafka', 'rack', 'envVarName']);
});
