/** How exposed brokers are looked at from other clusters: what is decided, what a pod is told and says, and what that comes to. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { AnyObject } from '../../../kube/object.ts';
import { MAX_MESSAGE } from '../../../probe/packed.ts';
import type { ProbedAddress } from '../../../probe/probed.ts';
import type { SeenFrom } from '../../../resources/isthmus/exposure.ts';
import type { ToldListener } from '../expose/told.ts';
import type { Reported } from '../probe/metrics.ts';
import { verdictOf } from '../probe/verdict.ts';
import { outcomeOf } from './outcome.ts';
import type { Outcome } from './outcome.ts';
import { isUnproven, withProofs } from './proof.ts';
import { planVantages } from './reconcile.ts';
import type { Look, VantageAnchor, VantageObserved } from './reconcile.ts';
import { lookInMs, vantagePod, vantageStep } from './step.ts';
import { packReport, packTask, taskOf, unpackReport, unpackTask } from './task.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const endpoint = (node: number | undefined) => ({
  node,
  host: `${node ?? 'bootstrap'}.kafka.example.com`,
  port: 31_234,
  expected: ['192.0.2.1'],
});
const LISTENER: ToldListener = {
  name: 'ext',
  tls: true,
  authentication: 'tls',
  isNamed: true,
  endpoints: [endpoint(undefined), endpoint(0), endpoint(1)],
};
const LIMITED: ToldListener = { ...LISTENER, sources: { allowed: ['198.51.100.0/24'], by: 'hostport' } };

const passed = (address = '192.0.2.1'): ProbedAddress => ({
  address,
  passed: [
    { step: 'connect', ms: 1.26 },
    { step: 'tls', ms: 2 },
  ],
});
const closed: ProbedAddress = {
  address: '192.0.2.1',
  passed: [],
  failed: { step: 'connect', problem: 'ECONNREFUSED' },
};
const reported = (node: number | undefined, ...addresses: ProbedAddress[]): Reported => {
  const { host, port } = endpoint(node);
  const probed = { host, port, resolveMs: 1, addresses };
  return { isNamed: true, probed, verdict: verdictOf(LISTENER, endpoint(node), probed) };
};

const podOf = (task: object, status: object = {}, now = NOW): AnyObject => ({
  ...vantagePod({ uid: 'u', namespace: 'n', image: 'i', mark: 'm', task: task as never, now }),
  status,
});
const POD = podOf(taskOf([LISTENER], { ca: 'pem' }));
const ended = (message: string, addresses: object = { podIP: '10.1.1.1', hostIP: '203.0.113.7' }) =>
  ({ ...POD, status: { ...addresses, containerStatuses: [{ state: { terminated: { exitCode: 0, message } } }] } }) as AnyObject; // prettier-ignore

const seen = (name: string, more: Partial<SeenFrom> = {}): SeenFrom => ({
  name,
  reached: 3,
  unreached: 0,
  endpoints: [],
  ...more,
});
const anchor = (vantages?: SeenFrom[]): VantageAnchor => ({
  kind: 'KafkaAnchor',
  metadata: { namespace: 'kafka', name: 'events', uid: 'u' },
  ...(vantages && { status: { vantages } }),
});
const OBSERVED: VantageObserved = {
  listeners: [LISTENER],
  isExpected: true,
  anchor: anchor(),
  names: ['east'],
  looks: new Map(),
  now: NOW,
};
/** As the plan itself marks what is told. */
const MARK = planVantages(OBSERVED).actions.flatMap((one) => (one.do === 'look' ? one.mark : []))[0]!;

