import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import {
  COREFILE,
  MINUTE,
  OWNER,
  SECOND,
  VERIFY_MS,
  simulate,
} from '../../../../test/support/discover/delegation-machine.ts';
import { undelegate } from './corefile/block.ts';
import { advance } from './machine.ts';
import type { Step } from './machine-state.ts';

suite('the delegation machine', () => {
  test('writes, verifies three times and reports', () => {
    const site = simulate();
    site.pass(2 * SECOND);
    assert.deepEqual(site.states(), ['verifying', 'delegated']);
    assert.equal(site.steps.filter(({ step }) => step.do === 'probe').length, 3);
    assert.deepEqual(site.writes('delegation'), [0]);
    site.pass(10 * MINUTE);
    assert.deepEqual(site.states(), ['verifying', 'delegated']);
  });

  test('undoes what is not verified in time, and waits longer after each failure', () => {
    const site = simulate();
    site.world.works = false;
    site.pass(VERIFY_MS);
    assert.deepEqual(site.states(), ['verifying', 'failed']);
    assert.equal(site.world.corefile, COREFILE);
    assert.match(
      site.statuses.at(-1)!.reason,
      /10\.96\.0\.10 answers: SERVFAIL; the delegation was undone and is retried in 60 s$/,
    );
    site.pass(60 * MINUTE);
    const gaps = site.writes('delegation').map((at, i, all) => at - (all[i - 1] ?? at));
    assert.deepEqual(gaps.slice(0, 4), [
      0,
      VERIFY_MS + MINUTE,
      VERIFY_MS + 2 * MINUTE,
      VERIFY_MS + 4 * MINUTE,
    ]);
  });

  test('tries again at once when somebody changes the object', () => {
    const site = simulate();
    site.world.works = false;
    site.pass(VERIFY_MS);
    site.world.works = true;
    site.overwrite(`# better now\n${COREFILE}`);
    site.pass(2 * SECOND);
    assert.equal(site.states().at(-1), 'delegated');
  });

  test('writes nothing while something is missing, and says what', () => {
    for (const [lacking, reason] of [
      [{ server: undefined }, /Service isthmus-system\/isthmus-dns has no cluster IP/],
      [{ dnsAddress: undefined }, /clusterDns/],
      [{ isAnswering: false }, /10\.96\.0\.10 does not answer/],
    ] as const) {
      const site = simulate();
      Object.assign(site.world, lacking);
      site.pass(10 * SECOND);
      assert.deepEqual(site.states(), ['waiting']);
      assert.match(site.statuses[0]!.reason, reason);
      assert.equal(site.world.corefile, COREFILE);
    }
  });

  test('does not call delegated what it cannot ask any more', () => {
    const site = simulate();
    site.pass(2 * SECOND);
    site.world.dnsAddress = undefined;
    site.pass(2 * MINUTE);
    assert.deepEqual(site.states(), ['verifying', 'delegated', 'waiting']);
  });

  test('removes the delegation when there are no zones', () => {
    const site = simulate();
    site.pass(2 * SECOND);
    const removing = simulate({ zones: [] });
    removing.overwrite(site.world.corefile);
    removing.pass(SECOND);
    assert.deepEqual(removing.states(), ['removed']);
    assert.equal(removing.world.corefile, COREFILE);
  });

  test('of a new leader keeps what an earlier one has verified, and removes what none has', () => {
    for (const [state, result] of [
      ['delegated', 'failing'],
      ['failing', 'failing'],
      ['verifying', 'failed'],
    ] as const) {
      const first = simulate();
      first.pass(2 * SECOND);
      const second = simulate({ last: { ...first.statuses.at(-1)!, state } });
      second.world.corefile = first.world.corefile;
      second.world.works = false;
      second.pass(VERIFY_MS);
      assert.equal(second.states().at(-1), result);
      assert.equal(second.world.corefile, result === 'failed' ? COREFILE : first.world.corefile);
    }
  });

  test('observes again when another writer was faster', () => {
    const site = simulate();
    const step: Step = {
      do: 'write',
      patch: { object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'coredns' } }, patch: {} },
      purpose: { of: 'undo', problem: 'SERVFAIL' },
    };
    const settings = {
      zones: ['xcc.test'],
      owner: OWNER,
      platform: undefined,
      server: undefined,
      verifyMs: 0,
    };
    const conflict = advance(site.state, { type: 'written', step, written: 'conflict' }, 0, settings);
    assert.deepEqual(conflict.step, { do: 'wait', ms: 0 });
    const woken = advance(conflict.state, { type: 'woken', isChanged: false }, 0, settings);
    assert.deepEqual(woken.step, { do: 'observe' });
  });
});

