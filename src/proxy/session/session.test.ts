import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { open, readAll, request, serve, unanswered } from '../../../test/support/session.ts';
import { apiOf } from '../../kafka/apis.ts';
import { encodeResponse } from '../../kafka/frame.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { TapEntry } from '../cluster/tap.ts';
import type { RequestVerdict } from '../filter.ts';

test('what a client sends last, wanting no answer, reaches the broker although the client is gone', async () => {
  const { session, client, broker } = open();
  client.write(unanswered);
  while (session.upstream === undefined) await turn();
  client.end(unanswered);
  assert.deepEqual(await readAll(broker), Buffer.concat([unanswered, unanswered]));
});

test('a session that ends within a read goes on reading, so that its end arrives', async () => {
  const { session, client, broker } = open();
  broker.resume();
  client.write(unanswered);
  while (session.upstream === undefined) await turn();
  client.write(unanswered.subarray(0, 20));
  while (client.writableLength > 0) await turn();
  session.drain('a test');
  // Ends the request and begins another one that the session does not take any more.
  client.write(Buffer.concat([unanswered.subarray(20), unanswered]));
  client.resume();
  const ended = Promise.withResolvers<void>();
  client.once('end', ended.resolve);
  await ended.promise;
  client.end(unanswered);
  const closed = Promise.withResolvers<void>();
  client.once('close', closed.resolve);
  await closed.promise;
});

test('a filter that asks a broker which goes away is told so', async () => {
  const { promise: refused, resolve } = Promise.withResolvers<unknown>();
  const { client, broker } = open((context) => ({
    onRequest: {
      async Metadata() {
        await context.ask('Metadata', 1, { topics: [] }).catch(resolve);
        return undefined;
      },
    },
  }));
  client.resume();
  client.write(request('Metadata', 1, { topics: [] }));
  broker.once('data', () => broker.destroy());
  assert.match(String(await refused), /disconnected before it answered/);
});

test('a filter that throws when a connection closes does no harm to others', async () => {
  const { session, cluster, client } = open(() => ({
    onClose() {
      throw new Error('a fault of the filter');
    },
  }));
  client.destroy();
  while (!session.client.closed) await turn();
  assert.equal(cluster.sessions.size, 0);
  assert.equal(cluster.stats.active.value, 0);
});

test('responses that had come before the broker was lost are handled, however slow the filter', async () => {
  const { promise: slow, resolve } = Promise.withResolvers<undefined>();
  const { session, client, broker } = open(() => ({ onResponse: { Heartbeat: () => slow } }));
  const heartbeat = request('Heartbeat', 4, { groupId: 'g', generationId: 1, memberId: 'm' });
  client.write(Buffer.concat([heartbeat, heartbeat]));
  const answer = encodeResponse(apiOf('Heartbeat').key, 4, { correlationId: 7 }, {});
  const seen = readAll(client);
  await new Promise((resolve) => broker.once('data', resolve));
  broker.write(Buffer.concat([answer, answer]));
  while (broker.writableLength > 0) await turn();
  session.upstream!.destroy();
  await turn();
  resolve(undefined);
  assert.deepEqual(await seen, Buffer.concat([answer, answer]));
});

test('a client that has closed its side does not wait for ever for a broker that hangs', async () => {
  const { session, cuts, client, broker } = open();
  broker.resume();
  client.write(request('Heartbeat', 4, { groupId: 'g', generationId: 1, memberId: 'm' }));
  while (session.upstream === undefined) await turn();
  client.end();
  while (!session.ending) await turn();
  session.sweep(performance.now() + 30_000);
  assert.deepEqual(cuts, []);
  session.sweep(performance.now() + 61_000);
  assert.deepEqual(cuts, ['drain_timeout']);
});

