/**
 * Renewal and replacement in a small world that forgets nothing of what makes them hard: writes that a crash cuts off, pods that
 * restart by themselves and load what is there, clusters that cannot be reached, lost Secrets, and time that passes meanwhile.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { CLOCK_SKEW_MS } from './authority.ts';
import type {
  Authority,
  HeldLeaf,
  ObservedAuthority,
  Policy,
  SignedLeaf,
  Trust,
  Truster,
} from './authority-state.ts';
import { parseMaintenanceWindow } from './maintenance-window.ts';
import type { MaintenanceWindow } from './maintenance-window.ts';
import { renewalStep } from './renewal.ts';
import type { Step } from './renewal.ts';
import { lastCallMs } from './trust.ts';

const HOUR_MS = 60 * 60 * 1000;
const LONG_AGO = parseMaintenanceWindow('0 0 0 1 1 ? 1970') as MaintenanceWindow;

interface Facts {
  trusts: Trust[];
  leaf: HeldLeaf | undefined;
}

interface Node {
  name: string;
  target: number;
  names: string[];
  /** In its Secret. */
  held: HeldLeaf | undefined;
  /** What a pod that is created now gets as annotations. */
  template: Facts | undefined;
  pod: { annotations: Facts; loaded: Facts } | undefined;
  /** The others went on without it, because nothing that it was known to trust had time left. */
  isGivenUp: boolean;
}

interface World {
  now: number;
  serial: number;
  isOpen: boolean;
  onExpiry: Policy['onExpiry'];
  keySecret: { key: string; former: string[]; generation: number; force: boolean } | undefined;
  certificateSecret:
    | { certificate: Authority; former: Authority[]; generation: number; force: boolean }
    | undefined;
  /** The first is the central one, which can always be reached. Of the others `isHidden` says whether pods are forgotten, too. */
  targets: { bundle: Authority[]; isReachable: boolean; isHidden: boolean }[];
  nodes: Node[];
  operator: HeldLeaf | undefined;
}

const newWorld = (onExpiry: Policy['onExpiry']): World => ({
  now: Date.UTC(2026, 0, 1),
  serial: 0,
  isOpen: true,
  onExpiry,
  keySecret: undefined,
  certificateSecret: undefined,
  targets: [0, 1].map(() => ({ bundle: [], isReachable: true, isHidden: false })),
  nodes: [0, 1, 0, 1].map((target, id) => newNode(id, target)),
  operator: undefined,
});

const newNode = (id: number, target: number): Node => ({
  name: `node-${id}`,
  target,
  names: [`node-${id}`],
  held: undefined,
  template: undefined,
  pod: undefined,
  isGivenUp: false,
});

const policyOf = ({ isOpen, onExpiry }: World): Policy => ({
  validityMs: 100 * HOUR_MS,
  renewalMs: 30 * HOUR_MS,
  onExpiry,
  windows: isOpen ? [] : [LONG_AGO],
});

function observe(world: World): ObservedAuthority {
  const { keySecret, certificateSecret, targets } = world;
  const isHidden = ({ target }: Node) => !targets[target]!.isReachable && targets[target]!.isHidden;
  return {
    now: new Date(world.now),
    policy: policyOf(world),
    isSupplied: false,
    key: keySecret?.key,
    formerKeys: keySecret?.former ?? [],
    certificate: certificateSecret?.certificate,
    above: [],
    former: certificateSecret?.former ?? [],
    certificateGeneration: certificateSecret?.generation ?? -1,
    keyGeneration: keySecret?.generation ?? -1,
    force: { renew: certificateSecret?.force ?? false, replace: keySecret?.force ?? false },
    bundles: targets.filter(({ isReachable }) => isReachable).map(({ bundle }) => bundle),
    trusters: world.nodes.flatMap((node): Truster[] => {
      if (isHidden(node)) return [{ name: node.name, trusts: 'unknown' }];
      return node.pod ? [{ name: node.name, trusts: node.pod.annotations.trusts }] : [];
    }),
    leaves: [
      ...world.nodes.map((node): SignedLeaf => ({
        name: node.name,
        held: targets[node.target]!.isReachable ? node.held : 'unknown',
        running: isHidden(node) ? 'unknown' : runningOf(node),
        wantedNames: node.names,
      })),
      { name: 'operator', held: world.operator, running: undefined, wantedNames: ['operator'] },
    ],
  };
}

