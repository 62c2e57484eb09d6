import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Client } from '../../../kube/http/client.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { CONFIG_ANNOTATION } from '../names.ts';
import { createPodClient } from './pods.ts';

const signal = new AbortController().signal;

function pod(
  name: string,
  annotation?: string,
  status: object = { phase: 'Running', podIP: '192.0.2.1' },
): AnyObject {
  const annotations = annotation === undefined ? {} : { [CONFIG_ANNOTATION]: annotation };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'n', uid: name, annotations },
    status,
  };
}

/** Only what is patched is of interest; the API server itself is met in the integration tests. */
function recorder(refusalOf: (pod: string) => Error | undefined = () => undefined) {
  const values: string[] = [];
  const mergePatch = async (
    _type: object,
    { name }: { name: string },
    patch: { metadata: { annotations: Record<string, string> } },
  ) => {
    const refusal = refusalOf(name);
    if (refusal) throw refusal;
    values.push(patch.metadata.annotations[CONFIG_ANNOTATION]!);
    return {};
  };
  return { values, client: () => ({ mergePatch }) as unknown as Client };
}

suite('talking to pods', () => {
  test('only pods that run are asked', async () => {
    const asked: string[] = [];
    const talk = createPodClient(
      recorder().client,
      async (ip, access) => {
        asked.push(`${ip} ${access?.token}`);
        return { hash: 'h', error: 'no' };
      },
      () => 0,
    );
    const access = { token: 't', certificate: 'c', host: 'h' };
    const answers = await talk.ask([pod('a'), pod('b', undefined, { phase: 'Pending' })], access, signal);
    assert.deepEqual(asked, ['192.0.2.1 t']);
    assert.deepEqual(answers.get('a'), { configVersion: 'h', refusal: 'no' });
    assert.deepEqual(answers.get('b'), {});
  });

  test('a pod that lags is told once, and again only after a while', async () => {
    const { values, client } = recorder();
    let now = 0;
    const talk = createPodClient(
      client,
      async () => ({}),
      () => now,
    );
    const answers = new Map([
      ['a', { configVersion: 'old' }],
      ['b', { configVersion: 'new' }],
      ['c', {}],
    ]);
    const pods = [pod('a'), pod('b'), pod('c')];
    assert.deepEqual(await talk.nudge(pods, 'new', answers, signal), { told: 1 });
    assert.deepEqual(await talk.nudge(pods, 'new', answers, signal), { told: 0 });
    now = 11_000;
    assert.deepEqual(await talk.nudge(pods, 'new', answers, signal), { told: 1 });
    assert.deepEqual(values, ['new', 'new.1']);
  });

  test('a pod that may not be told keeps no other from being told', async () => {
    const refusal = new Error('forbidden');
    const { values, client } = recorder((name) => (name === 'a' ? refusal : undefined));
    const talk = createPodClient(
      client,
      async () => ({}),
      () => 0,
    );
    const answers = new Map(['a', 'b'].map((name) => [name, { configVersion: 'old' }]));
    const nudged = await talk.nudge([pod('a'), pod('b')], 'new', answers, signal);
    assert.deepEqual(nudged, { told: 1, failure: refusal });
    assert.deepEqual(values, ['new']);
  });

  test('after a restart of the operator a pod that has been told is not told at once again', async () => {
    const { values, client } = recorder();
    const talk = createPodClient(
      client,
      async () => ({}),
      () => 0,
    );
    const answers = new Map([['a', { configVersion: 'old' }]]);
    assert.deepEqual(await talk.nudge([pod('a', 'new')], 'new', answers, signal), { told: 0 });
    assert.deepEqual(values, []);
  });
});