suite('whatever others do, the delegation machine', () => {
  type Action =
    | { type: 'pass'; ms: number }
    | { type: 'overwrite'; text: string }
    | { type: 'break'; works: boolean }
    | { type: 'move'; server: string };
  const texts = [COREFILE, `# theirs\n${COREFILE}`, `${COREFILE}other.test {\n    errors\n}\n`];
  const action: fc.Arbitrary<Action> = fc.oneof(
    fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 2 * MINUTE }) }),
    fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 2 * SECOND }) }),
    fc.record({ type: fc.constant('overwrite' as const), text: fc.constantFrom(...texts) }),
    fc.record({ type: fc.constant('break' as const), works: fc.boolean() }),
    fc.record({ type: fc.constant('move' as const), server: fc.constantFrom('10.96.0.20', '10.96.0.21') }),
  );
  const actions = fc.array(action, { maxLength: 30, size: 'max' });

  function play(list: readonly Action[], check: (site: ReturnType<typeof simulate>) => void = () => {}) {
    const site = simulate();
    for (const one of list) {
      if (one.type === 'pass') site.pass(one.ms);
      if (one.type === 'overwrite') site.overwrite(one.text);
      if (one.type === 'break') site.world.works = one.works;
      if (one.type === 'move') site.world.server = one.server;
      check(site);
    }
    return site;
  }

  test('never writes more often than the rate allows', () => {
    fc.assert(
      fc.property(actions, (list) => {
        const writes = play(list).writes('delegation');
        writes.forEach((at, i) => {
          const before = writes.slice(0, i).filter((other) => at - other < 10 * MINUTE);
          if (before.length >= 5)
            assert.ok(at - before.at(-1)! > MINUTE - 1, `${before.join()} and then ${at}`);
        });
      }),
    );
  });

  test('never undoes what was verified after it was written', () => {
    fc.assert(
      fc.property(actions, (list) => {
        let isVerified = false;
        const site = play(list);
        for (const [i, { step }] of site.steps.entries()) {
          if (step.do === 'write' && step.purpose.of === 'delegation') isVerified = false;
          if (step.do === 'wait' && step.ms === MINUTE && site.steps[i - 1]?.step.do === 'probe')
            isVerified = true;
          if (step.do === 'write' && step.purpose.of === 'undo') assert.ok(!isVerified);
        }
      }),
    );
  });

  test('changes nothing but its own block', () => {
    fc.assert(
      fc.property(actions, (list) => {
        play(list, ({ world }) => {
          assert.deepEqual(undelegate(world.corefile, OWNER), { text: world.theirs });
        });
      }),
    );
  });

  test('observes again after a change during verification, and starts anew if its block is gone', () => {
    const begin = fc.record({
      ms: fc.integer({ min: 0, max: VERIFY_MS - SECOND }),
      text: fc.constantFrom(...texts),
    });
    fc.assert(
      fc.property(begin, ({ ms, text }) => {
        const site = simulate();
        site.world.works = false;
        site.pass(ms);
        assert.ok(site.state.verification);
        const { length } = site.steps;
        site.overwrite(text);
        site.pass(0);
        const done = site.steps.slice(length).map(({ step }) => step.do);
        assert.deepEqual(done.slice(0, 5), ['observe', 'resolve', 'ping', 'write', 'probe']);
        assert.equal(site.state.verification?.deadline, site.world.now + VERIFY_MS);
      }),
    );
  });

  test('delegates in the end, when others leave it alone and the cluster works', () => {
    fc.assert(
      fc.property(actions, (list) => {
        const site = play(list);
        site.world.works = true;
        site.pass(2 * 60 * MINUTE);
        assert.equal(site.states().at(-1), 'delegated');
        assert.ok(site.world.corefile.includes(`forward . ${site.world.server}`));
      }),
    );
  });
});