suite('what a pod in another cluster is told', () => {
  test('names, addresses and whom to trust, and nothing that is secret', () => {
    const task = taskOf([LISTENER, { ...LISTENER, name: 'open', tls: false }], { ca: 'pem', resolver: '192.0.2.53' }); // prettier-ignore
    assert.deepEqual(unpackTask(packTask(task)), task);
    assert.deepEqual(task.listeners.map(({ name, ca }) => [name, ca]), [['ext', 'pem'], ['open', undefined]]); // prettier-ignore
    assert.deepEqual(Object.keys(task.listeners[0]!).toSorted(), ['authentication', 'ca', 'endpoints', 'name', 'tls']); // prettier-ignore
    assert.doesNotMatch(JSON.stringify(POD), /secret|volumes/i);
    assert.match(JSON.stringify(POD), /"runAsNonRoot":true.*"automountServiceAccountToken":false/);
  });

  test('no more than one argument can hold', () => {
    const endpoints = Array.from({ length: 1000 }, (_, node) => endpoint(node));
    const task = taskOf([{ ...LISTENER, endpoints }, LISTENER], { ca: 'pem' });
    assert.deepEqual(task.listeners.map((one) => one.endpoints.length), [256, 0]); // prettier-ignore
    assert.ok(packTask(task).length < 100_000);
  });
});

suite('what it says', () => {
  test('how long the way took, and where others end', () => {
    const said = unpackReport(packReport([reported(undefined, passed()), reported(0, closed), reported(1, passed('192.0.2.9'))])); // prettier-ignore
    assert.deepEqual(said, {
      reachedMs: [4.3],
      connected: ['ext'],
      ended: [
        { name: 'ext-0', failed: 'connect', problem: 'ECONNREFUSED (at 192.0.2.1)' },
        { name: 'ext-1', failed: 'resolve', problem: 'it leads to 192.0.2.9 and should lead to 192.0.2.1', answered: ['192.0.2.9'] }, // prettier-ignore
      ],
      more: 0,
    });
  });

  test('fits into the status of a pod, whatever happens; what is left out is counted', () => {
    const word = fc.string({ minLength: 1, maxLength: 400 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 256 }), (problems) => {
        const all = problems.map((problem, node) => reported(node, { ...closed, failed: { step: 'tls', problem } })); // prettier-ignore
        const text = packReport(all);
        const said = unpackReport(text)!;
        assert.ok(text.length <= MAX_MESSAGE);
        assert.equal(said.ended.length + said.more, problems.length);
      }),
      { numRuns: 30 },
    );
  });

  test('is nothing, where it is anything else', () => {
    fc.assert(fc.property(fc.string({ maxLength: 500 }), (text) => unpackReport(text) === undefined));
    const { seen: blind } = outcomeOf('east', ended('panic'), 'panic', [LISTENER]);
    assert.match(blind.problem!, /has failed: panic/);
  });
});

suite('what that comes to', () => {
  const outcome = (listener: ToldListener, reports: Reported[], addresses?: object) => {
    const message = packReport(reports);
    return outcomeOf('east', ended(message, addresses), message, [listener]).seen;
  };

  test('who is reached, and who is not', () => {
    const { reached, unreached, endpoints, sources } = outcome(LISTENER, [reported(0, passed()), reported(1, closed)]); // prettier-ignore
    assert.deepEqual([reached, unreached, endpoints.map(({ name }) => name), sources], [1, 1, ['ext-1'], undefined]); // prettier-ignore
  });

  test('names that clients are not told are nobody’s', () => {
    const { unreached, endpoints } = outcome({ ...LISTENER, endpoints: [endpoint(0)] }, [
      reported(1, closed),
    ]);
    assert.deepEqual([unreached, endpoints], [0, []]);
  });

  test('a place that is not allowed is right to end at the door, and is told of if it does not', () => {
    const kept = outcome(LIMITED, [reported(0, closed), reported(1, closed)]);
    assert.deepEqual([kept.unreached, kept.sources], [0, [{ name: 'ext', connected: false }]]); // prettier-ignore
    const admitted = outcome(LIMITED, [reported(0, passed()), reported(1, closed)]);
    assert.deepEqual(admitted.sources?.map(({ connected }) => connected), [true]); // prettier-ignore
  });

  test('who has found no name has not tried, and shows nothing', () => {
    const { sources, unreached } = outcome(LIMITED, [reported(0), reported(1)]);
    assert.deepEqual([sources, unreached], [undefined, 2]);
  });

  test('one whose node is allowed, or that has no address, shows nothing about that', () => {
    const inside = outcome(LIMITED, [reported(0, closed)], { podIP: '10.1.1.1', hostIP: '198.51.100.9' });
    assert.deepEqual([inside.sources, inside.unreached], [undefined, 1]);
    for (const odd of [{}, { podIP: 'not one', hostIPs: [{}] }])
      assert.equal(outcome(LIMITED, [reported(0, closed)], odd).sources, undefined);
  });
});

