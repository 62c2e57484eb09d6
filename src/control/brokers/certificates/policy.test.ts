import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOpen } from '../../../pki/maintenance-window.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { policiesOf } from './policy.ts';

const kafka = (spec: object) => ({ metadata: { annotations: {} }, spec: { kafka: {}, ...spec } }) as Kafka;

test('a maintenance window that cannot be read never opens, and is no leave to renew at any time', () => {
  const { policies, faults } = policiesOf(kafka({ maintenanceTimeWindows: ['sundays'] }));
  assert.equal(isOpen(policies.cluster.windows, new Date()), false);
  assert.match(faults[0]!.message, /"sundays" must have six fields/);
  assert.ok(isOpen(policiesOf(kafka({})).policies.cluster.windows, new Date()));
});

test('no more maintenance windows are looked at than a person writes', () => {
  const maintenanceTimeWindows = Array.from({ length: 20_000 }, () => '0 0 0 ? 2 MON 2199');
  const { policies, faults } = policiesOf(kafka({ maintenanceTimeWindows }));
  assert.equal(policies.cluster.windows.length, 100);
  assert.match(faults[0]!.message, /after the first 100/);
});
