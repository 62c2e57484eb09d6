/** What the operator's own probe of exposed brokers decides, and what it says. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { conditionOf, kafkaObject, poolObject } from '../../../../test/support/brokers/kafka-objects.ts';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { createMetrics, metricsText } from '../../../ops/metrics.ts';
import type { ProbedAddress, ProbedEndpoint } from '../../../probe/probed.ts';
import type { KafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import type { ToldListener } from '../expose/told.ts';
import { probeReporter } from './metrics.ts';
import type { Reported } from './metrics.ts';
import { probeInMs } from './pace.ts';
import { planProbe } from './reconcile.ts';
import type { ProbeObserved } from './reconcile.ts';
import { outsideConditions } from './conditions.ts';
import { placeOf, verdictOf } from './verdict.ts';

const HOST = '1.kafka.example.com';
const TOLD = { node: 1, host: HOST, port: 30_001, expected: ['192.0.2.1'] };
const LISTENER: ToldListener = {
  name: 'ext',
  tls: true,
  authentication: 'none',
  isNamed: true,
  endpoints: [TOLD],
};
const fine = (address: string): ProbedAddress => ({ address, passed: [{ step: 'connect', ms: 1 }] });
const probed = (...addresses: ProbedAddress[]): ProbedEndpoint => ({
  host: HOST,
  port: 30_001,
  nodeId: 1,
  resolveMs: 1,
  addresses,
});
const refused: ProbedAddress = {
  address: '192.0.2.1',
  passed: [],
  failed: { step: 'connect', problem: 'ECONNREFUSED' },
};
const conditionsOf = (one: ProbedEndpoint, publisher: 'none' | 'behind' | 'up to date' = 'up to date') =>
  outsideConditions({ listeners: [LISTENER], verdicts: [verdictOf(LISTENER, TOLD, one)], publisher }).map(
    ({ type, status, message }) => [type, status, message] as const,
  );

suite('what a probe says of exposed brokers', () => {
  test('nothing, where the name leads to the broker and a client gets through', () => {
    assert.deepEqual(conditionsOf(probed(fine('192.0.2.1'))), [
      ['DNSPropagated', 'True', ''],
      ['Reachable', 'True', ''],
    ]);
  });

  test('a name that leads to where the broker was, whoever answers there', () => {
    const [dns, reachable] = conditionsOf(probed(fine('192.0.2.9')), 'behind');
    assert.match(dns![2], /^1\.kafka\.example\.com:30001: it leads to 192\.0\.2\.9 and should lead to 192\.0\.2\.1; external-dns has not taken up/); // prettier-ignore
    assert.deepEqual([dns![1], reachable![1]], ['False', 'True']);
    // A part of what it should lead to is not enough.
    const both = { ...TOLD, expected: ['192.0.2.1', '2001:db8::1'] };
    assert.equal(verdictOf(LISTENER, both, probed(fine('192.0.2.1'))).isPropagated, false);
    assert.equal(verdictOf(LISTENER, both, probed(fine('2001:db8::1'), fine('192.0.2.1'))).isPropagated, true); // prettier-ignore
  });

  test('a name that has no address, and what to look at', () => {
    const one = { ...probed(), unresolved: 'NXDOMAIN' };
    const [dns, reachable] = conditionsOf(one, 'none');
    assert.match(dns![2], /: NXDOMAIN; this cluster has no DNSEndpoints/);
    assert.match(reachable![2], /^ext-1 \(1\.kafka\.example\.com:30001\): resolve: NXDOMAIN$/);
  });

  test('whoever may publish is named: external-dns, and the DNS server of Isthmus, which says of no DNSEndpoint that it has', () => {
    const advice = (publisher: 'none' | 'behind' | 'up to date') =>
      conditionsOf({ ...probed(), unresolved: 'NXDOMAIN' }, publisher)[0]![2];
    assert.match(advice('none'), /isthmus install --crds external-dns.*external-dns or `isthmus dns`/);
    assert.match(advice('behind'), /--source=crd.*the DNS server of Isthmus.*`isthmus dns query`/);
    // What it says it has taken up, nobody else has.
    assert.doesNotMatch(advice('up to date'), /isthmus dns/);
  });

  test('the step at which a client ends', () => {
    const [dns, reachable] = conditionsOf(probed(refused));
    assert.equal(dns![1], 'True');
    assert.deepEqual(reachable!.slice(1), ['False', `ext-1 (${HOST}:30001): connect: ECONNREFUSED (at 192.0.2.1)`]); // prettier-ignore
  });

  test('what brokers tell their clients, where that is something else', () => {
    const said = (...places: string[]) => new Map([[1, new Set(places)]]);
    const of = (...places: string[]) => verdictOf(LISTENER, TOLD, probed(fine('192.0.2.1')), said(...places));
    assert.deepEqual([of(`${HOST}:30001`).isReached, of(`${HOST}:30001`).failed], [true, undefined]);
    const wrong = of(`${HOST}:30001`, 'old.example.com:30001');
    assert.deepEqual([wrong.isReached, wrong.isPropagated, wrong.failed], [false, true, 'metadata']);
    assert.equal(wrong.problem, 'brokers send clients to old.example.com:30001 instead');
    assert.match(outsideConditions({ listeners: [LISTENER], verdicts: [wrong], publisher: 'up to date' })[1]!.message, /metadata: brokers send clients to/); // prettier-ignore
    // What a client ended at comes first; and it is the broker's own place that counts, in any spelling.
    assert.equal(verdictOf(LISTENER, TOLD, probed(refused), said('x:1')).failed, 'connect');
    const six = { node: 1, host: '2001:DB8::1', port: 9094, expected: [] };
    const spelled = said(placeOf('[2001:db8:0::1]', 9094));
    assert.equal(verdictOf(LISTENER, six, probed(fine('2001:db8::1')), spelled).isReached, true);
  });

  test('a few of many, and how many more', () => {
    const many = Array.from({ length: 9 }, () => verdictOf(LISTENER, TOLD, probed(refused)));
    assert.match(
      outsideConditions({ listeners: [LISTENER], verdicts: many, publisher: 'up to date' })[1]!.message,
      /; and 6 more$/,
    );
  });

  test('nothing of DNS where clients are told addresses, and nothing at all where nobody is exposed', () => {
    const listener = { ...LISTENER, isNamed: false };
    const types = outsideConditions({
      listeners: [listener],
      verdicts: [verdictOf(listener, TOLD, probed(refused))],
      publisher: 'none',
    });
    assert.deepEqual(types.map(({ type }) => type), ['Reachable']); // prettier-ignore
    assert.deepEqual(outsideConditions({ listeners: [], verdicts: [], publisher: 'none' }), []);
  });
});

const anchor = (status?: object) =>
  ({ metadata: { namespace: 'kafka', name: 'events' }, spec: {}, status }) as unknown as KafkaAnchor;
const OBSERVED: ProbeObserved = {
  listeners: [LISTENER],
  isExpected: true,
  anchor: anchor(),
  publisher: 'up to date',
  probed: undefined,
  now: 1_000_000,
};
const { mark } = planProbe(OBSERVED).actions[0]!;
const VERDICTS = [verdictOf(LISTENER, TOLD, probed(fine('192.0.2.1')))];

suite('when exposed brokers are probed', () => {
  test('at once when there is something new, then at a pace that has bounds', () => {
    const age = fc.integer({ min: 0, max: 10_000_000 });
    fc.assert(
      fc.property(age, age, fc.boolean(), (lasted, waited, isBroken) => {
        const at = 100_000_000;
        const last = { at, mark, brokenSince: isBroken ? at - lasted : undefined };
        assert.equal(probeInMs(last, 'something else', at + waited), 0);
        const left = probeInMs(last, mark, at + waited);
        assert.ok(left >= 0 && left <= 30_000);
        assert.ok(waited + left >= (isBroken ? 2000 : 30_000), 'never more often');
      }),
    );
  });

  test('and what was found is said once: a plan with the same findings has the same status', () => {
    const seen = { at: OBSERVED.now, mark, verdicts: VERDICTS, brokenSince: undefined };
    const first = planProbe({ ...OBSERVED, probed: seen });
    const later = planProbe({
      ...OBSERVED,
      probed: { ...seen, at: seen.at + 30_000 },
      now: seen.at + 31_000,
    });
    assert.deepEqual(first.actions, []);
    assert.deepEqual(first.statuses, later.statuses);
    const { status } = first.statuses[0]! as { status: { exposed: object[] } };
    assert.deepEqual(status.exposed, [
      { name: 'ext-1', address: `${HOST}:30001`, expected: ['192.0.2.1'], answered: ['192.0.2.1'], reached: true }, // prettier-ignore
    ]);
  });

  test('what was found of something else is not said any more', () => {
    const old = { at: OBSERVED.now, mark: 'old', verdicts: VERDICTS, brokenSince: undefined };
    const plan = planProbe({ ...OBSERVED, probed: old });
    assert.deepEqual([plan.actions.length, plan.statuses], [1, []]);
  });

  test('never without exposed listeners; then what was said is taken back, and only then', () => {
    const none = { ...OBSERVED, listeners: [] };
    assert.deepEqual(planProbe(none).statuses, []);
    const before = anchor({ exposed: [{ name: 'ext-1' }], conditions: [{ type: 'Reachable' }] });
    const { statuses, actions } = planProbe({ ...none, anchor: before });
    assert.deepEqual([actions, statuses[0]!.status], [[], { exposed: [], conditions: [] }]);
    const probed = { at: OBSERVED.now, mark: 'old', verdicts: VERDICTS, brokenSince: undefined };
    for (const gone of [none, { ...OBSERVED, listeners: undefined, isExpected: false, anchor: undefined }]) {
      assert.deepEqual(
        planProbe({ ...gone, probed }).actions,
        [{ listeners: [], mark: '' }],
        'metrics go, too',
      );
      assert.deepEqual(planProbe({ ...gone, probed: { ...probed, verdicts: [] } }).actions, []);
    }
    assert.equal(planProbe({ ...OBSERVED, listeners: undefined }).lookAgainInMs, 2000);
    assert.equal(
      planProbe({ ...OBSERVED, listeners: undefined, isExpected: false }).lookAgainInMs,
      undefined,
    );
  });
});

suite('a Kafka with exposed brokers', () => {
  test('has the conditions of its anchor, is ready whatever they say, and is written once', async () => {
    const memory = createMemoryKafka();
    const listeners = [
      {
        name: 'ext',
        port: 9094,
        type: 'hostport',
        tls: true,
        configuration: { subdomain: 'kafka.example.com' },
      },
    ];
    memory.put(kafkaObject({ listeners }));
    memory.put(poolObject());
    memory.placeOf = (pod) => ({ node: 'n', addresses: [{ type: 'ExternalIP', address: `192.0.2.${pod.at(-1)}` }] }); // prettier-ignore
    await memory.settle();
    assert.equal(conditionOf(memory, 'Reachable'), undefined);
    assert.deepEqual(memory.plan().told?.[0]?.endpoints.map(({ node, host, expected }) => [node, host, ...expected]), [
      [undefined, 'bootstrap.kafka.example.com', '192.0.2.0', '192.0.2.1', '192.0.2.2'],
      ...[0, 1, 2].map((id) => [id, `${id}.kafka.example.com`, `192.0.2.${id}`]),
    ]); // prettier-ignore
    const conditions = outsideConditions({
      listeners: [LISTENER],
      verdicts: [verdictOf(LISTENER, TOLD, probed(refused))],
      publisher: 'behind',
    });
    memory.put({ ...memory.get('KafkaAnchor', 'events')!, status: { conditions } });
    await memory.settle();
    assert.equal(conditionOf(memory, 'Ready')?.status, 'True');
    assert.equal(conditionOf(memory, 'DNSPropagated')?.status, 'True');
    assert.match(conditionOf(memory, 'Reachable')!.message, /connect: ECONNREFUSED/);
    assert.equal(await memory.step(), 0);
  });
});

suite('metrics of probes', () => {
  test('changes of names, how long they took to be seen, and who is reached', async () => {
    const metrics = createMetrics();
    const report = probeReporter(metrics, 'Kafka');
    const look = (expected: string, answered: string, now: number) => {
      const one = probed(fine(answered));
      report('kafka/events', [{ isNamed: true, probed: one, verdict: verdictOf(LISTENER, { ...TOLD, expected: [expected] }, one) }], now); // prettier-ignore
    };
    look('192.0.2.1', '192.0.2.1', 0);
    look('192.0.2.2', '192.0.2.1', 10_000);
    look('192.0.2.2', '192.0.2.2', 25_000);
    look('192.0.2.2', '192.0.2.2', 55_000);
    const text = () => metrics.snapshot().then((one) => metricsText([one]));
    const said = await text();
    const of = '{namespace="kafka",kafka="events",kind="Kafka"}';
    assert.ok(said.includes(`isthmus_kafka_dns_changes_total${of} 1\n`), said);
    assert.ok(said.includes(`isthmus_kafka_dns_visible_seconds_count${of} 1\n`), said);
    assert.ok(said.includes(`isthmus_kafka_dns_visible_seconds_sum${of} 15\n`), said);
    assert.match(said, /isthmus_kafka_probe_reached\{[^}]*endpoint="ext-1"\} 1\n/);
    assert.match(said, /isthmus_kafka_probe_seconds_count\{[^}]*step="connect"\} 4\n/);
    report('kafka/events', [], 60_000);
    assert.doesNotMatch(await text(), /probe_reached\{/);
  });

  test('how long the whole way to each endpoint took last, while a client gets through', async () => {
    const metrics = createMetrics();
    const report = probeReporter(metrics, 'Kafka');
    const slow: ProbedAddress = {
      address: '2001:db8::1',
      passed: [
        { step: 'connect', ms: 400 },
        { step: 'tls', ms: 99 },
      ],
    };
    const timed = async (...all: ProbedEndpoint[]) => {
      const expected = ['192.0.2.1', '2001:db8::1'];
      const look = (one: ProbedEndpoint): Reported => ({ isNamed: true, probed: one, verdict: verdictOf(LISTENER, { ...TOLD, expected }, one) }); // prettier-ignore
      report('kafka/events', all.map(look), 0);
      const said = await metricsText([await metrics.snapshot()]);
      return said.match(/^isthmus_kafka_probe_endpoint_seconds\{.*$/gm) ?? [];
    };
    const labels = '{namespace="kafka",kafka="events",kind="Kafka",endpoint="ext-1"}';
    const fast = fine('192.0.2.1');
    assert.deepEqual(await timed(probed(fast, slow)), [`isthmus_kafka_probe_endpoint_seconds${labels} 0.5`]);
    assert.deepEqual(await timed(probed(refused, slow)), []);
    assert.deepEqual(await timed(probed(fast)), [`isthmus_kafka_probe_endpoint_seconds${labels} 0.002`]);
    assert.deepEqual(await timed(), [], 'it went');
  });

  test('count names that come after the first look, that go, and others with the same addresses', async () => {
    const metrics = createMetrics();
    const report = probeReporter(metrics, 'Kafka');
    const seen = (node: number, host: string, address: string, answered = address): Reported => {
      const one = { ...probed(fine(answered)), host };
      const verdict = verdictOf(LISTENER, { ...TOLD, node, host, expected: [address] }, one);
      return { isNamed: host !== address, probed: one, verdict };
    };
    const counted = async () => {
      const said = await metricsText([await metrics.snapshot()]);
      const [changes, visible] = ['changes_total', 'visible_seconds_count'].map(
        (name) => new RegExp(`isthmus_kafka_dns_${name}\\{[^}]*\\} (\\d+)`).exec(said)?.[1],
      );
      return [Number(changes ?? 0), Number(visible ?? 0)];
    };
    const look = async (...all: Reported[]) => {
      report('kafka/events', all, 0);
      return counted();
    };
    const zero = seen(0, '0.a.test', '192.0.2.1');
    assert.deepEqual(await look(zero), [0, 0], 'the first look');
    assert.deepEqual(await look(zero, seen(1, '1.a.test', '192.0.2.2', '192.0.2.9')), [1, 0], 'one came');
    assert.deepEqual(await look(zero, seen(1, '1.a.test', '192.0.2.2')), [1, 1], 'and is visible');
    assert.deepEqual(await look(zero), [2, 1], 'it went');
    assert.deepEqual(await look(seen(0, '0.b.test', '192.0.2.1')), [3, 2], 'another name');
    assert.deepEqual(await look(seen(0, '192.0.2.1', '192.0.2.1')), [4, 2], 'an address instead');
    assert.deepEqual(await look(seen(0, '192.0.2.3', '192.0.2.3')), [4, 2], 'which is nothing of DNS');
    assert.deepEqual(await look(), [4, 2]);
  });
});
