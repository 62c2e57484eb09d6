/** Single decisions; that they fit together is shown in renewal-model.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Authority, HeldLeaf, ObservedAuthority } from './authority-state.ts';
import { parseMaintenanceWindow } from './maintenance-window.ts';
import type { MaintenanceWindow } from './maintenance-window.ts';
import { isRestartDue, renewalStep, restartAt, signingStep } from './renewal.ts';
import { renewalWarnings } from './renewal-warnings.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const day = (number: number) => new Date(Date.UTC(2026, 0, 1) + number * DAY_MS);

const authority = (keyId: string, from: number, to: number): Authority => ({
  thumbprint: `${keyId}@${to}`,
  keyId,
  subject: `CN=cluster-ca ${keyId},O=io.strimzi`,
  notBefore: day(from),
  notAfter: day(to),
});

const first = authority('v0', 0, 365);
const second = authority('v1', 100, 465);
const trust = (one: Authority) => ({ keyId: one.keyId, until: one.notAfter });
const held = (signedBy: string, to = 365): HeldLeaf => ({
  notBefore: day(0),
  notAfter: day(to),
  names: ['a'],
  signedBy,
});

/** One node, with all in order. */
const seen = (changes: Partial<ObservedAuthority> = {}): ObservedAuthority => ({
  now: day(10),
  policy: { validityMs: 365 * DAY_MS, renewalMs: 30 * DAY_MS, onExpiry: 'renew-certificate', windows: [] },
  isSupplied: false,
  key: 'v0',
  formerKeys: [],
  certificate: first,
  above: [],
  former: [],
  certificateGeneration: 0,
  keyGeneration: 0,
  force: { renew: false, replace: false },
  bundles: [[first]],
  trusters: [{ name: 'node', trusts: [trust(first)] }],
  leaves: [{ name: 'node', held: held('v0'), running: { signedBy: 'v0' }, wantedNames: ['a'] }],
  ...changes,
});
const leaf = (changes: object) => ({ leaves: [{ ...seen().leaves[0]!, ...changes }] });
const policy = (changes: object) => ({ policy: { ...seen().policy, ...changes } });

test('while all is in order nothing is done, and the next look is when something is due', () => {
  assert.deepEqual(renewalStep(seen()), { do: 'nothing', until: day(335) });
});

test('key, then certificate, then bundle, then certificates of nodes', () => {
  const nothing = { key: undefined, certificate: undefined, keyGeneration: -1, certificateGeneration: -1 };
  const none = { ...nothing, bundles: [[]], trusters: [], ...leaf({ held: undefined, running: undefined }) };
  assert.deepEqual(renewalStep(seen(none)), { do: 'make key', generation: 0, why: 'there is none' });
  const withKey = { ...none, key: 'v0', keyGeneration: 0 };
  assert.partialDeepStrictEqual(renewalStep(seen(withKey)), {
    do: 'make certificate',
    generation: 0,
    keyGeneration: 0,
  });
  const withCertificate = { ...withKey, certificate: first };
  assert.deepEqual(renewalStep(seen(withCertificate)), { do: 'publish', authorities: [first] });
  const published = seen({ ...withCertificate, bundles: [[first]] });
  const leaves = [{ name: 'node', why: 'missing' }];
  assert.deepEqual(renewalStep(published), { do: 'sign', authority: first, leaves });
});

test('names, a broken Secret and an unknown signer are reasons to sign; a Secret that cannot be read now is not', () => {
  const why = (changes: object) => {
    const step = renewalStep(seen(leaf(changes)));
    return step.do === 'sign' ? step.leaves[0]!.why : step.do;
  };
  assert.equal(why({ wantedNames: ['a', 'b'] }), 'names');
  assert.equal(why({ held: { fault: 'is broken' } }), 'missing');
  assert.equal(why({ held: { ...held('v0'), signedBy: undefined } }), 'authority');
  assert.equal(why({ held: 'unknown' }), 'nothing');
  assert.equal(why({ held: held('v0', 18) }), 'expiring');
});

test('a renewed certificate of an authority keeps its key, or gets another, as the policy says', () => {
  const due = { now: day(340) };
  const renewed = renewalStep(seen(due));
  assert.partialDeepStrictEqual(renewed, {
    do: 'make certificate',
    generation: 1,
    keyGeneration: 0,
    former: [],
  });
  const replaced = renewalStep(seen({ ...due, ...policy({ onExpiry: 'replace-key' }) }));
  assert.partialDeepStrictEqual(replaced, { do: 'make key', generation: 1 });
});

