import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { NODE_ANNOTATIONS, TOLD_ADDRESS_ANNOTATION } from '../shared/node-annotations.ts';
import type { AnyObject } from '../../kube/object.ts';
import { parseAs } from '../../resources/parse.ts';
import { kafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { strimziPodSet } from '../../resources/strimzi/strimzi-pod-set.ts';
import { FAILURES_ANNOTATION } from './names.ts';
import { listedPods } from './listed.ts';
import type { Observed } from './observe.ts';
import { planPodSet } from './plan.ts';
import type { Pod } from './pod.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const NODE = {
  name: 'n1',
  labels: { 'topology.kubernetes.io/zone': 'z1' },
  addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
};

const listedPod = (name: string, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    labels: { app: 'k' },
    annotations: { 'strimzi.io/revision': 'r1' },
    ...metadata,
  },
  spec: { containers: [{ name: 'kafka', image: 'apache/kafka:4.3.1' }] },
});

const setOf = (pods: object[], annotations: Record<string, string> = {}): AnyObject => ({
  apiVersion: 'core.strimzi.io/v1',
  kind: 'StrimziPodSet',
  metadata: {
    name: 'k-p',
    namespace: 'ns',
    uid: 'set-1',
    generation: 4,
    labels: { 'strimzi.io/cluster': 'k' },
    annotations,
  },
  spec: { selector: { matchLabels: { app: 'k' } }, pods },
});

function observe(live: AnyObject, rest: Partial<Observed> = {}): Observed {
  const parsed = parseAs(strimziPodSet, live, { unknownFields: 'ignore' });
  assert.ok(parsed.ok);
  const { pods, problem } = listedPods(parsed.resource);
  const listed = pods ? { set: parsed.resource, pods } : { problem };
  return {
    live,
    listed,
    pods: [],
    anchors: { found: [] },
    nodes: new Map([['n1', NODE]]),
    mayReadNodes: true,
    refusals: new Map(),
    now: NOW,
    ...rest,
  };
}