test('before the broker has accepted the session, only its answers count as activity', async () => {
  const { session, cuts, client, broker } = open(undefined, true);
  let now = performance.now();
  const sweep = (ms: number) => session.sweep((now += ms));
  sweep(0);
  client.write(request('SaslAuthenticate', 2, { authBytes: Buffer.alloc(1000) }).subarray(0, 500));
  while (broker.readableLength === 0) await turn();
  sweep(50_000);
  client.write(Buffer.alloc(100));
  while (broker.readableLength < 600) await turn();
  assert.deepEqual(cuts, []);
  sweep(20_000);
  assert.deepEqual(cuts, ['idle']);
});

test('a session that the broker has accepted has no limit of a stranger any more', async () => {
  const { session, cuts, client, broker } = open(undefined, true);
  serve(broker);
  client.write(request('Heartbeat', 4, { groupId: 'g', generationId: 1, memberId: 'm' }));
  while (!session.accepted) await turn();
  session.sweep(performance.now());
  session.sweep(performance.now() + 1e9);
  assert.deepEqual(cuts, []);
});

for (const [what, bytes] of [
  ['wants no answer', unanswered],
  [
    'is large',
    request('Metadata', 1, {
      topics: [{ name: 'x'.repeat(30_000) }, { name: 'y'.repeat(30_000) }, { name: 'z'.repeat(9000) }],
    }),
  ],
  [
    'is a large Produce request',
    request('Produce', 9, {
      acks: 1,
      timeoutMs: 1,
      topicData: [{ name: 'x', partitionData: [{ index: 0, records: Buffer.alloc(200_000) }] }],
    }),
  ],
] as const) {
  test(`a first request that ${what} waits until the broker has answered the proxy`, async () => {
    const { session, client, broker } = open(undefined, true);
    client.resume();
    client.write(bytes);
    while (broker.readableLength === 0) await turn();
    const asked = broker.read() as Buffer;
    assert.equal(asked.readInt16BE(4), apiOf('Metadata').key);
    assert.ok(asked.length < 100, 'nothing of the client has gone to the broker');
    assert.equal(session.account.held, 0);
    broker.write(encodeResponse(apiOf('Metadata').key, 1, { correlationId: asked.readInt32BE(8) }, {}));
    const chunks: Buffer[] = [];
    broker.on('data', (chunk: Buffer) => chunks.push(chunk));
    while (Buffer.concat(chunks).length < bytes.length) await turn();
    assert.deepEqual(Buffer.concat(chunks), bytes);
    assert.ok(session.accepted);
  });
}

test('no filter sees a request of a client that the broker has not accepted', async () => {
  const seen: string[] = [];
  const { session, client, broker } = open(
    () => ({
      onRequest: {
        Produce() {
          seen.push('Produce');
          return undefined;
        },
      },
    }),
    true,
  );
  client.resume();
  client.write(request('Produce', 9, { acks: 1, timeoutMs: 1, topicData: [] }));
  while (broker.readableLength === 0) await turn();
  assert.deepEqual(seen, []);
  broker.destroy(); // as it does where a login comes first
  while (!session.upstream!.closed) await turn();
  client.end();
  while (!session.client.closed) await turn();
  assert.deepEqual(seen, []);
});

test('a login has short requests', async () => {
  for (const [apiKey, length, cut] of [
    [apiOf('SaslAuthenticate').key, 524_288, false],
    [apiOf('SaslAuthenticate').key, 524_289, true],
    [apiOf('ApiVersions').key, 65_537, true],
  ] as const) {
    const { session, cuts, client } = open(undefined, true);
    const head = Buffer.alloc(20);
    head.writeInt32BE(length, 0);
    head.writeInt16BE(apiKey, 4);
    client.write(head);
    while (session.upstream === undefined && cuts.length === 0) await turn();
    await turn();
    assert.deepEqual(cuts, cut ? ['bad_traffic'] : [], `${apiKey} ${length}`);
    session.destroy();
  }
});

