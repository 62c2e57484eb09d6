import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import fc from 'fast-check';
import { KINDS, messagesOf } from '../../../../test/support/kafka/messages.ts';
import { ALL_APIS } from '../../../kafka/apis.ts';
import type { ApiName } from '../../../kafka/apis.ts';
import { includes } from '../../../kafka/schema.ts';
import { createMetrics } from '../../../ops/metrics.ts';
import type { ConnectionContext, FilterSetting, MessageContext, Peers } from '../../filter.ts';
import { Bucket } from './bucket.ts';
import { createBuckets } from './buckets.ts';
import { quotaSchema } from './config.ts';
import type { QuotaConfig } from './config.ts';
import { quota } from './quota.ts';
import { ALONE } from '../../../../test/support/alone.ts';

const configOf = (...quotas: object[]) => quotaSchema.parse({ quotas });
const ALICE = { principal: 'alice', clientId: 'app', virtualCluster: 'vc' };

type Handler = (
  message: object,
  context: MessageContext,
) => { forward: { throttleTimeMs: number } } | undefined;

async function connect(config: QuotaConfig, principal?: string) {
  const metrics = createMetrics();
  const setting = { virtualCluster: 'vc', name: 'q', metrics, peers: ALONE } as FilterSetting;
  const filter = await quota.create(config, setting);
  const pauses: number[] = [];
  const context = { principal, virtualCluster: 'vc', pauseFor: (ms: number) => void pauses.push(ms) };
  const connection = filter.connect(context as unknown as ConnectionContext);
  const about = (api: ApiName, bytes: number) =>
    ({ api, apiVersion: 0, correlationId: 1, clientId: 'app', bytes }) as MessageContext;
  return {
    connection,
    metrics,
    pauses,
    request: (api: ApiName, bytes = 100) => (connection.onRequest![api] as Handler)({}, about(api, bytes)),
    response: (api: ApiName, bytes = 100, body: object = { throttleTimeMs: 0 }) =>
      (connection.onResponse![api] as Handler)(body, about(api, bytes)),
  };
}

test('whatever is used and when, no more than the rate is given for long, and nobody waits longer than the most', () => {
  const uses = fc.array(fc.record({ amount: fc.integer({ min: 0, max: 4000 }), afterMs: fc.nat(3000) }));
  fc.assert(
    fc.property(uses, (all) => {
      const [rate, most] = [1000, 60_000];
      const bucket = new Bucket(rate, most, 0);
      let [now, used] = [0, 0];
      for (const { amount, afterMs } of all) {
        now += afterMs;
        used += amount;
        const wait = bucket.take(amount, now);
        assert.ok(wait >= 0 && wait <= most);
        // A client that waits as it is told has had a second's worth more than its rate, at most.
        now += wait;
        assert.ok(used <= rate + (now * rate) / 1000 + 1, `${used} of ${rate} after ${now} ms`);
      }
    }),
  );
  const bucket = new Bucket(10, 5000, 0);
  assert.equal(bucket.take(1_000_000, 0), 5000);
  assert.equal(bucket.take(0, 5000), 0);
});

test('of each kind the quota by name counts before the one for all others, and the longest wait wins', () => {
  let now = 0;
  const config = configOf(
    { per: 'principal', requests: 1 },
    { per: 'principal', name: 'alice', requests: 10 },
    { per: 'clientId', name: 'slow', requests: 2 },
    { per: 'virtualCluster', requests: 100 },
  );
  const buckets = createBuckets(config, ALONE, () => now);
  const take = (user: object, amount: number) => buckets.take({ ...ALICE, ...user }, 'requests', amount);
  assert.equal(take({}, 10), undefined);
  assert.deepEqual(take({}, 5), { ms: 500, per: 'principal' });
  assert.deepEqual(take({ principal: 'bob' }, 3), { ms: 2000, per: 'principal' });
  assert.equal(take({ principal: 'carol' }, 1), undefined);
  assert.deepEqual(take({ principal: 'dave', clientId: 'slow' }, 1), undefined);
  assert.deepEqual(take({ principal: 'alice', clientId: 'slow' }, 11), { ms: 5000, per: 'clientId' });
  now = 60_000;
  assert.deepEqual(take({ principal: 'alice' }, 300), { ms: 15_000, per: 'principal' });
  assert.deepEqual([buckets.counts('requests'), buckets.counts('fetchBytes')], [true, false]);
});