/** The pod that a plan makes, as it runs a moment later. */
function running(pod: AnyObject, rest: object = {}): Pod {
  return {
    ...(pod as unknown as Pod),
    metadata: { ...pod.metadata, uid: `uid-${pod.metadata.name}`, resourceVersion: '7', ...rest },
    spec: { nodeName: 'n1' },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

function madeBy(observed: Observed): AnyObject[] {
  return planPodSet(observed).actions.flatMap((action) => ('pod' in action ? [action.pod] : []));
}

const statusIn = (observed: Observed) =>
  planPodSet(observed).statuses[0]!.status as {
    pods?: number;
    conditions: { type: string; status: string; reason: string; message: string }[];
  };
const readyIn = (observed: Observed) => statusIn(observed).conditions.find(({ type }) => type === 'Ready')!;

const anchor = (epoch: number) => {
  const spec = { clusterId: 'MkU3OEVBNTcwNTJENDM2Qg', epoch, holder: 'b', kafka: { name: 'k', uid: 'u' } };
  const metadata = { name: `a${epoch}`, namespace: 'ns' };
  const document = { apiVersion: 'isthmus.dev/v1alpha1', kind: 'KafkaAnchor', metadata, spec };
  const parsed = parseAs(kafkaAnchor, document, { unknownFields: 'ignore' });
  assert.ok(parsed.ok);
  return parsed.resource;
};

suite('the plan of a pod set', () => {
  const set = setOf([listedPod('k-p-0'), listedPod('k-p-1')]);

  test('a pod is made as listed, with its owner and the labels by which it is followed', () => {
    const [first] = madeBy(observe(set));
    assert.deepEqual(first, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'k-p-0',
        namespace: 'ns',
        labels: {
          app: 'k',
          'app.kubernetes.io/managed-by': 'isthmus',
          'strimzi.io/controller': 'strimzipodset',
          'strimzi.io/controller-name': 'k-p',
        },
        annotations: { 'strimzi.io/revision': 'r1' },
        ownerReferences: [
          {
            apiVersion: 'core.strimzi.io/v1',
            kind: 'StrimziPodSet',
            name: 'k-p',
            uid: 'set-1',
            controller: true,
            blockOwnerDeletion: false,
          },
        ],
      },
      spec: { containers: [{ name: 'kafka', image: 'apache/kafka:4.3.1' }] },
    });
  });

  test('of a listed pod’s metadata nothing is taken over that is not for a list to say', () => {
    const greedy = {
      uid: 'x',
      resourceVersion: '1',
      finalizers: ['example.com/never'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'n' }],
      annotations: { [FAILURES_ANNOTATION]: '99' },
    };
    const [made] = madeBy(observe(setOf([listedPod('k-p-0', greedy)])));
    assert.deepEqual(Object.keys(made!.metadata).toSorted(), [
      'annotations',
      'labels',
      'name',
      'namespace',
      'ownerReferences',
    ]);
    assert.deepEqual(made!.metadata.annotations, {});
    assert.equal(made!.metadata.ownerReferences?.[0]?.uid, 'set-1');
  });

  test('when all is there, told about its node and ready, nothing is done, and that is said', () => {
    const pods = madeBy(observe(set)).map((pod) => running(pod));
    const told = planPodSet(observe(set, { pods })).actions;
    assert.deepEqual(
      told.map((action) => action.do),
      ['annotate', 'annotate'],
    );
    const annotated = pods.map((pod, i) => {
      const action = told[i]!;
      assert.ok(action.do === 'annotate');
      const annotations = { ...pod.metadata.annotations, ...(action.annotations as Record<string, string>) };
      return { ...pod, metadata: { ...pod.metadata, annotations } };
    });
    assert.equal(annotated[0]!.metadata.annotations[NODE_ANNOTATIONS.zone], 'z1');
    const { [NODE_ANNOTATIONS.address]: address } = annotated[0]!.metadata.annotations;
    assert.equal(annotated[0]!.metadata.annotations[TOLD_ADDRESS_ANNOTATION], address);
    const plan = planPodSet(observe(set, { pods: annotated }));
    assert.deepEqual([plan.actions, plan.lookAgainInMs], [[], undefined]);
    assert.deepEqual(plan.statuses, [
      {
        kind: 'StrimziPodSet',
        namespace: 'ns',
        name: 'k-p',
        keepsRest: false,
        status: {
          observedGeneration: 4,
          pods: 2,
          readyPods: 2,
          currentPods: 2,
          conditions: [
            { type: 'Ready', status: 'True', reason: 'Ready', message: '' },
            { type: 'NodeFacts', status: 'True', reason: 'NodeFacts', message: '' },
          ],
        },
      },
    ]);
  });

  test('a pod is current if it has the revision that is listed', () => {
    const [old, current] = madeBy(observe(set));
    const pods = [running(old!, { annotations: { 'strimzi.io/revision': 'r0' } }), running(current!)];
    const { actions, statuses } = planPodSet(observe(set, { pods, nodes: new Map() }));
    assert.deepEqual(actions, []);
    assert.partialDeepStrictEqual(statuses[0]!.status, { pods: 2, readyPods: 2, currentPods: 1 });
  });

  test('a pod that has ended is replaced, and the next one knows of it', () => {
    const [first, second] = madeBy(observe(set));
    const failed = { ...running(first!), status: { phase: 'Failed' } };
    const [action] = planPodSet(observe(set, { pods: [failed, running(second!)] })).actions;
    assert.ok(action?.do === 'replace');
    assert.equal(action.uid, 'uid-k-p-0');
    assert.equal(action.pod.metadata.annotations?.[FAILURES_ANNOTATION], '1');
  });

  test('an orphan gets this set for its controller, keeps other owners, and loses a set of before', () => {
    const [first, second] = madeBy(observe(set));
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'c' };
    const former = { ...first!.metadata.ownerReferences![0]!, uid: 'set-0' };
    const orphan = running(first!, { ownerReferences: [other, former] });
    const [action] = planPodSet(observe(set, { pods: [orphan, running(second!)] })).actions;
    assert.ok(action?.do === 'adopt');
    assert.deepEqual(action, {
      do: 'adopt',
      name: 'k-p-0',
      uid: 'uid-k-p-0',
      resourceVersion: '7',
      ownerReferences: [other, first!.metadata.ownerReferences![0]],
    });
  });

  test('nothing is done while the set is not there, or is being deleted', () => {
    const plan = planPodSet({ ...observe(set), live: undefined });
    assert.deepEqual([plan.actions, plan.statuses], [[], []]);
  });

  test('a set that lists what cannot be is left as it is, and says what to do', () => {
    for (const [pods, message] of [
      [[listedPod('k-p-0'), listedPod('k-p-0')], /spec.pods\[1\]: another pod has the name "k-p-0"/],
      [[listedPod('Not_A_Name')], /give the pod a name/],
      [[listedPod('k-p-0', { labels: { app: 'other' } })], /does not have the labels of spec.selector/],
      [[listedPod('k-p-0', { namespace: 'kube-system' })], /has to be in the namespace of its set/],
      [[{ metadata: { name: 'k-p-0', labels: { app: 'k' } } }], /and a spec/],
      [[listedPod('k-p-0', { annotations: { a: 1 } })], /annotations that are texts/],
    ] as const) {
      const observed = observe(setOf([...pods]), { pods: [running(listedPod('k-p-9'))] });
      assert.deepEqual(planPodSet(observed).actions, []);
      assert.equal(readyIn(observed).reason, 'Invalid');
      assert.match(readyIn(observed).message, message);
      assert.equal(statusIn(observed).pods, undefined, 'the counts stay as they were');
    }
  });

  test('a set of an older epoch than the anchor’s is not obeyed; one of the same or a newer one is', () => {
    const at = (epoch: string | undefined, ...epochs: number[]) =>
      observe(setOf([listedPod('k-p-0')], epoch === undefined ? {} : { 'isthmus.dev/epoch': epoch }), {
        anchors: { found: epochs.map(anchor) },
      });
    for (const observed of [at('2', 3), at(undefined, 1), at('3', 2, 4)]) {
      assert.deepEqual(planPodSet(observed).actions, []);
      assert.equal(readyIn(observed).reason, 'Fenced');
    }
    assert.match(
      readyIn(at('2', 3)).message,
      /epoch 2, and "b" has had the Kafka since epoch 3 \(KafkaAnchor "a3"\)/,
    );
    for (const observed of [at('3', 3), at('4', 3), at(undefined), at('1')])
      assert.equal(planPodSet(observed).actions.length, 1);
    for (const nonsense of ['x', '-1', '1e3', ''])
      assert.equal(readyIn(at(nonsense, 1)).reason, 'Invalid', nonsense);
    const unknown = observe(set, { anchors: { problem: 'nobody knows' } });
    assert.deepEqual(planPodSet(unknown).actions, []);
    assert.equal(readyIn(unknown).reason, 'AnchorUnknown');
  });

  test('what stood against a pod is said for as long as there is none, and tried again', () => {
    const refusals = new Map([['k-p-0', { reason: 'Denied', path: [], message: 'no quota' } as const]]);
    const observed = observe(set, { refusals });
    assert.equal(readyIn(observed).reason, 'Denied');
    assert.equal(planPodSet(observed).actions.length, 2);
    assert.equal(planPodSet(observed).lookAgainInMs, 30_000);
    const pods = madeBy(observe(set)).map((pod) => running(pod));
    assert.equal(readyIn(observe(set, { refusals, pods })).reason, 'Ready');
  });

  test('without the right to read nodes pods run, untold, and that is said beside Ready', () => {
    const pods = madeBy(observe(set)).map((pod) => running(pod));
    const observed = observe(set, { pods, nodes: undefined, mayReadNodes: false });
    assert.deepEqual(planPodSet(observed).actions, []);
    assert.equal(readyIn(observed).status, 'True');
    assert.partialDeepStrictEqual(statusIn(observed).conditions[1], {
      type: 'NodeFacts',
      status: 'False',
      reason: 'Forbidden',
    });
  });
});
