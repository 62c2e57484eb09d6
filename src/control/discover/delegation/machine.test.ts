import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { undelegate } from './corefile/block.ts';
import { advance } from './machine.ts';
import { initialState } from './machine-state.ts';
import type { DelegationEvent, MachineState, Patch, Step } from './machine-state.ts';
import type { ObservedDns } from './observe.ts';
import type { ConfigMap } from './platform.ts';
import type { DelegationStatus } from './status.ts';
import type { Written } from './write.ts';

const COREFILE = '.:53 {\n    reload\n}\n';
const OWNER = 'isthmus-system/isthmus-dns';
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const VERIFY_MS = 20 * SECOND;

/** A cluster with CoreDNS, as far as the machine sees it, and the machine. */
function simulate({ zones = ['xcc.test'], last }: { zones?: string[]; last?: DelegationStatus } = {}) {
  const settings = {
    zones,
    owner: OWNER,
    platform: undefined,
    server: undefined,
    verifyMs: VERIFY_MS,
  };
  const world = {
    now: 0,
    corefile: COREFILE,
    version: 1,
    /** What the other writers have written, without our block. */
    theirs: COREFILE,
    server: '10.96.0.20' as string | undefined,
    dnsAddress: '10.96.0.10' as string | undefined,
    isAnswering: true,
    works: true,
    isChanged: false,
  };
  const steps: { at: number; step: Step }[] = [];
  const statuses: DelegationStatus[] = [];
  let state: MachineState = initialState(last, settings);
  let wakeAt = 0;

  const configMap = (): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'coredns',
      namespace: 'kube-system',
      uid: 'c',
      resourceVersion: String(world.version),
    },
    data: { Corefile: world.corefile },
  });
  function observe(): ObservedDns {
    world.isChanged = false;
    const metadata = { name: 'isthmus-dns', namespace: 'isthmus-system' };
    const spec = world.server === undefined ? {} : { clusterIP: world.server };
    return {
      clusterDns: { coredns: configMap() },
      service: { apiVersion: 'v1', kind: 'Service', metadata, spec },
    };
  }
  function write({ object, patch }: Patch): Written {
    if (object.metadata.resourceVersion !== String(world.version)) return 'conflict';
    world.version += 1;
    world.corefile = (patch as { data: { Corefile: string } }).data.Corefile;
    world.isChanged = true;
    return configMap();
  }
  /** The block of ours is in the Corefile, and the DNS server serves it. */
  const problem = () => (world.works && world.corefile.includes('xcc.test') ? undefined : 'SERVFAIL');
  function perform(step: Exclude<Step, { do: 'wait' }>): DelegationEvent {
    switch (step.do) {
      case 'observe':
        return { type: 'observed', observed: observe() };
      case 'clean':
        return { type: 'cleaned' };
      case 'resolve':
        return { type: 'resolved', dnsAddress: world.dnsAddress };
      case 'ping':
        return { type: 'pinged', step, isAnswering: world.isAnswering };
      case 'write':
        return { type: 'written', step, written: write(step.patch) };
      case 'probe':
        return { type: 'probed', problem: problem() };
    }
    return step satisfies never;
  }
  /** Runs the machine until it waits. */
  function run(): void {
    let event: DelegationEvent = { type: 'woken', isChanged: world.isChanged };
    for (;;) {
      const next = advance(state, event, world.now, settings);
      state = next.state;
      steps.push({ at: world.now, step: next.step });
      if (next.status) statuses.push(next.status);
      if (next.step.do === 'wait') return void (wakeAt = world.now + next.step.ms);
      event = perform(next.step);
    }
  }
  return {
    world,
    statuses,
    steps,
    /** The states that were reported, without repetitions. */
    states: () => statuses.map((one) => one.state).filter((one, i, all) => one !== all[i - 1]),
    writes: (of: string) =>
      steps.filter(({ step }) => step.do === 'write' && step.purpose.of === of).map(({ at }) => at),
    get state() {
      return state;
    },
    /** Lets time pass: runs when it is due, or at once when an object has changed. */
    pass(ms: number): void {
      const end = world.now + ms;
      for (;;) {
        const at = world.isChanged ? world.now : Math.max(world.now, wakeAt);
        if (at > end) break;
        world.now = at;
        run();
      }
      world.now = end;
    },
    /** Somebody else replaces the Corefile, and with it our block. */
    overwrite(text: string): void {
      world.theirs = world.corefile = text;
      world.version += 1;
      world.isChanged = true;
    },
  };
}

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
      /^SERVFAIL; the delegation was undone and is retried in 60 s$/,
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