test('what a filter works on is left alone when the broker is lost meanwhile', async (t) => {
  const { promise: slow, resolve } = Promise.withResolvers<undefined>();
  const begun = Promise.withResolvers<void>();
  const { session, client } = open(() => ({
    onRequest: {
      Heartbeat() {
        begun.resolve();
        return slow;
      },
    },
  }));
  client.resume();
  client.write(request('Heartbeat', 4, { groupId: 'g', generationId: 1, memberId: 'm' }));
  await begun.promise;
  const reads = t.mock.method(session.client, 'resume');
  session.upstream!.destroy();
  while (!session.upstream!.closed) await turn();
  assert.equal(reads.mock.callCount(), 0);
  resolve(undefined);
  while (reads.mock.callCount() === 0) await turn();
  client.end();
  while (!session.client.closed) await turn();
});

/** Looks on, and gives what is shown. */
function lookOn({ tap }: Cluster): TapEntry[] {
  const shown: TapEntry[] = [];
  mock.method(tap, 'show', (entry: TapEntry) => void shown.push(entry));
  tap.set(true);
  return shown;
}

const brief = ({ api, topic, verdict, reason, clientId }: TapEntry) => ({
  api,
  topic,
  verdict,
  reason,
  clientId,
});

test('whoever looks on is shown requests with what became of them, and what wants no answer at once', async () => {
  const { cluster, client, broker } = open();
  const shown = lookOn(cluster);
  serve(broker);
  client.resume();
  const produce = { acks: 0, timeoutMs: 1, topicData: [{ name: 'orders', partitionData: [] }] };
  client.write(Buffer.concat([request('Produce', 9, produce), request('Heartbeat', 4, {})]));
  while (shown.length < 2) await turn();
  const about = { reason: undefined, clientId: 'test', verdict: 'forwarded' };
  assert.deepEqual(shown.map(brief), [
    { ...about, api: 'Produce', topic: 'orders' },
    { ...about, api: 'Heartbeat', topic: undefined },
  ]);
  assert.equal(shown[0]!.latencyMs, undefined);
  assert.ok(shown[1]!.latencyMs! >= 0 && shown[1]!.responseBytes > 8 && shown[1]!.requestBytes > 12);
  client.destroy();
});

test('what a filter answers or closes is shown as that, and what it lets through once', async () => {
  const refusal = { answer: 'TOPIC_AUTHORIZATION_FAILED' } as const;
  const verdicts: RequestVerdict<'Metadata'>[] = [undefined, undefined, refusal, { close: 'no' }];
  const { cluster, client, broker } = open(() => ({ onRequest: { Metadata: async () => verdicts.shift() } }));
  const shown = lookOn(cluster);
  serve(broker);
  client.resume();
  const metadata = request('Metadata', 1, { topics: [{ name: 'orders' }] });
  for (let sent = 1; sent <= 4; sent++) {
    client.write(metadata);
    while (shown.length < sent) await turn();
  }
  assert.deepEqual(
    shown.filter(({ api }) => api !== undefined).map(({ verdict, reason }) => [verdict, reason]),
    [
      ['forwarded', undefined],
      ['forwarded', undefined],
      ['answered', undefined],
      ['closed', 'no'],
    ],
  );
  assert.ok(shown.every(({ api, topic }) => api === undefined || topic === 'orders'));
});

test('requests that are under way when the connection is cut are shown as closed, and so is the connection', async () => {
  const { session, cluster, client, broker } = open();
  const shown = lookOn(cluster);
  client.resume();
  client.on('error', () => {});
  client.write(request('Heartbeat', 4, {}));
  await new Promise((resolve) => broker.once('data', resolve));
  session.cut('idle', 'a test');
  assert.deepEqual(
    shown.map(({ api, verdict, reason }) => [api, verdict, reason]),
    [
      [undefined, 'closed', 'idle'],
      ['Heartbeat', 'closed', 'idle'],
    ],
  );
});
