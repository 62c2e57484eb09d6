import assert from 'node:assert/strict';
import { Server } from 'node:net';
import { mock, test } from 'node:test';
import { createListeners } from './listeners.ts';

test('a connection that cannot be accepted is reported, and the port stays open', async () => {
  const servers: Server[] = [];
  const { listen } = Server.prototype as { listen: (...args: unknown[]) => Server };
  const listening = mock.method(Server.prototype, 'listen', function (this: Server, ...args: unknown[]) {
    servers.push(this);
    return listen.apply(this, args);
  });
  const errors: [string, string | undefined][] = [];
  const listeners = createListeners(
    false,
    () => {},
    (key, { code }) => void errors.push([key, code]),
  );
  await listeners.set([{ key: 'k', host: '127.0.0.1', port: 0 }]);
  listening.mock.restore();
  // As Node tells of what accept(2) answered; a machine that is short of buffers cannot be had on demand.
  servers[0]?.emit('error', Object.assign(new Error('accept ENOBUFS'), { code: 'ENOBUFS' }));
  assert.deepEqual(errors, [['k', 'ENOBUFS']]);
  assert.ok(servers[0]?.listening);
  assert.equal(listeners.failures().size, 0);
  listeners.close();
});
