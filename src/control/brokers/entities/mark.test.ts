import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../../kube/http/client.ts';
import { ApiError } from '../../../kube/http/errors.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { writeMarks } from './mark.ts';

const topic = (name: string): KubeObject => ({
  apiVersion: 'kafka.strimzi.io/v1',
  kind: 'KafkaTopic',
  metadata: { name, namespace: 'kafka', uid: name },
});
const mark = { finalizer: 'strimzi.io/topic-operator', held: true, remembered: { topicName: 'x' } };

/** Marks these, at a server that answers with such an error where a name is a status. */
async function marksOf(...names: string[]) {
  const client: Pick<Client, 'mergePatch'> = {
    async mergePatch(_type, { name }) {
      const status = Number(name.replace('s', ''));
      if (status > 0) throw new ApiError(status, 'Invalid', `no to ${name}`);
      return topic(name) as never;
    },
  };
  const planned = names.map((name) => ({ resource: topic(name), mark }));
  const { marked, denied } = await writeMarks(client as Client, planned, AbortSignal.timeout(60_000));
  return {
    marked: [...marked].map(({ metadata }) => metadata.name),
    denied: [...denied].map(([{ metadata }, { message }]) => [metadata.name, message]),
  };
}

test('a resource whose mark the server refuses, or that has changed, keeps none of the others from theirs', async () => {
  assert.deepEqual(await marksOf('a', 's422', 's403', 's409', 's404', 'b'), {
    marked: ['a', 'b'],
    denied: [
      ['s422', 'no to s422'],
      ['s403', 'no to s403'],
    ],
  });
});

test('a server that is in trouble itself is another matter', async () => {
  await assert.rejects(marksOf('a', 's500'), /no to s500/);
});
