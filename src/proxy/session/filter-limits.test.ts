import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { open, request, unanswered } from '../../../test/support/session.ts';

test('while a filter pauses a client nothing further is taken of it, and then all of it is', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const { session, client, broker } = open((context) => ({
      onRequest: {
        Heartbeat() {
          context.pauseFor(5000);
          return undefined;
        },
      },
    }));
    client.resume();
    const heartbeat = request('Heartbeat', 4, { groupId: 'g', generationId: 1, memberId: 'm' });
    let came = 0;
    broker.on('data', (chunk: Buffer) => (came += chunk.length));
    client.write(Buffer.concat([heartbeat, heartbeat, unanswered]));
    while (came < heartbeat.length) await turn();
    for (let i = 0; i < 20; i++) await turn();
    assert.equal(came, heartbeat.length);
    assert.equal(session.pause.on, true);
    mock.timers.tick(5000);
    while (came < 2 * heartbeat.length) await turn();
    mock.timers.tick(5000);
    while (came < 2 * heartbeat.length + unanswered.length) await turn();
    assert.equal(session.pause.on, false);
  } finally {
    mock.timers.reset();
  }
});

test('a filter that never answers costs its own connection, and not for ever', async () => {
  const never = new Promise<undefined>(() => {});
  const { session, cuts, client, broker } = open(() => ({ onRequest: { Heartbeat: () => never } }));
  broker.resume();
  client.write(request('Heartbeat', 4, { groupId: 'g', generationId: 1, memberId: 'm' }));
  client.on('error', () => {});
  while (session.upstream === undefined) await turn();
  for (let i = 0; i < 20; i++) await turn();
  session.sweep(performance.now() + 110_000);
  assert.deepEqual(cuts, []);
  session.sweep(performance.now() + 121_000);
  assert.deepEqual(cuts, ['filter']);
});

test('a client who is a stranger to a filter is cut off before anything is done for it', async () => {
  const asked: string[] = [];
  const { cuts, client, broker } = open(
    () => ({
      isStranger: () => true,
      onRequest: {
        Heartbeat() {
          asked.push('filter');
          return undefined;
        },
        SaslHandshake: () => ({ respond: { errorCode: 0, mechanisms: ['PLAIN'] } }),
      },
    }),
    true,
  );
  broker.on('data', () => asked.push('broker'));
  const answered = new Promise((resolve) => client.once('data', resolve));
  client.write(request('SaslHandshake', 1, { mechanism: 'PLAIN' }));
  await answered;
  client.on('error', () => {});
  client.write(request('Heartbeat', 4, { groupId: 'g', generationId: 1, memberId: 'm' }));
  while (cuts.length === 0) await turn();
  assert.deepEqual([cuts, asked], [['bad_traffic'], []]);
});
