import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { kafkaObject } from '../../../../test/support/brokers/kafka-objects.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { kafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import type { KafkaAnchor } from '../../../resources/isthmus/kafka-anchor.ts';
import { kafka } from '../../../resources/strimzi/kafka.ts';
import { NOTHING_LEARNED } from '../../kernel/reconcile.ts';
import { read } from '../../kernel/read.ts';
import type { Charter } from '../model/charter.ts';
import { STRETCH_FINALIZER, targetAnchor } from './anchor.ts';
import { planTarget } from './plan-target.ts';
import type { TargetWish } from './plan-target.ts';
import type { TargetSight } from './sight.ts';

const KAFKA = read(kafka, kafkaObject()).resource!;
const CHARTER: Charter = {
  clusterId: 'MkU3OEVBNTcwNTJENDM2Qg',
  epoch: 2,
  nodes: [],
  network: 'isthmus',
  targets: { east: { networkId: 'east' } },
  hostPorts: {},
  addresses: {},
  names: {},
  inFlight: { node: 0, podUid: 'u', since: 0, why: 'w' },
};
const OWNED = [{ apiVersion: 'kafka.strimzi.io/v1', kind: 'Kafka', name: 'events', uid: 'uid-kafka' }];
const SECRET: AnyObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'kafka', ownerReferences: OWNED } }; // prettier-ignore
const CLAIM: AnyObject = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'c', namespace: 'kafka' } }; // prettier-ignore
const SET: AnyObject = { apiVersion: 'core.strimzi.io/v1', kind: 'StrimziPodSet', metadata: { name: 'p', namespace: 'kafka' } }; // prettier-ignore
const target = {
  cluster: 'east',
  labels: {},
  namespaces: ['kafka'],
  objects: [SECRET, CLAIM, SET],
  prune: true,
};
const HAVE: TargetWish = { do: 'have', kafka: KAFKA, charter: CHARTER, holder: 'isthmus', target };
const LEAVE: TargetWish = { do: 'leave', kafka: KAFKA, charter: CHARTER, holder: 'isthmus' };

function anchorWith(spec: Partial<KafkaAnchor['spec']> = {}, metadata: object = {}): KafkaAnchor {
  const object = targetAnchor(KAFKA, CHARTER, 'isthmus', undefined);
  const live = { uid: 'uid-anchor', resourceVersion: '7', ...metadata };
  const written: AnyObject = {
    ...object,
    metadata: { ...object.metadata, ...live },
    spec: { ...(object['spec'] as object), ...spec },
  };
  return read(kafkaAnchor, written).resource!;
}

const seenWith = (anchor: KafkaAnchor | undefined, more: Partial<TargetSight> = {}): TargetSight => ({
  sight: { isSeen: true },
  anchor,
  anchorProblem: undefined,
  podSets: [],
  pods: [],
  claims: [],
  services: [],
  otherPorts: [],
  podSetVersion: 'core.strimzi.io/v1beta2',
  exportVersion: undefined,
  podNetworks: undefined,
  ...more,
});
const planWith = (wish: TargetWish, seen: TargetSight) => planTarget('east', wish, seen, NOTHING_LEARNED);

suite('what a Kafka has in another cluster', () => {
  test('its anchor comes first, with a finalizer, and without what is under way', () => {
    const { documents, targets } = planWith(HAVE, seenWith(undefined));
    const [{ object } = { object: SECRET }] = documents ?? [];
    assert.deepEqual(object.metadata.finalizers, [STRETCH_FINALIZER]);
    assert.equal((object['spec'] as { inFlight?: object }).inFlight, undefined);
    assert.deepEqual(targets, []);
  });

  test('all but data hangs off the anchor, in the versions that the cluster has', () => {
    const { documents, targets } = planWith(HAVE, seenWith(anchorWith()));
    assert.deepEqual(documents, []);
    const [secret, claim, set] = targets[0]!.objects;
    assert.deepEqual(secret!.metadata.ownerReferences?.map(({ kind, uid }) => [kind, uid]), [['KafkaAnchor', 'uid-anchor']]); // prettier-ignore
    assert.equal(claim!.metadata.ownerReferences, undefined);
    assert.equal(set!.apiVersion, 'core.strimzi.io/v1beta2');
  });

  test('an older epoch is taken over; a newer one, and an equal one of somebody else, are not touched', () => {
    const outcome = (spec: Partial<KafkaAnchor['spec']>) => {
      const { documents = [], targets, faults } = planWith(HAVE, seenWith(anchorWith(spec)));
      return [documents.length, targets.length, ...faults.map(({ reason }) => reason)];
    };
    assert.deepEqual(outcome({ epoch: 1, holder: 'other' }), [1, 1]);
    assert.deepEqual(outcome({ epoch: 3 }), [0, 0, 'RunByAnother']);
    assert.deepEqual(outcome({ holder: 'other' }), [0, 0, 'RunByAnother']);
    assert.deepEqual(outcome({ kafka: { name: 'events', uid: 'another' } }), [0, 0, 'RunByAnother']);
    assert.deepEqual(outcome({ epoch: 1, clusterId: 'AAAAAAAAAAAAAAAAAAAAAA' }), [0, 0, 'RunByAnother']);
  });

  test('an anchor that somebody deletes keeps all as it is', () => {
    const deleted = anchorWith({}, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    const { documents, targets, actions, faults } = planWith(HAVE, seenWith(deleted));
    assert.deepEqual([documents ?? [], targets, actions], [[], [], []]);
    assert.equal(faults[0]?.reason, 'AnchorDeleting');
  });

  test('what leaves lets its own anchor go, and nobody else’s', () => {
    assert.equal(planWith(LEAVE, seenWith(anchorWith())).actions[0]?.do, 'release');
    assert.deepEqual(planWith(LEAVE, seenWith(anchorWith({ epoch: 3 }))).actions, []);
    assert.deepEqual(planWith(LEAVE, seenWith(undefined)).actions, []);
  });

  test('nothing is done where nothing can be seen, and what is lacking or taken is said', () => {
    const dark = seenWith(undefined, { sight: { isSeen: false, since: 0, problem: 'x' } });
    assert.deepEqual(planWith(HAVE, dark).documents ?? [], []);
    const lacks = (seen: TargetSight, learned = NOTHING_LEARNED) => planTarget('east', HAVE, seen, learned).faults.map(({ reason }) => reason); // prettier-ignore
    assert.deepEqual(lacks(seenWith(anchorWith(), { podSetVersion: undefined })), ['NotSupported']);
    assert.deepEqual(lacks(seenWith(anchorWith()), { ...NOTHING_LEARNED, taken: new Set(['Secret s']) }), ['NameTaken']); // prettier-ignore
    assert.deepEqual(lacks(seenWith(anchorWith()), { ...NOTHING_LEARNED, denied: new Map([['Secret s', 'no']]) }), ['Denied']); // prettier-ignore
  });
});