test('what is used in one process is taken off in the others, a moment later', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const handlers: ((message: unknown) => void)[] = [];
    const peersOf = (own: number): Peers => ({
      tell(message) {
        const text = JSON.stringify(message);
        handlers.filter((_, i) => i !== own).forEach((hear) => hear(JSON.parse(text)));
      },
      hear: (handler) => void (handlers[own] = handler),
    });
    const config = configOf({ per: 'principal', produceBytes: 100 });
    const [one, two] = [0, 1].map((i) => createBuckets(config, peersOf(i), () => 0));
    assert.equal(one!.take(ALICE, 'produceBytes', 60), undefined);
    assert.equal(one!.take(ALICE, 'produceBytes', 40), undefined);
    mock.timers.tick(100);
    assert.deepEqual(two!.take(ALICE, 'produceBytes', 50), { ms: 500, per: 'principal' });
    assert.equal(two!.take({ ...ALICE, principal: 'bob' }, 'produceBytes', 100), undefined);
    mock.timers.tick(100);
    // What it was told is not told on: else it would grow with every round.
    assert.deepEqual(one!.take(ALICE, 'produceBytes', 0), { ms: 500, per: 'principal' });
    mock.timers.tick(1000);
    assert.deepEqual(two!.take(ALICE, 'produceBytes', 0), { ms: 500, per: 'principal' });
  } finally {
    mock.timers.reset();
  }
});

test('bytes that are written count as they come, bytes that are read when they go, and both are throttled', async () => {
  const config = configOf({ per: 'principal', produceBytes: 1000, fetchBytes: 2000 });
  const { connection, request, response, pauses, metrics } = await connect(config, 'alice');
  assert.deepEqual(Object.keys(connection.onRequest!), ['Produce', 'Fetch', 'ShareFetch']);
  assert.equal(connection.onlyKnownApis, false);
  assert.equal(request('Produce', 900), undefined);
  assert.equal(response('Produce', 50), undefined);
  request('Produce', 1100);
  assert.ok(pauses[0]! > 900 && pauses[0]! <= 1000, `${pauses[0]}`);
  const { throttleTimeMs } = response('Produce', 50)!.forward;
  assert.ok(throttleTimeMs > 800 && throttleTimeMs <= 1000, `${throttleTimeMs}`);
  // A broker that throttles for longer is right, too.
  assert.equal(response('Produce', 50, { throttleTimeMs: 5000 }), undefined);
  request('Fetch', 100);
  const read = response('Fetch', 10_000)!.forward.throttleTimeMs;
  assert.ok(read > 3900 && read <= 4000, `${read}`);
  const reported = JSON.stringify(await metrics.snapshot());
  assert.match(reported, /"isthmus_filter_quota_throttles_total".*"per":"principal"/);
  assert.doesNotMatch(reported, /alice/);
});

test('every response of every API and version that can say it says how long to wait, and no other is changed', async () => {
  const login = new Set<string>(['ApiVersions', 'SaslHandshake', 'SaslAuthenticate']);
  const { connection, request, response } = await connect(configOf({ per: 'virtualCluster', requests: 1 }));
  assert.equal(connection.onlyKnownApis, true);
  for (const { name } of ALL_APIS)
    assert.equal(name in connection.onRequest! && name in connection.onResponse!, !login.has(name), name);
  for (let i = 0; i < 20; i++) request('Metadata');
  for (const kind of KINDS.filter(({ side, api }) => side === 'response' && !login.has(api.name))) {
    const field = kind.schema.fields.find(({ name }) => name === 'throttleTimeMs');
    const canSay = field !== undefined && includes(field.versions, kind.version);
    fc.assert(
      fc.property(messagesOf(kind, { unknownTags: true }), (message) => {
        const plain = kind.encode({ ...message, ...(canSay && { throttleTimeMs: 0 }) });
        const verdict = response(kind.api.name, 100, kind.codec.decode(plain));
        const sent = verdict ? kind.encode(verdict.forward) : plain;
        const told = kind.codec.decode(sent) as { throttleTimeMs?: number };
        if (canSay) assert.ok(told.throttleTimeMs! > 10_000, kind.codec.what);
        const without = kind.encode({ ...told, ...(canSay && { throttleTimeMs: 0 }) });
        assert.ok(without.equals(plain), kind.codec.what);
      }),
      { numRuns: 3 },
    );
  }
});

test('a configuration that means nothing is refused', () => {
  for (const quotas of [
    [],
    [{ per: 'principal' }],
    [{ per: 'principal', requests: 0 }],
    [{ per: 'virtualCluster', name: 'a', requests: 1 }],
    [
      { per: 'clientId', requests: 1 },
      { per: 'clientId', fetchBytes: 1 },
    ],
  ])
    assert.equal(quotaSchema.safeParse({ quotas }).success, false, JSON.stringify(quotas));
  assert.equal(
    quotaSchema.safeParse({ quotas: [{ per: 'principal', requests: 1 }], maxThrottle: '2m' }).success,
    false,
  );
});
