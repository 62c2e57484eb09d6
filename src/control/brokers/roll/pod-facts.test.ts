import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { podFacts } from './pod-facts.ts';

function read(status: object, metadata: object = {}) {
  return podFacts({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'events-nodes-0', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', ...metadata },
    spec: { nodeName: 'worker-1' },
    status,
  });
}

const kafka = (state: object, more: object = {}) => ({
  containerStatuses: [{ name: 'kafka', restartCount: 3, state, ...more }],
});
const READY = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:01:00Z' };

suite('pod facts', () => {
  test('a pod that is up', () => {
    const annotations = {
      'strimzi.io/revision': 'a',
      'isthmus.dev/node-name': 'n',
      'kubernetes.io/other': 'x',
    };
    const startedAt = '2026-01-01T00:00:30Z';
    const status = { phase: 'Running', conditions: [READY], ...kafka({ running: { startedAt } }) };
    assert.deepEqual(read(status, { annotations }), {
      uid: 'u',
      ready: true,
      readyChangedAt: Date.parse('2026-01-01T00:01:00Z'),
      phase: 'Running',
      running: true,
      runningSince: Date.parse(startedAt),
      deleting: false,
      stuck: undefined,
      unplaced: undefined,
      restarts: 3,
      lastExit: undefined,
      nodeName: 'worker-1',
      createdAt: Date.parse('2026-01-01T00:00:00Z'),
      annotations: { 'strimzi.io/revision': 'a', 'isthmus.dev/node-name': 'n' },
    });
  });

  test('a pod that is being deleted is not ready, whatever its condition says', () => {
    const status = { phase: 'Running', conditions: [READY], ...kafka({ running: {} }) };
    const { ready, deleting } = read(status, { deletionTimestamp: '2026-01-01T00:02:00Z' });
    assert.deepEqual({ ready, deleting }, { ready: false, deleting: true });
  });

  test('crashing: what the process said last, cut short', () => {
    const ended = { terminated: { exitCode: 78, message: ` DiskLost: ${'x'.repeat(5000)}` } };
    const { stuck, running, lastExit } = read({
      phase: 'Running',
      ...kafka({ waiting: { reason: 'CrashLoopBackOff' } }, { lastState: ended }),
    });
    assert.deepEqual([stuck, running, lastExit?.code], ['CrashLoopBackOff', false, 78]);
    assert.equal(lastExit?.message.length, 1024);
    assert.match(lastExit.message, /^DiskLost: x/);
  });

  test('stuck in an init container, or nowhere to run', () => {
    const init = [{ name: 'init', state: { waiting: { reason: 'ImagePullBackOff' } } }];
    const waiting = kafka({ waiting: { reason: 'PodInitializing' } });
    assert.equal(
      read({ phase: 'Pending', initContainerStatuses: init, ...waiting }).stuck,
      'ImagePullBackOff',
    );
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }];
    const nowhere = read({ phase: 'Pending', conditions });
    assert.deepEqual([nowhere.stuck, nowhere.running, nowhere.ready], ['Unschedulable', false, false]);
  });

  test('a pod that is only slow is not stuck', () => {
    const { stuck, running } = read({
      phase: 'Pending',
      ...kafka({ waiting: { reason: 'ContainerCreating' } }),
    });
    assert.deepEqual([stuck, running], [undefined, false]);
  });

  test('what nobody says counts as the worse case: not ready, and running', () => {
    const { ready, running, phase } = read({});
    assert.deepEqual({ ready, running, phase }, { ready: false, running: true, phase: 'Unknown' });
  });
});
