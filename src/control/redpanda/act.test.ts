import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import type { Client } from '../../kube/http/client.ts';
import { ApiError } from '../../kube/http/errors.ts';
import type { AnyObject } from '../../kube/object.ts';
import { createLog } from '../../ops/log.ts';
import { Stale } from '../kernel/status.ts';
import { act } from './act.ts';
import type { Action } from './act.ts';
import type { RedpandaModel } from './model.ts';
import type { RollMemory } from './roll.ts';

const OBJECT = { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'panda', namespace: 'n', uid: 's', resourceVersion: '7' } }; // prettier-ignore

const pod = (ordinal: number, revision: string): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `panda-${ordinal}`,
    namespace: 'n',
    uid: `uid-${ordinal}`,
    annotations: { 'isthmus.dev/revision': revision },
  },
  status: { podIP: '127.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
});

suite('a step of a roll', () => {
  const server = createServer((_request, response) => {
    const lists = { nodes_down: [], leaderless_partitions: [], under_replicated_partitions: [] };
    response.end(JSON.stringify({ is_healthy: true, controller_id: 0, all_nodes: [0, 1], ...lists }));
  });
  before(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
  after(() => void server.close());

  /** What was written, in order; `refuse` is thrown at the first patch, `forbid` where a pod is tried. */
  async function look(
    pods: AnyObject[],
    memory: RollMemory,
    refuse?: Error,
    forbid?: Error,
    written: string[] = [],
  ) {
    const tried: AnyObject[] = [];
    const client = {
      create: async (object: AnyObject, { dryRun }: { dryRun?: boolean }) => {
        assert.equal(dryRun, true);
        tried.push(object);
        if (forbid) throw forbid;
      },
      mergePatch: async (_type: object, _name: object, patch: { metadata: { resourceVersion: string } }) => {
        if (refuse) throw refuse;
        written.push(`patch ${patch.metadata.resourceVersion} ${JSON.stringify(patch)}`);
      },
      delete: async (_type: object, { name }: { name: string }, { uid }: { uid: string }) => {
        written.push(`delete ${name} ${uid}`);
        return true;
      },
    } as unknown as Client;
    const { port } = server.address() as AddressInfo;
    const model = { name: 'panda', replicas: pods.length, admin: { port } } as RedpandaModel;
    const action: Action = {
      do: 'look',
      cluster: OBJECT,
      statefulSet: OBJECT,
      planned: { ...OBJECT, spec: { template: { metadata: {}, spec: { volumes: [] } } } },
      wanted: { model, revision: 'new', memory },
    };
    const events = { record: () => {}, flush: async () => {}, stop: async () => {} };
    const context = { client: () => client, podsOf: () => pods, events, log: createLog('silent'), clock: Date.now }; // prettier-ignore
    const result = await act([action], context, new AbortController().signal);
    return { written, tried, decision: result.acted?.decision.do, problem: result.acted?.decision };
  }

  const RAN = { hasRun: true, inFlight: undefined };

  test('is written down, over just what was seen, before the pod is deleted by its uid', async () => {
    const { written } = await look([pod(0, 'old'), pod(1, 'new')], RAN);
    assert.equal(written.length, 2);
    assert.match(written[0]!, /^patch 7 .*\\"node\\":0,\\"podUid\\":\\"uid-0\\"/);
    assert.equal(written[1], 'delete panda-0 uid-0');
  });

  test('is not taken where the API server would refuse the new pod, unless it was begun already', async () => {
    const pods = [pod(0, 'old'), pod(1, 'new')];
    const forbid = new ApiError(403, 'Forbidden', 'violates PodSecurity: hostPort');
    const { written, tried, decision, problem } = await look(pods, RAN, undefined, forbid);
    assert.deepEqual({ written, decision }, { written: [], decision: 'blocked' });
    assert.match(JSON.stringify(problem), /broker 0 is not restarted.*violates PodSecurity/);
    const { metadata, spec } = tried[0] as unknown as { metadata: object; spec: object };
    const claim = { name: 'datadir', persistentVolumeClaim: { claimName: 'datadir-panda-0' } };
    assert.deepEqual([metadata, spec], [{ name: 'panda-0', namespace: 'n' }, { volumes: [claim] }]);
    const inFlight = { node: 0, podUid: 'uid-0', since: Date.now(), why: 'x' };
    const begun = await look(pods, { hasRun: true, inFlight }, undefined, forbid);
    assert.equal(begun.decision, 'restart');
  });

  test('is not taken where it cannot be written down', async () => {
    const changed = new ApiError(409, 'Conflict', 'changed');
    const pods = [pod(0, 'old'), pod(1, 'new')];
    const written: string[] = [];
    await assert.rejects(look(pods, RAN, changed, undefined, written), Stale);
    await assert.rejects(look(pods, RAN, new ApiError(500, 'x', 'broken'), undefined, written), /broken/);
    assert.deepEqual(written, [], 'no pod is deleted');
  });

  test('leaves nothing to be written once all is well', async () => {
    const pods = [pod(0, 'new'), pod(1, 'new')];
    const { written, tried, decision } = await look(pods, RAN);
    assert.deepEqual({ written, tried, decision }, { written: [], tried: [], decision: 'done' });
    const first = await look(pods, { hasRun: false, inFlight: undefined });
    assert.match(first.written.join(), /hasRun\\":true/);
    const inFlight = { node: 0, podUid: 'before', since: Date.now(), why: 'x' };
    const over = await look(pods, { hasRun: true, inFlight });
    assert.match(over.written.join(), /^patch .*\{\\"hasRun\\":true\}/);
  });
});
