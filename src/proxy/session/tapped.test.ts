import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiOf } from '../../kafka/apis.ts';
import { encodeRequest } from '../../kafka/frame.ts';
import type { ConnectionInfo } from './connection-info.ts';
import { tappedRequest } from './tapped.ts';

test('a request is shown with its client and topic, as far as anybody would read them', () => {
  const info = { cluster: { config: { name: 'vc' }, topicNames: new Map() }, clientAddress: '192.0.2.1' };
  const shown = (clientId: string, name: string) => {
    const frame = encodeRequest(
      { apiKey: apiOf('Metadata').key, apiVersion: 12, correlationId: 1, clientId },
      { topics: [{ name }] },
    );
    return tappedRequest(info as unknown as ConnectionInfo, frame, 0, frame.length);
  };
  const { api, topic, clientId } = shown('c', 'orders');
  assert.deepEqual([api, topic, clientId], ['Metadata', 'orders', 'c']);
  const long = shown('c'.repeat(30_000), 't'.repeat(30_000));
  assert.deepEqual([long.topic?.length, long.clientId?.length], [249, 64]);
});