test('a renewal period as long as the validity renews at half of it, not for ever', () => {
  const step = renewalStep(seen(policy({ renewalMs: 365 * DAY_MS })));
  assert.equal(step.do, 'nothing');
  assert.equal(
    renewalStep(seen({ now: day(184), ...policy({ renewalMs: 365 * DAY_MS }) })).do,
    'make certificate',
  );
});

test('a maintenance window is waited for, until there is no more time', () => {
  const sundays = parseMaintenanceWindow('* * 0-3 ? * SUN') as MaintenanceWindow;
  const at = (now: Date, changes: object = {}) =>
    renewalStep(seen({ now, ...policy({ windows: [sundays] }), ...changes }));
  // Day 336 is a Thursday, and day 339 the Sunday after it.
  const why = 'the next maintenance window';
  assert.deepEqual(at(day(336)), { do: 'wait', why, until: day(339) });
  assert.equal(at(day(339)).do, 'make certificate');
  const yearly = parseMaintenanceWindow('* * * 1 6 ?') as MaintenanceWindow;
  const rare = at(day(336), policy({ windows: [yearly] }));
  assert.ok(rare.do === 'wait' && rare.until! < day(358), 'looks again when it is urgent');
  assert.equal(at(day(359)).do, 'make certificate', 'on a Saturday, with six days left');
  // Day 12 is a Tuesday, and day 17 a Sunday.
  assert.deepEqual(at(day(12), { force: { renew: false, replace: true } }), {
    do: 'wait',
    why,
    until: day(17),
  });
  assert.equal(at(day(10), leaf({ wantedNames: ['b'] })).do, 'sign', 'new names are what somebody asked for');
});

test('a key is replaced in three phases, and the old one signs during the first', () => {
  const replacing = {
    key: 'v1',
    formerKeys: ['v0'],
    certificate: second,
    former: [first],
    bundles: [[second, first]],
    now: day(100),
  };
  const trusting = { trusters: [{ name: 'node', trusts: [trust(first), trust(second)] }] };
  const wait = renewalStep(seen(replacing));
  assert.deepEqual(wait, { do: 'wait', why: 'node must load the trust bundle', until: day(335) });
  const late = renewalStep(seen({ ...replacing, ...leaf({ held: undefined }) }));
  assert.partialDeepStrictEqual(late, { do: 'sign', authority: first });
  const ready = { ...replacing, ...trusting };
  const leaves = [{ name: 'node', why: 'authority' }];
  assert.deepEqual(renewalStep(seen(ready)), { do: 'sign', authority: second, leaves });
  const signed = { ...ready, ...leaf({ held: held('v1', 465) }) };
  assert.deepEqual(renewalStep(seen(signed)), {
    do: 'wait',
    why: 'something still presents certificates of the former CA',
    until: day(435),
  });
  const running = { ...ready, ...leaf({ held: held('v1', 465), running: { signedBy: 'v1' } }) };
  assert.deepEqual(renewalStep(seen(running)), { do: 'remove', authorities: [first], keys: ['v0'] });
  // Not before the last of all certificates in Secrets: a crash may have come between two of them.
  const operator = { name: 'operator', held: held('v0'), running: undefined, wantedNames: ['a'] };
  const unfinished = renewalStep(seen({ ...running, leaves: [...running.leaves, operator] }));
  assert.partialDeepStrictEqual(unfinished, { do: 'sign', leaves: [{ name: 'operator', why: 'authority' }] });
  const removed = { ...running, former: [], formerKeys: [] };
  assert.deepEqual(renewalStep(seen(removed)), { do: 'publish', authorities: [second] });
  const again = renewalStep(seen({ ...replacing, force: { renew: false, replace: true } }));
  assert.equal(again.do, 'wait', 'another replacement begins when this one is over');
});

test('an authority whose Secrets were lost is replaced like any other: the bundle remembers it', () => {
  const lost = { key: undefined, certificate: undefined, keyGeneration: -1, certificateGeneration: -1 };
  assert.partialDeepStrictEqual(renewalStep(seen(lost)), { do: 'make key', generation: 1 });
  const made = { key: 'v1', certificate: second, now: day(100) };
  assert.deepEqual(renewalStep(seen(made)), { do: 'publish', authorities: [second, first] });
});

