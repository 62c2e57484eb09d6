import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPeerBus } from './peers.ts';

test('a filter hears the same filter of other processes, and nobody else, until it is closed', () => {
  const told: [string, unknown][] = [];
  const bus = createPeerBus((channel, message) => void told.push([channel, message]));
  const heard: unknown[] = [];
  const channel = bus.open('vc', 'quota');
  channel.hear((message) => void heard.push(message));
  channel.tell({ a: 1 });
  assert.deepEqual(told, [['vc/quota', { a: 1 }]]);
  bus.hear('vc/quota', 'for us');
  bus.hear('vc/other', 'for another');
  assert.deepEqual(heard, ['for us']);
  const next = bus.open('vc', 'quota'); // after a change of the configuration, while the first one drains
  next.hear((message) => void heard.push(`again ${String(message)}`));
  bus.hear('vc/quota', 'both');
  channel.close();
  bus.hear('vc/quota', 'one');
  assert.deepEqual(heard, ['for us', 'both', 'again both', 'again one']);
});