function runningOf({ pod }: Node): SignedLeaf['running'] {
  const signedBy = pod?.annotations.leaf?.signedBy;
  return signedBy === undefined ? undefined : { signedBy };
}

/** Does what a step asks for, write by write, and no more writes than the operator lives for. */
function apply(world: World, step: Step, writes: number): void {
  const todo = writesOf(world, step);
  for (const write of todo.slice(0, writes)) write();
}

function writesOf(world: World, step: Step): (() => void)[] {
  const { keySecret, certificateSecret } = world;
  if (step.do === 'make key') {
    const former = keySecret ? [keySecret.key, ...keySecret.former] : [];
    const key = `key-${++world.serial}`;
    return [() => (world.keySecret = { key, former, generation: step.generation, force: false })];
  }
  if (step.do === 'make certificate') {
    const certificate = newAuthority(world, step.keyGeneration);
    const [former, generation] = [[...step.former], step.generation];
    return [() => (world.certificateSecret = { certificate, former, generation, force: false })];
  }
  if (step.do === 'remove') {
    const gone = new Set(step.authorities.map(({ thumbprint }) => thumbprint));
    return [
      () =>
        (certificateSecret!.former = certificateSecret!.former.filter((one) => !gone.has(one.thumbprint))),
      () => (keySecret!.former = keySecret!.former.filter((key) => !step.keys.includes(key))),
    ];
  }
  if (step.do === 'publish') {
    const reachable = world.targets.filter(({ isReachable }) => isReachable);
    return reachable.map((target) => () => (target.bundle = [...step.authorities]));
  }
  if (step.do !== 'sign') return [];
  noteWhoIsGivenUp(world);
  return step.leaves.map(
    ({ name }) =>
      () =>
        sign(world, step.authority, name),
  );
}

function newAuthority({ now, keySecret, serial }: World, generation: number): Authority {
  const [notBefore, notAfter] = [new Date(now - CLOCK_SKEW_MS), new Date(now + 100 * HOUR_MS)];
  const { key } = keySecret!;
  const thumbprint = `${key}-${now}-${serial}`;
  return {
    thumbprint,
    keyId: key,
    subject: `CN=cluster-ca v${generation},O=io.strimzi`,
    notBefore,
    notAfter,
  };
}

function sign(world: World, authority: Authority, name: string): void {
  assert.ok(authority.notAfter.getTime() > world.now, 'nothing is signed by an authority that has expired');
  const { key, former } = world.keySecret!;
  assert.ok([key, ...former].includes(authority.keyId), 'the key that signs is at hand');
  const end = Math.min(world.now + 100 * HOUR_MS, authority.notAfter.getTime());
  const node = world.nodes.find((node) => node.name === name);
  const leaf = {
    notBefore: new Date(world.now - CLOCK_SKEW_MS),
    notAfter: new Date(end),
    names: [...(node?.names ?? ['operator'])],
    signedBy: authority.keyId,
  };
  if (node) assert.ok(world.targets[node.target]!.isReachable, 'only what can be reached is written');
  if (node) node.held = leaf;
  else world.operator = leaf;
}

const trustsOf = (authorities: readonly Authority[]): Trust[] =>
  authorities.map(({ keyId, notAfter }) => ({ keyId, until: notAfter }));

/** Writes the annotations that new pods get, from what the Secrets have. */
function writeTemplate(world: World, node: Node): void {
  const { bundle, isReachable } = world.targets[node.target]!;
  if (isReachable) node.template = { trusts: trustsOf(bundle), leaf: node.held };
}

