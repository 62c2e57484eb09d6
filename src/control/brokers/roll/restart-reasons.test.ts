import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { pod } from '../../../../test/support/roll/roll-input.ts';
import type { PodFacts } from './pod-facts.ts';
import { eventReason, restartReasons } from './restart-reasons.ts';
import type { WantedNode } from './restart-reasons.ts';

const LIVE = {
  'strimzi.io/revision': 'a',
  'strimzi.io/kafka-version': '4.2.0',
};

const NOBODY: ReadonlySet<string> = new Set();

function names(wanted: Partial<WantedNode>, facts: Partial<PodFacts> = {}): string[] {
  const node = {
    annotations: LIVE,
    config: undefined,
    certificates: undefined,
    resizePending: false,
    tellsAddress: false,
    manualUids: NOBODY,
    ...wanted,
  };
  return restartReasons(node, pod(0, { annotations: LIVE, ...facts })).map(({ name }) => name);
}

suite('restart reasons', () => {
  test('a pod that is as it should be has none, stuck or not', () => {
    assert.deepEqual(names({}), []);
    assert.deepEqual(names({}, { stuck: 'CrashLoopBackOff' }), []);
  });

  const expected: [annotation: keyof typeof LIVE, reason: string][] = [
    ['strimzi.io/revision', 'POD_HAS_OLD_REVISION'],
    ['strimzi.io/kafka-version', 'POD_HAS_OLD_REVISION'],
  ];
  for (const [annotation, reason] of expected) {
    test(`${annotation} differs: ${reason}`, () => {
      assert.deepEqual(names({ annotations: { ...LIVE, [annotation]: 'new' } }), [reason]);
      assert.deepEqual(names({}, { annotations: { ...LIVE, [annotation]: 'old' } }), [reason]);
      const without = Object.fromEntries(Object.entries(LIVE).filter(([name]) => name !== annotation));
      assert.deepEqual(names({}, { annotations: without }), [reason], 'a pod without it');
      assert.deepEqual(names({ annotations: without }), [], 'one that is not wanted is not compared');
    });
  }

  test('configuration that only a start takes', () => {
    assert.deepEqual(names({ config: { kind: 'restart', keys: ['log.dirs'] } }), [
      'CONFIG_CHANGE_REQUIRES_RESTART',
    ]);
    assert.deepEqual(names({ config: { kind: 'none', unfixable: ['log.dirs'] } }), []);
  });

  test('certificates that only a start loads', () => {
    assert.deepEqual(names({ certificates: 'keys changed' }), ['CLUSTER_CA_CERT_KEY_REPLACED']);
    assert.deepEqual(names({ certificates: 'authority renewed' }), ['CA_CERT_HAS_OLD_GENERATION']);
    assert.deepEqual(names({ certificates: 'certificate renewed' }), ['KAFKA_CERTIFICATES_CHANGED']);
  });

  test('a file system that waits for a start', () =>
    assert.deepEqual(names({ resizePending: true }), ['FILE_SYSTEM_RESIZE_NEEDED']));

  test('clients are told an address that the node no longer has, and it has another', () => {
    const annotations = { ...LIVE, 'isthmus.dev/told-address': '192.0.2.1' };
    const at = (now: string) => ({ annotations: { ...annotations, 'isthmus.dev/node-address': now } });
    assert.deepEqual(names({ tellsAddress: true }, at('192.0.2.9')), ['NODE_ADDRESS_CHANGED']);
    assert.deepEqual(names({ tellsAddress: true }, at('192.0.2.1')), []);
    assert.deepEqual(names({ tellsAddress: false }, at('192.0.2.9')), []);
    assert.deepEqual(names({ tellsAddress: true }, { annotations }), [], 'the node has none now');
  });

  test('asked for by hand: of a pod, or of the pods that a set had then', () => {
    const annotations = { ...LIVE, 'strimzi.io/manual-rolling-update': 'true' };
    assert.deepEqual(names({}, { annotations }), ['MANUAL_ROLLING_UPDATE']);
    assert.deepEqual(names({ manualUids: new Set(['uid-0']) }), ['MANUAL_ROLLING_UPDATE']);
    assert.deepEqual(names({ manualUids: new Set(['uid-0']) }, { uid: 'new' }), [], 'restarted since');
  });

  test('new disks are asked for', () => {
    const annotations = { ...LIVE, 'strimzi.io/delete-pod-and-pvc': 'true' };
    assert.deepEqual(names({}, { annotations }), ['POD_AND_PVC_DELETION']);
  });

  test('stuck is said beside another reason', () => {
    const wanted = { annotations: { ...LIVE, 'strimzi.io/revision': 'b' } };
    assert.deepEqual(names(wanted, { stuck: 'Unschedulable' }), ['POD_HAS_OLD_REVISION', 'POD_STUCK']);
  });

  test('an event has the reason as Strimzi spells it', () => {
    assert.equal(eventReason({ name: 'CA_CERT_HAS_OLD_GENERATION', note: '' }), 'CaCertHasOldGeneration');
  });
});
