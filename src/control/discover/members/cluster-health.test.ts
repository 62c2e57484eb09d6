import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../../../test/support/manual-clock.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { EventRecorder, Notice } from '../../../kube/write/events.ts';
import { createLog } from '../../../ops/log.ts';
import { createMetrics } from '../../../ops/metrics.ts';
import { watchClusterHealth } from './cluster-health.ts';
import type { Member } from './member.ts';

function watch(forgetAfterMs: number | undefined, local = 'west') {
  let problem: string | undefined;
  const member = {
    id: 'east',
    isSettled: true,
    problem: () => problem,
    idProblem: () => undefined,
    lastEventAt: () => undefined,
  } as unknown as Member;
  const said: string[] = [];
  const events: EventRecorder = {
    record: (_object: KubeObject, { reason }: Notice) => void said.push(reason),
    flush: async () => {},
    stop: async () => {},
  };
  const clock = createManualClock();
  const over = new AbortController();
  const work = watchClusterHealth(
    {
      members: new Map([['east', member]]),
      local,
      objectOf: () => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'east' } }),
      forgetAfterMs,
      forget: (cluster, isForgotten) => void said.push(`${isForgotten ? 'forget' : 'remember'} ${cluster}`),
      events,
      log: createLog('silent'),
      metrics: createMetrics(),
      clock,
    },
    over.signal,
  );
  return {
    async after(seconds: number, now: string | undefined) {
      problem = now;
      for (let second = 0; second < seconds; second++) await clock.advance(1000);
      return said.splice(0);
    },
    async [Symbol.asyncDispose]() {
      over.abort();
      await work;
    },
  };
}

test('the names of a cluster that cannot be read are forgotten after a while, and count again when it can', async () => {
  await using east = watch(60_000);
  assert.deepEqual(await east.after(120, undefined), []);
  assert.deepEqual(await east.after(30, 'no route'), ['ClusterUnreachable']);
  assert.deepEqual(await east.after(30, undefined), ['ClusterReachable'], 'in time');
  assert.deepEqual(await east.after(59, 'no route'), ['ClusterUnreachable']);
  assert.deepEqual(await east.after(5, 'no route'), ['forget east', 'ClusterForgotten']);
  assert.deepEqual(await east.after(60, 'no route'), []);
  assert.deepEqual(await east.after(2, undefined), ['ClusterReachable', 'remember east']);
});

test('they are kept for ever by default, and those of the local cluster always', async () => {
  for (const [limit, local] of [[undefined], [60_000, 'east']] as const) {
    await using east = watch(limit, local);
    assert.deepEqual(await east.after(1000, 'no route'), ['ClusterUnreachable']);
  }
});