/** A pod that is made anew, by us or because a machine was lost: from the template, with what the Secrets have. */
function recreate(world: World, node: Node): void {
  if (!node.template?.leaf || node.template.trusts.length === 0) return;
  node.pod = { annotations: node.template, loaded: whatIsThere(world, node) };
}

/** A process that starts again in the same pod loads what is there, and nobody writes that down. */
function reload(world: World, node: Node): void {
  if (node.pod) node.pod.loaded = whatIsThere(world, node);
}

const whatIsThere = ({ targets }: World, { target, held }: Node): Facts => ({
  trusts: trustsOf(targets[target]!.bundle),
  leaf: held,
});

const isUpToDate = (world: World, node: Node) =>
  isDeepStrictEqual(node.pod?.annotations, whatIsThere(world, node));

/** Whether nobody can wait for a node, by what it has loaded, by what it said, or, where it cannot be asked, by what there is. */
function isLost(world: World, { target, pod }: Node): boolean {
  const known = [...(world.certificateSecret?.former ?? []), ...world.targets[0]!.bundle];
  const live = known.filter(({ notAfter }) => notAfter.getTime() > world.now);
  const oldest = live.toSorted((a, b) => a.notBefore.getTime() - b.notBefore.getTime())[0];
  const isEnding = (until: Date) => until.getTime() - lastCallMs({ policy: policyOf(world) }) <= world.now;
  return (
    pod!.loaded.trusts.every(({ until }) => isEnding(until)) ||
    pod!.annotations.trusts.every(({ until }) => isEnding(until)) ||
    (world.targets[target]!.isHidden && oldest !== undefined && isEnding(oldest.notAfter))
  );
}

function noteWhoIsGivenUp(world: World): void {
  for (const node of world.nodes) node.isGivenUp ||= node.pod !== undefined && isLost(world, node);
}

/** Everybody trusts what everybody presents; except whom nobody could wait for. */
function check(world: World): void {
  const current = world.keySecret?.key;
  for (const node of world.nodes)
    if (node.pod?.loaded.trusts.some(({ keyId }) => keyId === current)) node.isGivenUp = false;
  const running = world.nodes.filter(({ pod }) => pod);
  const presented = [
    { name: 'operator', leaf: world.operator },
    ...running.map(({ name, pod }) => ({ name, leaf: pod!.loaded.leaf })),
  ].filter(({ leaf }) => leaf && leaf.notAfter.getTime() > world.now);
  const trusters = [
    ...running
      .filter((node) => !isLost(world, node) && !node.isGivenUp)
      .map(({ name, pod }) => ({ name, trusts: pod!.loaded.trusts })),
    { name: 'operator', trusts: trustsOf(world.targets[0]!.bundle) },
  ];
  for (const { name, trusts } of trusters)
    for (const { name: other, leaf } of presented)
      assert.ok(
        trusts.some(({ keyId, until }) => keyId === leaf!.signedBy && until.getTime() > world.now),
        `${name} does not trust ${leaf!.signedBy}, which signed what ${other} presents`,
      );
}

const id = fc.nat(5);
const action = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ act: fc.constant('step'), writes: fc.constantFrom(0, 1, 2, 4, 99, 99) }),
  },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('template', 'recreate', 'reload'), id }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant('roll'), id }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('go on', 'roll all') }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('time'), hours: fc.integer({ min: 1, max: 20 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant('reach'), isReachable: fc.boolean(), isHidden: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constantFrom('replace', 'renew', 'rename', 'add', 'window') }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('lose key', 'lose certificate') }) },
);
type Action = {
  act: string;
  writes?: number;
  id?: number;
  hours?: number;
  isReachable?: boolean;
  isHidden?: boolean;
};

/** Kinds of steps that runs came by. */
const seen = new Set<string>();