suite('whether it shows anything that a place was kept out', () => {
  const answer = (name: string, listener: ToldListener, reports: Reported[], addresses?: object) => {
    const message = packReport(reports);
    return outcomeOf(name, ended(message, addresses), message, [listener]);
  };
  const INSIDE = { podIP: '198.51.100.9' };
  const kept = answer('east', LIMITED, [reported(0, closed), reported(1, closed)]);
  const look = (outcome: Outcome | undefined, more: Partial<Look> = {}): Look => ({ at: NOW, mark: 'm', uid: 'u', isLooking: false, brokenSince: undefined, open: [], outcome, ...more }); // prettier-ignore
  /** Whether the look from east is proven, beside one from west. */
  const isProven = (east: Look, west?: Look) => {
    const looks = withProofs(new Map([['east', east], ...(west ? [['west', west] as const] : [])]));
    const { sources = [] } = looks.get('east')!.outcome!.seen;
    assert.deepEqual(
      sources.map(({ connected }) => connected),
      [false],
    );
    return !isUnproven(looks.get('east')!.outcome!.seen);
  };

  test('not by itself: brokers may be down', () => {
    assert.equal(isProven(look(kept)), false);
    assert.equal(isProven(look(kept), look(undefined)), false);
  });

  test('if the operator’s own probe got through to one of these at the time', () => {
    assert.equal(isProven(look(kept, { open: ['ext-1'] })), true);
    assert.equal(isProven(look(kept, { open: ['ext-bootstrap', 'other-1', 'ext-10'] })), false, 'to another');
  });

  test('if somebody from another place did who is allowed, at the time', () => {
    const allowed = answer('west', LIMITED, [reported(undefined, passed()), reported(0, passed()), reported(1, passed())], INSIDE); // prettier-ignore
    assert.deepEqual(allowed.open, ['ext-bootstrap', 'ext-0', 'ext-1']);
    assert.equal(isProven(look(kept), look(allowed)), true);
    assert.equal(isProven(look(kept), look(allowed, { at: NOW - 60_000 })), true);
    assert.equal(isProven(look(kept), look(allowed, { at: NOW - 61_000 })), false, 'earlier');
    assert.equal(isProven(look(kept), look(allowed, { at: NOW + 61_000 })), false, 'later');
    assert.equal(isProven(look(kept), look(allowed, { mark: 'n' })), false, 'of something else');
  });

  test('not by who is kept out, too, who nobody knows, or who did not get all of the way', () => {
    const all = [undefined, 0, 1];
    const open = (place: object, ...reports: Reported[]) => answer('west', LIMITED, reports, place).open;
    const through = all.map((node) => reported(node, passed()));
    assert.deepEqual(open({ podIP: '10.1.1.1' }, ...through), [], 'is not allowed');
    assert.deepEqual(open({}, ...through), [], 'has no address');
    const unsaid = all.map((node) => reported(node, passed('192.0.2.9')));
    assert.deepEqual(open(INSIDE, ...unsaid), [], 'was led to another address');
    const many = Array.from({ length: 200 }, (_, node) => reported(node, { ...closed, failed: { step: 'tls', problem: createHash('sha256').update(`${node}`).digest('hex') } })); // prettier-ignore
    assert.ok(unpackReport(packReport(many))!.more > 0);
    assert.deepEqual(open(INSIDE, ...many), [], 'could not say who it was');
    assert.deepEqual(open(INSIDE, reported(undefined, passed()), reported(0, closed), reported(1, passed())), ['ext-bootstrap', 'ext-1']); // prettier-ignore
  });

  test('a name that leads elsewhere is another door', () => {
    const misled = answer('east', LIMITED, [reported(0, { ...closed, address: '192.0.2.9' })]);
    assert.deepEqual([misled.shut, misled.seen.sources], [[], undefined]);
  });

  test('it stays so while the look counts, and who got in needs no proof', () => {
    const [[, proven] = ['', look(kept)]] = withProofs(new Map([['east', look(kept, { open: ['ext-0'] })]]));
    assert.equal(isProven({ ...proven, open: [] }), true);
    const admitted = answer('east', LIMITED, [reported(0, passed()), reported(1, closed)]);
    const [[, seenOpen] = ['', look(kept)]] = withProofs(new Map([['east', look(admitted, { open: ['ext-1'] })]])); // prettier-ignore
    assert.deepEqual(seenOpen.outcome?.seen.sources, [{ name: 'ext', connected: true }]);
  });

  test('what the operator’s own probe found is known when the answer comes', () => {
    const exposed = [
      { name: 'ext-0', reached: true },
      { name: 'ext-1', reached: true, failed: 'resolve' },
      { name: 'ext-2', reached: false, failed: 'connect' },
    ];
    const { actions } = planVantages({ ...OBSERVED, anchor: { ...anchor(), status: { exposed } } });
    assert.deepEqual(actions.flatMap((one) => (one.do === 'look' ? one.open : [])), ['ext-0']); // prettier-ignore
  });
});

