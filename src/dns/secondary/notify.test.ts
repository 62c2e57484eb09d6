import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import test from 'node:test';
import { createLog } from '../../ops/log.ts';
import { parseName } from '../wire/name.ts';
import { checkTsig, signMessage } from '../wire/tsig.ts';
import { createNotifier, notifyBytes } from './notify.ts';
import type { TestContext } from 'node:test';
import type { TsigKey } from '../wire/tsig.ts';

const ZONE = parseName('example.test')!;
const key: TsigKey = {
  name: parseName('k.test')!,
  algorithm: 'hmac-sha256',
  secret: new Uint8Array(32).fill(3),
};
const PLAIN = notifyBytes(ZONE, 0).length;

/** A secondary that answers as it is told to: real ones are in the integration tests, and do no wrong. */
async function secondary(t: TestContext, answer: (message: Buffer) => Buffer | undefined) {
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  const messages: Buffer[] = [];
  socket.on('message', (message, { port, address }) => {
    messages.push(message);
    const response = answer(message);
    if (response) socket.send(response, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { messages, target: { address: '127.0.0.1', port: socket.address().port, key: undefined } };
}

function responseTo(message: Buffer, rcode = 0): Buffer {
  const response = Buffer.from(message.subarray(0, PLAIN));
  response[2]! |= 0x80;
  response[3] = rcode;
  response.writeUInt16BE(0, 10);
  return response;
}

async function told(t: TestContext, options: Parameters<typeof createNotifier>[0], changes = 1) {
  const notifier = createNotifier({ collectMs: 1, ...options });
  t.after(() => notifier.close());
  for (let i = 0; i < changes; i++) notifier.changed(ZONE);
  while (notifier.counts.answered + notifier.counts.failed === 0)
    await new Promise((go) => setTimeout(go, 5));
  return notifier.counts;
}
const log = createLog('silent');

test('many changes are told at once, and again until there is a response', async (t) => {
  const { messages, target } = await secondary(t, (message) =>
    messages.length < 3 ? undefined : responseTo(message),
  );
  const attemptMs = [20, 20, 60_000];
  assert.deepEqual(await told(t, { targets: [target], log, attemptMs }, 100), { answered: 1, failed: 0 });
  assert.equal(messages.length, 3);
  assert.equal(messages[0]![2], 0x24, 'opcode 4, authoritative');
  assert.deepEqual(messages[0]!.subarray(2), notifyBytes(ZONE, 0).subarray(2));
});

test('who refuses is not asked again, and who never answers not for ever', async (t) => {
  const refusing = await secondary(t, (message) => responseTo(message, 5));
  assert.deepEqual(await told(t, { targets: [refusing.target], log }), { answered: 0, failed: 1 });
  assert.equal(refusing.messages.length, 1);
  const silent = await secondary(t, () => undefined);
  const attemptMs = [5, 5];
  assert.deepEqual(await told(t, { targets: [silent.target], log, attemptMs }), { answered: 0, failed: 1 });
});

test('one that never answers keeps no other waiting', async (t) => {
  const silent = await secondary(t, () => undefined);
  const good = await secondary(t, (message) => responseTo(message));
  const notifier = createNotifier({
    targets: [silent.target, good.target],
    log,
    collectMs: 1,
    attemptMs: [600_000],
  });
  t.after(() => notifier.close());
  for (let answered = 1; answered <= 2; answered++) {
    notifier.changed(ZONE);
    while (notifier.counts.answered < answered) await new Promise((go) => setTimeout(go, 5));
  }
  assert.equal(silent.messages.length, 1);
});

test('with a key it is signed, and only a response that is signed counts', async (t) => {
  const sign = (message: Buffer, by: TsigKey) => {
    const now = Math.floor(Date.now() / 1000);
    const signature = checkTsig(message, PLAIN, [key], now);
    return signMessage(responseTo(message), { key: by, now, priorMac: signature!.tsig.mac }).signed;
  };
  const wrong = { ...key, secret: new Uint8Array(32) };
  const { messages, target } = await secondary(t, (message) => {
    if (messages.length === 1) return responseTo(message);
    return sign(message, messages.length === 2 ? wrong : key);
  });
  const attemptMs = [50, 50, 60_000];
  const targets = [{ ...target, key }];
  assert.deepEqual(await told(t, { targets, log, attemptMs }), { answered: 1, failed: 0 });
  assert.equal(messages.length, 3);
});