function perform(world: World, { act, ...how }: Action): void {
  const node = world.nodes[(how.id ?? 0) % world.nodes.length]!;
  if (act === 'step') {
    const step = renewalStep(observe(world));
    seen.add(step.do);
    apply(world, step, how.writes!);
    check(world);
  }
  if (act === 'template' || act === 'roll') writeTemplate(world, node);
  if (act === 'recreate' || act === 'roll') recreate(world, node);
  if (act === 'go on') for (let writes = 0; writes < 5; writes++) perform(world, { act: 'step', writes: 99 });
  if (act === 'roll all') for (const id of world.nodes.keys()) perform(world, { act: 'roll', id });
  if (act === 'reload') reload(world, node);
  if (act === 'time') world.now += how.hours! * HOUR_MS;
  if (act === 'reach')
    Object.assign(world.targets[1]!, { isReachable: how.isReachable, isHidden: how.isHidden });
  if (act === 'replace' && world.keySecret) world.keySecret.force = true;
  if (act === 'renew' && world.certificateSecret) world.certificateSecret.force = true;
  if (act === 'rename') world.nodes[0]!.names = [`name-${world.now}`];
  if (act === 'add' && world.nodes.length < 6)
    world.nodes.push(newNode(world.nodes.length, world.nodes.length % 2));
  if (act === 'window') world.isOpen = !world.isOpen;
  if (act === 'lose key') world.keySecret = undefined;
  if (act === 'lose certificate') world.certificateSecret = undefined;
}

/** Lets everything be reached and rolled until nothing is left to do. */
function settle(world: World): void {
  world.isOpen = true;
  world.targets[1]!.isReachable = true;
  world.targets[1]!.isHidden = false;
  for (let round = 0; round < 60; round++) {
    const step = renewalStep(observe(world));
    assert.notEqual(step.do, 'blocked', JSON.stringify(step));
    apply(world, step, 99);
    check(world);
    const outdated = world.nodes.filter((node) => !isUpToDate(world, node));
    if (step.do === 'nothing' && outdated.length === 0) return;
    for (const node of step.do === 'wait' || step.do === 'nothing' ? outdated : []) {
      writeTemplate(world, node);
      recreate(world, node);
      check(world);
    }
  }
  assert.fail(`is not over: ${JSON.stringify(renewalStep(observe(world)))}`);
}

test('property: whatever happens, everybody trusts what everybody presents, and it comes to an end', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('renew-certificate' as const, 'replace-key' as const),
      fc.array(action, { minLength: 20, maxLength: 80, size: 'max' }),
      (onExpiry, actions) => {
        const world = newWorld(onExpiry);
        settle(world);
        for (const one of actions) {
          perform(world, one);
          check(world);
        }
        settle(world);
        const { certificate, former } = world.certificateSecret!;
        assert.deepEqual([former, world.keySecret!.former], [[], []]);
        for (const { bundle } of world.targets) assert.deepEqual(bundle, [certificate]);
        for (const { held, pod } of world.nodes)
          assert.deepEqual([held!.signedBy, pod!.loaded.leaf], [certificate.keyId, held]);
      },
    ),
    { numRuns: 400 },
  );
  // That a run came by all of them says that the world above is able to find fault.
  const all = ['make key', 'make certificate', 'remove', 'publish', 'sign', 'wait', 'nothing'];
  assert.deepEqual(
    all.filter((step) => !seen.has(step)),
    [],
  );
});

test('where pods are rolled within an hour, nothing ever expires in use, for years, and in time of peace nothing is written', () => {
  for (const onExpiry of ['renew-certificate', 'replace-key'] as const) {
    const world = newWorld(onExpiry);
    settle(world);
    let steps = 0;
    for (let hour = 0; hour < 2000; hour++) {
      world.now += HOUR_MS;
      const step = renewalStep(observe(world));
      if (step.do === 'nothing') assert.ok(step.until.getTime() > world.now);
      else {
        steps += 1;
        settle(world);
      }
      check(world);
      for (const { pod } of world.nodes) assert.ok(pod!.loaded.leaf!.notAfter.getTime() > world.now);
    }
    // The authority once in 70 hours, and what it signed within.
    assert.ok(
      steps >= 2000 / 70 - 1 && steps <= (2 * 2000) / 70 + 1,
      `${steps} times something was to be done`,
    );
  }
});