suite('the pod that looks', () => {
  const step = (pod: AnyObject | undefined, mark = 'm', now = NOW) => vantageStep(pod, mark, now).step;

  test('is made, waited for, and taken away with its answer', () => {
    assert.equal(step(undefined), 'create');
    assert.equal(step(POD), 'wait');
    assert.deepEqual(vantageStep(ended('word'), 'm', NOW), { step: 'collect', message: 'word' });
    assert.equal(step({ ...POD, metadata: { ...POD.metadata, deletionTimestamp: 'x' } }), 'wait');
  });

  test('of something else ends in peace, and its answer is not taken', () => {
    assert.equal(step(POD, 'other'), 'wait');
    assert.equal(step(ended('word'), 'other'), 'discard');
  });

  test('is given up when it does not come to an end, and says why', () => {
    const waiting = { containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff' } } }] };
    const next = vantageStep({ ...POD, status: waiting }, 'm', NOW + 300_000);
    assert.match((next as { problem: string }).problem, /does not come to an end: ImagePullBackOff/);
  });

  test('of another time is replaced, whatever it says', () => {
    for (const pod of [POD, ended('word')]) {
      assert.equal(step(pod, 'm', NOW + 600_000), 'delete');
      assert.equal(step(pod, 'm', NOW - 600_000), 'delete');
    }
    assert.equal(step({ ...POD, metadata: { ...POD.metadata, annotations: {} } }), 'delete');
  });
});

suite('when to look from elsewhere', () => {
  test('every five minutes; sooner while something is wrong or has changed, but never without a pause', () => {
    const last = { at: NOW, mark: 'm', brokenSince: undefined };
    assert.equal(lookInMs(undefined, 'm', NOW), 0);
    assert.equal(lookInMs(last, 'm', NOW), 300_000);
    assert.equal(lookInMs(last, 'other', NOW), 30_000);
    assert.equal(lookInMs({ ...last, brokenSince: NOW }, 'm', NOW), 30_000);
    assert.equal(lookInMs({ ...last, brokenSince: NOW - 3_600_000 }, 'm', NOW), 300_000);
    assert.equal(lookInMs(last, 'm', NOW + 400_000), 0);
  });

  const outcome = (what: SeenFrom): Outcome => ({ seen: what, reachedMs: [], shut: [], open: [] });
  const look = (more: object = {}) => ({
    at: NOW,
    mark: MARK,
    uid: 'u',
    isLooking: false,
    brokenSince: undefined,
    open: [],
    outcome: outcome(seen('east')),
    ...more,
  });

  test('from each that is named, until it has answered', () => {
    const first = planVantages({ ...OBSERVED, names: ['east', 'west'] });
    assert.deepEqual(first.actions.map(({ do: what, from }) => [what, from]), [['look', 'east'], ['look', 'west']]); // prettier-ignore
    assert.deepEqual(first.statuses, []);
    const looking = planVantages({ ...OBSERVED, looks: new Map([['east', look({ isLooking: true, outcome: undefined })]]) }); // prettier-ignore
    assert.deepEqual([looking.actions.length, looking.lookAgainInMs, looking.statuses], [1, 1000, []]);
    const done = planVantages({ ...OBSERVED, looks: new Map([['east', look()]]) });
    assert.deepEqual([done.actions, done.lookAgainInMs], [[], 300_000]);
    assert.deepEqual(done.statuses.map(({ status }) => status), [{ vantages: [seen('east')] }]); // prettier-ignore
  });

  test('nothing is written that is written already, or was seen of something else', () => {
    const looks = new Map([['east', look()]]);
    assert.deepEqual(planVantages({ ...OBSERVED, looks, anchor: anchor([seen('east')]) }).statuses, []);
    const other = new Map([['east', look({ mark: 'other', outcome: outcome(seen('east', { unreached: 3 })) })]]); // prettier-ignore
    assert.deepEqual(
      planVantages({ ...OBSERVED, looks: other, anchor: anchor([seen('east')]) }).statuses,
      [],
    );
  });

  test('what nobody wants any more is taken away there and here', () => {
    const before = anchor([seen('east'), seen('west')]);
    const fewer = planVantages({ ...OBSERVED, anchor: before });
    assert.deepEqual(fewer.actions.map(({ do: what, from }) => [what, from]), [['forget', 'west'], ['look', 'east']]); // prettier-ignore
    assert.deepEqual(fewer.statuses.map(({ status }) => status), [{ vantages: [seen('east')] }]); // prettier-ignore
    for (const listeners of [[], [{ ...LISTENER, endpoints: [] }]]) {
      const none = planVantages({ ...OBSERVED, listeners, anchor: before });
      assert.deepEqual(none.actions.map(({ do: what }) => what), ['forget', 'forget']); // prettier-ignore
      assert.deepEqual(none.statuses.map(({ status }) => status), [{ vantages: [] }]); // prettier-ignore
    }
    const gone = planVantages({ ...OBSERVED, anchor: undefined, looks: new Map([['east', look()]]) });
    assert.deepEqual(gone.actions, [{ do: 'forget', from: 'east', uid: 'u' }]);
  });

  test('nothing is concluded of a cluster that nobody has planned yet', () => {
    const early = planVantages({ ...OBSERVED, listeners: undefined, anchor: anchor([seen('east')]) });
    assert.deepEqual([early.actions, early.statuses, early.lookAgainInMs], [[], [], 2000]);
  });

  test('the same is decided from the same, and what is written leads to no other writing', () => {
    const names = fc.subarray(['east', 'west', 'north']);
    fc.assert(
      fc.property(names, names, names, fc.boolean(), (wanted, said, looked, isLooking) => {
        const looks = new Map(looked.map((name) => [name, look({ isLooking, outcome: isLooking ? undefined : outcome(seen(name)) })])); // prettier-ignore
        const observed = {
          ...OBSERVED,
          names: wanted,
          looks,
          anchor: anchor(said.map((name) => seen(name))),
        };
        const plan = planVantages(observed);
        assert.deepEqual(planVantages(observed), plan);
        const [status] = plan.statuses;
        const after = status ? anchor((status.status as { vantages: SeenFrom[] }).vantages) : observed.anchor;
        assert.deepEqual(planVantages({ ...observed, anchor: after }).statuses, []);
        assert.ok(plan.actions.every(({ from, do: what }) => (what === 'look') === wanted.includes(from)));
      }),
    );
  });
});