test('a supplied authority is never made; what is wrong with it is said, and a new one goes the way of a replacement', () => {
  const supplied = (changes: Partial<ObservedAuthority>) =>
    renewalStep(seen({ isSupplied: true, ...changes }));
  const blocked: [Partial<ObservedAuthority>, RegExp][] = [
    [{ key: undefined, certificate: undefined }, /supply ca.crt and ca.key/],
    [{ certificate: { fault: 'is broken' } }, /certificate of the CA is broken/],
    [{ key: { fault: 'is broken' } }, /key of the CA is broken/],
    [{ key: 'v1' }, /not of its key/],
    [{ now: day(366) }, /has expired; supply a new one/],
  ];
  for (const [changes, why] of blocked) {
    const step = supplied(changes);
    assert.ok(step.do === 'blocked');
    assert.match(step.why, why);
  }
  assert.equal(supplied({ now: day(340), force: { renew: true, replace: true } }).do, 'nothing');
  const changed = { key: 'v1', certificate: second, now: day(100) };
  assert.deepEqual(supplied(changed), { do: 'publish', authorities: [second, first] });
  assert.equal(supplied({ ...changed, bundles: [[second, first]] }).do, 'wait');
});

test('a generated key that cannot be read is not overwritten unless somebody asks for it', () => {
  const broken = { key: { fault: 'is broken' } };
  assert.equal(renewalStep(seen(broken)).do, 'blocked');
  assert.equal(renewalStep(seen({ ...broken, force: { renew: false, replace: true } })).do, 'make key');
});

test('a node that can trust nothing much longer is not waited for; one that cannot be asked is taken to trust the oldest', () => {
  const replacing = {
    key: 'v1',
    certificate: second,
    former: [first],
    bundles: [[second, first]],
    isSupplied: false,
  };
  const unknown = { trusters: [{ name: 'node', trusts: 'unknown' as const }] };
  assert.equal(renewalStep(seen({ ...replacing, ...unknown, now: day(300) })).do, 'wait');
  assert.equal(renewalStep(seen({ ...replacing, ...unknown, now: day(364.5) })).do, 'sign');
  assert.equal(renewalStep(seen({ ...replacing, now: day(364.5) })).do, 'sign');
});

test('what is about to end is said in time', () => {
  assert.deepEqual(renewalWarnings(seen()), []);
  const late = { now: day(340) };
  assert.deepEqual(renewalWarnings(seen(late)), [], 'it is renewed by itself');
  assert.match(
    renewalWarnings(seen({ ...late, isSupplied: true })).join(),
    /ends at 2027-01-01.*supply a new one/,
  );
  const never = parseMaintenanceWindow('0 0 0 1 1 ? 2020') as MaintenanceWindow;
  assert.match(
    renewalWarnings(seen({ ...late, ...policy({ windows: [never] }) })).join(),
    /no maintenance window/,
  );
  const behind = { certificate: second, key: 'v1', now: day(364.5) };
  assert.match(renewalWarnings(seen(behind)).join(), /node trusts no CA after 2027-01-01.*must be restarted/);
});

test('property: nothing that is observed makes it throw, and the same gives the same', () => {
  const keyId = fc.constantFrom('v0', 'v1', 'v2');
  const date = fc.integer({ min: -50, max: 800 }).map(day);
  const any = fc
    .record({ keyId, notBefore: date, notAfter: date })
    .map(({ keyId, notBefore, notAfter }): Authority => ({
      ...authority(keyId, 0, 0),
      thumbprint: `${keyId}${notBefore.getTime()}${notAfter.getTime()}`,
      notBefore,
      notAfter,
    }));
  const fault = fc.constant({ fault: 'is broken' });
  const some = fc.array(any, { maxLength: 3 });
  const trusts = fc.oneof(
    fc.constant('unknown' as const),
    some.map((authorities) => authorities.map(trust)),
  );
  const leaf = fc.record({
    name: fc.constant('node'),
    held: fc.oneof(
      fc.constantFrom('unknown' as const, undefined),
      fault,
      keyId.map((key) => held(key)),
    ),
    running: fc.oneof(fc.constantFrom('unknown' as const, undefined), fc.record({ signedBy: keyId })),
    wantedNames: fc.constantFrom(['a'], []),
  });
  const changes = fc.record({
    now: date,
    isSupplied: fc.boolean(),
    key: fc.oneof(keyId, fault, fc.constant(undefined)),
    formerKeys: fc.array(keyId, { maxLength: 2 }),
    certificate: fc.oneof(any, fault, fc.constant(undefined)),
    former: some,
    bundles: fc.array(some, { maxLength: 2 }),
    force: fc.record({ renew: fc.boolean(), replace: fc.boolean() }),
    trusters: fc.array(fc.record({ name: fc.constant('node'), trusts }), { maxLength: 3 }),
    leaves: fc.array(leaf, { maxLength: 3 }),
  });
  fc.assert(
    fc.property(changes, (changes) => {
      const step = renewalStep(seen(changes));
      assert.deepEqual(renewalStep(seen(changes)), step);
      renewalWarnings(seen(changes));
      if (changes.isSupplied) assert.ok(!['make key', 'make certificate', 'remove'].includes(step.do));
      if (step.do === 'sign') assert.ok(step.authority.notAfter > changes.now);
      if ('until' in step && step.until) assert.ok(step.until > changes.now);
    }),
    { numRuns: 500 },
  );
});

