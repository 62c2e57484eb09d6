import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics, metricsText } from '../../../ops/metrics.ts';
import type { Acted } from '../act.ts';
import { NO_FACTS } from './facts.ts';
import { lookReporter } from './metrics.ts';

const NOTHING: Omit<Acted, 'facts' | 'decision'> = {
  minted: [],
  refused: new Map(),
  reloads: new Map(),
  moved: undefined,
};

const SEEN = {
  ...NOTHING,
  toRestart: 2,
  decision: { do: 'blocked', why: 'because', lookAgainInMs: 1, inFlight: undefined },
  facts: {
    ...NO_FACTS,
    at: 1,
    health: { underReplicated: 3, offline: 1 },
    brokers: { at: 1, registered: new Map([[0, { fenced: false }], [1, { fenced: true }]]) }, // prettier-ignore
    quorum: {
      at: 1,
      leader: 2,
      voters: [9_500, 1, 10_000].map((lastCaughtUpMs, id) => ({ id, directoryId: `d${id}`, lastCaughtUpMs })),
      observers: [],
    },
  },
  moved: {
    drained: [],
    down: [],
    open: [],
    toDrain: 7,
    underWay: 4,
    noPlace: undefined,
    waiting: undefined,
    done: false,
    ready: new Set<string>(),
    at: 1,
  },
} satisfies Acted;

test('what a look has shown is reported, and what is no longer known is not', async () => {
  const metrics = createMetrics();
  const report = lookReporter(metrics);
  const linesOf = async () =>
    (await metricsText([await metrics.snapshot()])).split('\n').filter((line) => line.startsWith('isthmus'));
  report('shop/events', SEEN);
  const own = 'namespace="shop",kafka="events"';
  const lines = await linesOf();
  for (const expected of [
    `isthmus_kafka_nodes_to_restart{${own}} 2`,
    `isthmus_kafka_roll_state{${own},state="blocked"} 1`,
    `isthmus_kafka_roll_state{${own},state="done"} 0`,
    `isthmus_kafka_partitions{${own},state="under_replicated"} 3`,
    `isthmus_kafka_partitions{${own},state="offline"} 1`,
    `isthmus_kafka_partitions_to_move{${own},state="to_drain"} 7`,
    `isthmus_kafka_partitions_to_move{${own},state="under_way"} 4`,
    `isthmus_kafka_brokers{${own},state="active"} 1`,
    `isthmus_kafka_brokers{${own},state="fenced"} 1`,
    `isthmus_kafka_quorum_leader{${own}} 2`,
    `isthmus_kafka_quorum_voters{${own},state="all"} 3`,
    `isthmus_kafka_quorum_voters{${own},state="behind"} 1`,
  ])
    assert.ok(lines.includes(expected), `${expected} is not in\n${lines.join('\n')}`);
  report('shop/events', { ...NOTHING, facts: undefined, decision: { do: 'done', inFlight: undefined } });
  assert.deepEqual([...new Set((await linesOf()).map((line) => line.split('{')[0]))], ['isthmus_kafka_roll_state']); // prettier-ignore
  report('shop/events', undefined);
  assert.deepEqual(await linesOf(), []);
});
