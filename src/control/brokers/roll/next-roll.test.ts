import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  CRASHING,
  NOW,
  OLD,
  UNREADY,
  allOld,
  flight,
  input,
  node,
  partitions,
  pod,
  quorum,
  short,
  why,
} from '../../../../test/support/roll/roll-input.ts';
import { MAX_FACT_AGE_MS } from './facts.ts';
import type { RollNode } from './facts.ts';
import { PATIENCE_MS, nextRoll } from './next-roll.ts';

suite('next roll', () => {
  test('nothing to do is done', () => assert.equal(short(input([node(0), node(1), node(2)])), 'done'));

  test('a restart is written down with the uid it deletes and why', () => {
    const decision = nextRoll(input(allOld()));
    assert.equal(decision.do, 'restart');
    assert.deepEqual(decision.inFlight, {
      node: 0,
      podUid: 'uid-0',
      since: NOW,
      why: 'POD_HAS_OLD_REVISION: a → b',
    });
  });

  suite('order', () => {
    test('the active controller is the last of the controllers', () => {
      const nodes = [node(0, { reasons: OLD }), node(1), node(2, { reasons: OLD })];
      assert.equal(short(input(nodes, { quorum: quorum(0, [0, 1, 2]) })), 'restart 2');
    });

    test('controllers go before brokers, those that are not ready before those that are', () => {
      const nodes = [
        node(0, { roles: ['broker'], reasons: OLD }),
        node(1, { roles: ['controller'], reasons: OLD }),
        node(2, { roles: ['controller'] }),
        node(3, { roles: ['controller'], reasons: OLD }),
      ];
      const facts = { quorum: quorum(2, [1, 2, 3]), partitions: partitions(nodes, []) };
      assert.equal(short(input(nodes, facts)), 'restart 1');
      nodes[3] = node(3, { ...nodes[3], pod: pod(3, CRASHING) });
      assert.equal(short(input(nodes, { quorum: quorum(2, [1, 2, 3], [3]) })), 'restart 3');
    });
  });

  suite('quorum', () => {
    test('a voter that lags keeps the others from being restarted', () => {
      const facts = { quorum: quorum(2, [0, 1, 2], [1]) };
      assert.equal(short(input(allOld(), facts)), 'restart 1', 'itself is no loss');
      const nodes = [node(0, { reasons: OLD }), node(1), node(2)];
      assert.match(why(input(nodes, facts)), /1 of 3 controllers are caught up, 2 are needed \(behind: 1\)/);
    });

    test('of five two may be missing, the one that is restarted included', () => {
      const nodes = [0, 1, 2, 3, 4].map((id) => node(id, id === 0 ? { reasons: OLD } : {}));
      assert.equal(short(input(nodes, { quorum: quorum(4, [0, 1, 2, 3, 4], [1]) })), 'restart 0');
      assert.equal(short(input(nodes, { quorum: quorum(4, [0, 1, 2, 3, 4], [1, 2]) })), 'blocked 0');
    });

    test('of two the other one has to be caught up', () => {
      const nodes = [node(0, { reasons: OLD }), node(1)];
      assert.match(
        why(input(nodes, { quorum: quorum(1, [0, 1]) })),
        /two controllers there is no quorum while/,
      );
      assert.equal(short(input(nodes, { quorum: quorum(0, [0, 1], [1]) })), 'blocked 0');
    });

    test('a single node can be rolled, and what that costs is said', () => {
      const one = input([node(0, { reasons: OLD })], { quorum: quorum(0, [0]) });
      assert.equal(short(one), 'restart 0');
      assert.match(why(one), /with one controller .*; partitions .* cannot be kept: t-0/);
    });

    test('a voter whose pod is not ready counts for nothing, whatever Kafka still says', () => {
      const roles = ['controller'] as const;
      const unready = (id: number) => node(id, { roles, reasons: OLD, pod: pod(id, UNREADY) });
      const facts = { quorum: quorum(1, [0, 1, 2]) };
      const other = node(2, { roles });
      assert.equal(short(input([node(0, { roles, reasons: OLD }), unready(1), other], facts)), 'restart 1');
      const two = input([node(0, { roles, reasons: OLD }), unready(1), unready(2)], facts);
      assert.match(why(two), /1 of 3 controllers are caught up/);
    });

    test('without a leader, or without facts, nothing is restarted', () => {
      assert.match(why(input(allOld(), { quorum: quorum(-1, [0, 1, 2]) })), /has no leader/);
      assert.match(why(input(allOld(), { quorum: undefined })), /quorum is unknown/);
      assert.equal(short(input(allOld(), { quorum: undefined })), 'blocked 0');
    });

    test('a cluster without controllers is rolled by its ISRs alone', () => {
      const nodes = allOld().map((one) => ({ ...one, roles: ['broker'] as const }));
      assert.equal(short(input(nodes, { quorum: undefined })), 'restart 0');
    });
  });

  suite('min ISR', () => {
    test('no partition that can be kept goes below it', () => {
      const nodes = allOld();
      const thin = partitions(nodes, [{ replicas: [0, 1, 2], isr: [0, 1], minIsr: 2 }]);
      assert.equal(short(input(nodes, { partitions: thin })), 'blocked 0', 'node 2 is the active controller');
      const rest = { partitions: thin, quorum: quorum(1, [0, 1, 2]) };
      assert.equal(short(input(nodes, rest)), 'restart 2', 'another one of the same rank may go');
      assert.match(why(input([nodes[0]!, node(1), node(2)], rest)), /below min\.insync\.replicas: t-0/);
    });

    test('a partition that is below it already keeps all its replicas', () => {
      const nodes = [node(0), node(1), node(2, { reasons: OLD })];
      const thin = partitions(nodes, [{ replicas: [0, 1, 2], isr: [0], minIsr: 2 }]);
      assert.equal(short(input(nodes, { partitions: thin, quorum: quorum(1, [0, 1, 2]) })), 'blocked 2');
    });

    test('a member whose pod is not ready keeps nothing above it', () => {
      const nodes = [0, 1, 2].map((id) => node(id, { reasons: OLD, roles: ['broker'] }));
      nodes[1] = { ...nodes[1]!, pod: pod(1, UNREADY) };
      const all = partitions(nodes, [{ replicas: [0, 1, 2], isr: [0, 1, 2], minIsr: 2 }]);
      // It goes first, since two others are left; with one of them away it must not.
      assert.equal(short(input(nodes, { partitions: all })), 'restart 1');
      nodes[2] = { ...nodes[2]!, pod: pod(2, UNREADY) };
      const fewer = partitions(nodes, [{ replicas: [0, 1, 2], isr: [0, 1, 2], minIsr: 2 }]);
      assert.equal(short(input(nodes, { partitions: fewer })), 'blocked 1');
      assert.match(why(input(nodes, { partitions: all })), /in sync is unknown/, 'summed up for other pods');
    });

    test('unknown partitions block', () => {
      assert.match(
        why(input(allOld(), { partitions: undefined })),
        /which partitions are in sync is unknown/,
      );
    });
  });

  test('facts that are too old, or older than what is known of the pods, are none', () => {
    const old = { now: NOW + MAX_FACT_AGE_MS + 1 };
    assert.match(why(input(allOld(), old)), /quorum is unknown/);
    assert.match(why(input(allOld(), { podsSeenAt: NOW + 1, now: NOW + 1 })), /quorum is unknown/);
  });

  suite('nodes that are not up', () => {
    test('one that needs no restart holds the others up, and for long is told as blocked', () => {
      const nodes = [node(0, { reasons: OLD }), node(1, { pod: pod(1, UNREADY) }), node(2)];
      assert.equal(short(input(nodes)), 'wait 1');
      nodes[1] = node(1, { pod: pod(1, { ...UNREADY, readyChangedAt: NOW - PATIENCE_MS - 1 }) });
      assert.equal(short(input(nodes)), 'blocked 1');
      nodes[1] = node(1, { pod: undefined });
      assert.match(why(input(nodes)), /events-nodes-1 has no pod/);
    });

    test('a pod that somebody else deletes is waited for', () => {
      const nodes = [
        node(0, { reasons: OLD }),
        node(1, { reasons: OLD, pod: pod(1, { ...UNREADY, deleting: true }) }),
      ];
      assert.match(why(input([...nodes, node(2)])), /events-nodes-1 is being deleted/);
    });

    test('stuck as it should be: the roll stops, and says what the process said', () => {
      const exit = { code: 78, message: 'DiskLost: no data' };
      const nodes = [...allOld().slice(0, 2), node(2, { pod: pod(2, { ...CRASHING, lastExit: exit }) })];
      assert.equal(short(input(nodes)), 'blocked 2');
      assert.match(
        why(input(nodes)),
        /stuck with the present configuration: CrashLoopBackOff \(exit code 78: DiskLost/,
      );
    });

    test('stuck in an older form: restarted first, and without facts', () => {
      const nodes = [node(0, { reasons: OLD }), node(1, { reasons: OLD, pod: pod(1, CRASHING) }), node(2)];
      const unknown = { quorum: undefined, brokers: undefined, partitions: undefined };
      assert.equal(short(input(nodes)), 'restart 1');
      assert.equal(short(input(nodes, unknown)), 'restart 1');
    });

    test('a process that does not run is still left alone where the data goes with the pod', () => {
      const lost = node(1, { reasons: OLD, keepsData: false, pod: pod(1, CRASHING) });
      const nodes = [node(0), lost, node(2)];
      assert.equal(short(input(nodes, { partitions: undefined })), 'blocked 1');
      const only = partitions(nodes, [{ replicas: [0, 1, 2], isr: [1], minIsr: 1 }]);
      assert.equal(short(input(nodes, { partitions: only })), 'blocked 1');
      const out = partitions(nodes, [{ replicas: [0, 1, 2], isr: [0, 2], minIsr: 1 }]);
      assert.equal(short(input(nodes, { partitions: out })), 'restart 1');
    });

    test('a process that runs without being ready is down only where Kafka says so', () => {
      const nodes = [
        node(0),
        node(1, { reasons: OLD, pod: pod(1, UNREADY) }),
        node(2, { pod: pod(2, UNREADY) }),
      ];
      const fenced = { brokers: { at: NOW, registered: new Map([[1, { fenced: true }]]) } };
      const lags = { quorum: quorum(0, [0, 1, 2], [1]) };
      assert.equal(short(input(nodes, { ...fenced, ...lags })), 'restart 1');
      assert.equal(short(input(nodes, { ...fenced })), 'wait 2', 'it is a voter');
      assert.equal(short(input(nodes, { ...lags })), 'wait 2', 'it is in an ISR');
      assert.equal(short(input(nodes, { ...fenced, quorum: undefined })), 'wait 2', 'who knows');
    });

    test('a single node that is not ready matters to nobody else', () => {
      const unknown = { quorum: undefined, brokers: undefined, partitions: undefined };
      assert.equal(short(input([node(0, { reasons: OLD, pod: pod(0, UNREADY) })], unknown)), 'restart 0');
    });

    test('a cluster that was never ready gets its first configuration corrected', () => {
      const unknown = { quorum: undefined, brokers: undefined, partitions: undefined };
      const nodes = [0, 1, 2].map((id) => node(id, { reasons: OLD, pod: pod(id, UNREADY) }));
      assert.equal(short(input(nodes, unknown)), 'blocked 0');
      assert.equal(short(input(nodes, { ...unknown, neverReady: true })), 'restart 0');
      // The first cannot be back before the others are there.
      nodes[0] = node(0, { pod: pod(0, { ...UNREADY, uid: 'new' }) });
      assert.equal(short(input(nodes, { ...unknown, neverReady: true, inFlight: flight(0) })), 'restart 1');
    });
  });

  suite('new disks', () => {
    const asking = (id: number, change: Partial<RollNode> = {}) =>
      [0, 1, 2].map((one) =>
        one === id ? node(id, { reasons: OLD, dropsData: true, keepsData: false, ...change }) : node(one),
      );

    test('a node gets them where others have all that it has', () => {
      assert.equal(short(input(asking(0))), 'restart 0');
      assert.equal(short(input(asking(0), { neverReady: true, quorum: undefined })), 'restart 0');
    });

    test('data that nobody else has is not thrown away, whether the node is up or not', () => {
      const only = { partitions: partitions(asking(0), [{ replicas: [0], isr: [0], minIsr: 1 }]) };
      assert.match(why(input(asking(0), only)), /no other broker has all the data of t-0/);
      const down = asking(0, { pod: pod(0, CRASHING) });
      const last = { partitions: partitions(down, [{ replicas: [0, 1, 2], isr: [0], minIsr: 1 }]) };
      assert.match(why(input(down, last)), /no other broker has all the data of t-0/);
      const out = { partitions: partitions(down, [{ replicas: [0, 1, 2], isr: [1, 2], minIsr: 1 }]) };
      assert.equal(short(input(down, out)), 'restart 0');
      assert.match(why(input(down, { partitions: undefined })), /in sync is unknown/);
    });

    test('a voter forgets only while another leads and all others have caught up', () => {
      assert.match(why(input(asking(2))), /active controller/);
      assert.match(why(input(asking(0), { quorum: quorum(2, [0, 1, 2], [1]) })), /behind: 1/);
      assert.match(why(input(asking(0), { quorum: quorum(-1, [0, 1, 2]) })), /has no leader/);
      const one = [node(0, { reasons: OLD, dropsData: true, keepsData: false })];
      assert.match(why(input(one, { quorum: quorum(0, [0]) })), /the only controller/);
    });

    test('one that votes with its disk loses that when it does not vote any more, and is back when it does again', () => {
      const voter = asking(0, { votesWithDisk: true, isToVote: true });
      assert.match(why(input(voter)), /votes with the disk that it has/);
      assert.equal(short(input(voter, { quorum: quorum(2, [1, 2]) })), 'restart 0');
      const back = [0, 1, 2].map((id) => node(id, { isToVote: true, ...(id === 0 && { pod: pod(0, { uid: 'new' }) }) })); // prettier-ignore
      const begun = { inFlight: flight(0) };
      assert.match(why(input(back, { ...begun, quorum: quorum(2, [1, 2]) })), /does not vote yet/);
      assert.equal(short(input(back, begun)), 'done');
    });
  });

  suite('a broker that is none after its restart', () => {
    const retiring = (change: Partial<RollNode> = {}) => [
      node(0, { reasons: OLD, retires: true, ...change }),
      node(1),
      node(2),
    ];
    const on = (nodes: RollNode[], replicas: number[], isr = replicas) => ({
      partitions: partitions(nodes, [{ replicas, isr, minIsr: 1 }]),
    });

    test('is restarted when it has no partitions, and not while it has any, or nobody knows', () => {
      assert.equal(short(input(retiring(), on(retiring(), [1, 2]))), 'restart 0');
      const given = /is to be no broker any more, and was given partitions: t-0/;
      assert.match(why(input(retiring(), on(retiring(), [0, 1, 2]))), given);
      assert.match(why(input(retiring(), on(retiring(), [0, 1, 2], [1, 2]))), given);
      assert.match(why(input(retiring(), { partitions: undefined })), /in sync is unknown/);
    });

    test('waits with partitions also while it is down', () => {
      const down = retiring({ pod: pod(0, CRASHING) });
      assert.equal(short(input(down, on(down, [0, 1, 2], [1, 2]))), 'blocked 0');
      assert.equal(short(input(down, on(down, [1, 2]))), 'restart 0');
    });

    test('is no voter less by that', () => {
      const facts = { ...on(retiring(), [1, 2]), quorum: quorum(2, [0, 1, 2], [1]) };
      assert.match(why(input(retiring(), facts)), /1 of 3 controllers are caught up, 2 are needed/);
    });
  });

  test('a change that needs no restart comes before restarts, one node at a time', () => {
    const change = { perBroker: { set: { 'log.retention.ms': '1' }, delete: [] }, clusterWide: { set: {} } };
    const nodes = [node(0, { reasons: OLD, change }), node(1, { change }), node(2, { change })];
    const decision = nextRoll(input(nodes));
    assert.deepEqual(decision, { do: 'reconfigure', node: 1, change, inFlight: undefined });
    const unready = [node(0), node(1, { change, pod: pod(1, UNREADY) }), node(2)];
    assert.equal(short(input(unready)), 'wait 1');
  });

  test('paused: nothing is begun, and what was begun is not forgotten', () => {
    const decision = nextRoll(input(allOld(), { paused: true, inFlight: flight(0) }));
    assert.deepEqual([decision.do, decision.inFlight], ['wait', flight(0)]);
  });
});