test('a restart for other keys is due at once, one for what was renewed late or in a window, and none is ever too late', () => {
  const { policy: always } = seen();
  const sundays = { ...always, windows: [parseMaintenanceWindow('* * 2-3 ? * SUN *') as MaintenanceWindow] };
  // 2026-01-04 is a Sunday.
  const [sunday, monday] = [new Date('2026-01-04T02:30:00Z'), new Date('2026-01-05T02:30:00Z')];
  const renewed = { why: 'certificate renewed', by: day(20) } as const;
  const replaced = { why: 'keys changed', by: day(20) } as const;
  assert.equal(isRestartDue(replaced, always, 3, monday), true);
  assert.equal(isRestartDue(replaced, sundays, 3, monday), false);
  assert.equal(isRestartDue(replaced, sundays, 3, sunday), true);
  assert.equal(isRestartDue(renewed, always, 3, monday), false);
  assert.equal(isRestartDue(renewed, sundays, 3, monday), false);
  assert.equal(isRestartDue(renewed, sundays, 3, sunday), true);
  // A quarter of the 30 days before its end nothing is waited for.
  for (const one of [always, sundays]) {
    assert.equal(isRestartDue(renewed, one, 3, day(20 - 7.5)), true);
    assert.equal(isRestartDue({ ...renewed, why: 'authority renewed' }, one, 3, day(20 - 7.4)), true);
  }
});

test('a restart begins so early that each of many nodes has its turn, and takes no more than most of the time for renewal', () => {
  const hours = (number: number) => number * 60 * 60 * 1000;
  const restart = { why: 'certificate renewed', by: new Date(hours(100)) } as const;
  const leadHours = (renewalHours: number, nodes: number) => {
    const policy = { ...seen().policy, validityMs: hours(1000), renewalMs: hours(renewalHours) };
    return 100 - restartAt(restart, policy, nodes).getTime() / hours(1);
  };
  assert.equal(leadHours(80, 3), 20);
  assert.equal(leadHours(80, 150), 25);
  assert.equal(leadHours(1, 3), 0.5);
  assert.equal(leadHours(1, 60), 0.75);
});

test('users get certificates of an authority whatever is next in its own life', () => {
  const users = [{ name: 'alice', held: undefined, running: undefined, wantedNames: [] }];
  const signed = { do: 'sign', leaves: [{ name: 'alice', why: 'missing' }] };
  // It should be renewed, and a former one removed: both are somebody else's to do.
  const due = seen({ now: day(340), leaves: users, former: [authority('old', 0, 360)] });
  assert.equal(renewalStep(due).do, 'make certificate');
  assert.deepEqual(signingStep(due), { ...signed, authority: first });
  // Everybody has to trust it first.
  const replaced = { key: 'v1', formerKeys: ['v0'], certificate: second, former: [first], now: day(110) };
  assert.deepEqual(signingStep(seen({ ...replaced, leaves: users })), { ...signed, authority: first });
  assert.equal(signingStep(seen({ key: 'v1', leaves: users })).do, 'wait');
  assert.equal(signingStep(seen({ key: undefined, leaves: users })).do, 'wait');
  assert.equal(signingStep(seen({ key: undefined, leaves: users, isSupplied: true })).do, 'blocked');
});
