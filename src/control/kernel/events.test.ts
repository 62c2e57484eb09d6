import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { eventsOf } from './events.ts';
import type { ConditionSummary, EventRules } from './events.ts';

const RULES: EventRules = {
  types: ['Accepted', 'ResolvedRefs'],
  routine: new Set(['ConfigPending']),
  waiting: new Set(['AddressPending', 'ScaledToZero']),
  onlyOf: { PodsNotReady: 'KafkaProxy' },
  announced: { CertificateExpiring: 'CertificateExpired' },
};

const ready = (reason = 'Ready', status = reason === 'Ready' ? 'True' : 'False'): ConditionSummary[] => [
  { type: 'Accepted', status: 'True', reason: 'Accepted', message: '' },
  { type: 'ResolvedRefs', status: 'True', reason: 'ResolvedRefs', message: '' },
  { type: 'Ready', status, reason, message: `about ${reason}` },
];
const unresolved = (reason: string): ConditionSummary[] => [
  { type: 'Accepted', status: 'True', reason: 'Accepted', message: '' },
  { type: 'ResolvedRefs', status: 'False', reason, message: `about ${reason}` },
  { type: 'Ready', status: 'False', reason, message: `about ${reason}` },
];
const expiring = ready('CertificateExpiring', 'True');

const told = (before: ConditionSummary[], after: ConditionSummary[], kind = 'VirtualKafkaCluster') =>
  eventsOf(RULES, kind, before, after).map(({ type, reason }) => `${type} ${reason}`);

suite('events for changes of conditions', () => {
  const cases: [what: string, before: ConditionSummary[], after: ConditionSummary[], expected: string[]][] = [
    ['the usual beginning', [], ready('PodsNotReady'), []],
    ['and its end', ready('ConfigPending'), ready(), []],
    ['broken from the start', [], unresolved('RefNotPermitted'), ['Warning RefNotPermitted']],
    ['broken, and said once', ready(), unresolved('RefNotPermitted'), ['Warning RefNotPermitted']],
    ['otherwise broken', unresolved('RefNotPermitted'), unresolved('Gone'), ['Warning Gone']],
    ['healed', unresolved('RefNotPermitted'), ready('ConfigPending'), ['Normal ResolvedRefs']],
    ['waits for an address', [], ready('AddressPending'), ['Normal AddressPending']],
    ['has one', ready('AddressPending'), ready('ConfigPending'), ['Normal Recovered']],
    ['expires soon', ready(), expiring, ['Warning CertificateExpiring']],
    ['has expired', expiring, ready('CertificateExpired'), ['Warning CertificateExpired']],
    ['renewed', expiring, ready('ConfigPending'), ['Normal Recovered']],
    ['pods are gone', ready(), ready('PodsNotReady'), []],
  ];
  for (const [what, before, after, expected] of cases)
    test(what, () => assert.deepEqual(told(before, after), expected));

  test('of the proxy itself, pods that are gone are worth telling, but not those yet to come', () => {
    assert.deepEqual(told(ready(), ready('PodsNotReady'), 'KafkaProxy'), ['Warning PodsNotReady']);
    assert.deepEqual(told([], ready('PodsNotReady'), 'KafkaProxy'), []);
    assert.deepEqual(told(ready('PodsNotReady'), ready(), 'KafkaProxy'), ['Normal Recovered']);
  });

  test('a status that stays what it is tells nothing, whatever its messages', () => {
    const status = fc.constantFrom(ready(), expiring, unresolved('A'), ready('AddressPending'), []);
    fc.assert(
      fc.property(status, fc.string(), (conditions, message) => {
        const after = conditions.map((condition) => ({ ...condition, message }));
        assert.deepEqual(eventsOf(RULES, 'VirtualKafkaCluster', conditions, after), []);
      }),
    );
  });
});
