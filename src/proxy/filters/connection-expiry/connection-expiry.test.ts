import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConnectionContext } from '../../filter.ts';
import { connectionExpiry } from './connection-expiry.ts';

async function connectWith(maxAge: string) {
  const closed: string[] = [];
  const setting = { virtualCluster: 'c', name: 'expiry' } as Parameters<typeof connectionExpiry.create>[1];
  const filter = await connectionExpiry.create(connectionExpiry.config.parse({ maxAge }), setting);
  const context = { closeSoon: (reason: string) => void closed.push(reason) } as unknown as ConnectionContext;
  return { closed, connection: filter.connect(context) };
}

test('a connection is closed when it has reached its age, and not before', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { closed } = await connectWith('1m');
  t.mock.timers.tick(59_999);
  assert.deepEqual(closed, []);
  t.mock.timers.tick(1);
  assert.equal(closed.length, 1);
});

test('an age beyond what timers can wait is not over at once', async (t) => {
  const timer = t.mock.method(globalThis, 'setTimeout');
  const { connection } = await connectWith('1000h');
  connection.onClose!();
  assert.deepEqual(
    timer.mock.calls.map(({ arguments: [, delay] }) => delay),
    [2 ** 31 - 1],
  );
});
