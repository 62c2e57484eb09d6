import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionOf, kafkaObject, settledKafka } from '../../../test/support/brokers/kafka-objects.ts';
import { clusterWith } from '../../../test/support/brokers/models.ts';
import { NOTHING_LEARNED } from '../kernel/reconcile.ts';
import type { RollDecision } from './roll/facts.ts';
import { statusesOf } from './status.ts';
import type { Running } from './status.ts';

interface Status {
  kafkaVersion?: string;
  kafkaMetadataVersion?: string;
  conditions?: { type: string; reason: string; message: string }[];
}

/** Of a cluster that is to have no nodes, with pods that there are, and what was seen of Kafka. */
function statusWith(acted: object, pods: readonly object[] = []): Status {
  const observed = { kafka: kafkaObject(), namespace: 'kafka', name: 'events', pools: [], pods };
  const running = {
    cluster: clusterWith({ pools: [] }),
    charter: { clusterId: 'id', epoch: 1, nodes: [], targets: {} },
    certificates: { steps: {}, annotations: new Map(), warnings: [], trusted: [], unverified: [] },
    acted: { minted: [], facts: undefined, refused: new Map(), reloads: new Map(), ...acted },
    learned: NOTHING_LEARNED,
  };
  const [{ status } = { status: {} }] = statusesOf(
    observed as unknown as Parameters<typeof statusesOf>[0],
    running as unknown as Running,
    [],
  );
  return status;
}

/** `Ready` of a cluster of which nothing but the next step, and how far moves are, is known. */
const readyWith = (decision: RollDecision, moved?: object) =>
  statusWith({ decision, moved }).conditions?.find(({ type }) => type === 'Ready');

const reasonWith = (decision: RollDecision) => readyWith(decision)?.reason;

test('a Kafka is ready without a reservation only when nothing is left to do', () => {
  const inFlight = undefined;
  const change = { perBroker: { set: { 'log.retention.ms': '1' }, delete: [] }, clusterWide: { set: {} } };
  assert.equal(reasonWith({ do: 'done', inFlight }), 'Ready');
  assert.equal(reasonWith({ do: 'reconfigure', node: 0, change, inFlight }), 'Rolling');
  assert.equal(
    reasonWith({ do: 'restart', node: 0, podUid: 'u', why: 'w', reasons: [], inFlight }),
    'Rolling',
  );
  assert.equal(reasonWith({ do: 'wait', why: 'w', inFlight }), 'Rolling');
  assert.equal(reasonWith({ do: 'blocked', why: 'w', lookAgainInMs: 1, inFlight }), 'RollBlocked');
});

test('how far brokers that are to go are empty is said, and why they cannot be', () => {
  const done = { do: 'done', inFlight: undefined } as const;
  const moved = { drained: [], open: [], toDrain: 0, underWay: 0, noPlace: undefined, at: 1 };
  const said = (change: object) => {
    const { reason, message } = readyWith(done, { ...moved, ...change }) ?? {};
    return `${reason}: ${message}`;
  };
  assert.equal(said({}), 'Ready: ');
  assert.match(
    said({ toDrain: 7, underWay: 2 }),
    /^Draining: 7 partitions are still on .*, 2 are under way$/,
  );
  const noPlace = { count: 3, first: [{ topic: 't', partition: 0 }] };
  assert.match(said({ toDrain: 7, noPlace }), /^ScaleDownPrevented: 3 partitions .* \(t-0\); lower/);
  assert.match(said({ open: [{ id: 3, problem: 'no' }] }), /^Draining: broker 3 is to go and .*: no$/);
});

const warningOf = async (broker: object, spec: object) =>
  conditionOf(await settledKafka(broker, spec), 'Warning');

test('what would not survive much is a condition of its own, which is there only then, and takes nothing from Ready', async () => {
  assert.equal(await warningOf({}, {}), undefined);
  const memory = await settledKafka({ config: { 'min.insync.replicas': 3 } }, { replicas: 2, storage: { type: 'ephemeral' } }); // prettier-ignore
  const { status, reason, message = '' } = conditionOf(memory, 'Warning') ?? {};
  assert.deepEqual([status, reason], ['True', 'NoInternalTopics']);
  assert.match(
    message,
    /there are 2 brokers.*Run 1 or 3\..*ephemeral storage.*min\.insync\.replicas is 3, and there are 2 brokers/,
  );
  assert.deepEqual([conditionOf(memory, 'Ready')?.status, conditionOf(memory, 'Ready')?.reason], ['True', 'Ready']); // prettier-ignore
});

test('the version is the oldest that a node runs, that of the metadata what Kafka says, and neither what is wanted', () => {
  const versions = (level: number | undefined, ...running: (string | undefined)[]) => {
    const pods = running.map((version, id) => ({
      metadata: {
        name: `events-dual-${id}`,
        annotations: { ...(version && { 'strimzi.io/kafka-version': version }) },
      },
    }));
    const decision = { do: 'done', inFlight: undefined };
    const status = statusWith({ decision, facts: { metadataLevel: level } }, pods);
    return [status.kafkaVersion, status.kafkaMetadataVersion];
  };
  assert.deepEqual(versions(29, '4.3.1', '4.2.1', '4.3.1'), ['4.2.1', '4.2-IV1']);
  assert.deepEqual(versions(29, '4.3.1', '4.3.1'), ['4.3.1', '4.2-IV1']);
  assert.deepEqual(versions(30, '4.10.0', '4.3.1', undefined), ['4.3.1', '4.3-IV0']);
  // What was said before stays.
  assert.deepEqual(versions(undefined), [undefined, undefined]);
});
