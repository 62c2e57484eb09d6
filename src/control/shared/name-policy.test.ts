import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { namePolicy } from '../../resources/isthmus/name-policy.ts';
import type { NamePolicy } from '../../resources/isthmus/name-policy.ts';
import { parseAs } from '../../resources/parse.ts';
import { mayClaim, namespaceOf } from './name-policy.ts';
import type { NameClaim } from './name-policy.ts';

function policy(name: string, spec: object): NamePolicy {
  const document = { apiVersion: 'isthmus.dev/v1alpha1', kind: 'NamePolicy', metadata: { name }, spec };
  const parsed = parseAs(namePolicy, document, { unknownFields: 'refuse' });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return parsed.resource;
}

const inNamespace = (namespace: string) => ({
  matchLabels: { 'kubernetes.io/metadata.name': namespace },
});
const claim = (name: string, namespace: string, labels = {}): NameClaim => ({
  name,
  claimant: { namespace: namespaceOf(namespace, labels) },
});

suite('NamePolicy', () => {
  const teamA = policy('team-a', {
    zone: 'example.test',
    domains: ['a.example.test'],
    namespaces: inNamespace('team-a'),
  });

  test('a zone without one is open', () => {
    assert.deepEqual(mayClaim([], claim('foo.example.test', 'x')), { allowed: true, by: undefined });
    assert.deepEqual(mayClaim([teamA], claim('foo.other.test', 'x')), { allowed: true, by: undefined });
    assert.ok(mayClaim([teamA], claim('notexample.test', 'x')).allowed);
  });

  test('a wildcard and a delegation are nobody’s in an open zone either', () => {
    assert.deepEqual(mayClaim([], claim('*.example.test', 'x')), {
      allowed: false,
      problem:
        '*.example.test is a wildcard, for which namespace "x" needs a NamePolicy with wildcards: true',
    });
    assert.ok(!mayClaim([], { ...claim('cut.example.test', 'x'), isDelegation: true }).allowed);
  });

  test('a zone with any allows what they allow, and says what is missing', () => {
    assert.deepEqual(mayClaim([teamA], claim('foo.a.example.test', 'team-a')), { allowed: true, by: teamA });
    assert.ok(mayClaim([teamA], claim('a.example.test', 'team-a')).allowed);
    assert.ok(!mayClaim([teamA], claim('foo.a.example.test', 'team-b')).allowed);
    assert.deepEqual(mayClaim([teamA], claim('b.example.test', 'team-a')), {
      allowed: false,
      problem:
        'b.example.test is in the zone example.test, and no NamePolicy for it lets namespace "team-a" have this name; one with it in domains is needed',
    });
  });

  test('wildcards and delegations are asked for', () => {
    const wild = claim('*.a.example.test', 'team-a');
    assert.deepEqual(mayClaim([teamA], wild), {
      allowed: false,
      problem: '*.a.example.test needs wildcards: true in NamePolicy "team-a"',
    });
    const open = policy('open', { ...teamA.spec, wildcards: true, delegations: true });
    assert.ok(mayClaim([teamA, open], wild).allowed);
    const cut = { ...claim('cut.a.example.test', 'team-a'), isDelegation: true };
    assert.ok(!mayClaim([teamA], cut).allowed);
    assert.ok(mayClaim([open], cut).allowed);
  });

  test('other clusters need to be named; an imported Service needs both', () => {
    const east = policy('east', { zone: 'example.test', clusters: ['east'] });
    const both = policy('both', { zone: 'example.test', clusters: ['*'], namespaces: {} });
    const of = (clusters: string[], namespace?: string): NameClaim => ({
      name: 'foo.example.test',
      claimant: { clusters, ...(namespace !== undefined && { namespace: namespaceOf(namespace, {}) }) },
    });
    assert.ok(mayClaim([east], of(['east'])).allowed);
    assert.ok(mayClaim([east], of(['west', 'east'])).allowed);
    assert.ok(!mayClaim([east], of(['west'])).allowed);
    assert.ok(!mayClaim([east], of([])).allowed);
    assert.ok(!mayClaim([east], of(['east'], 'team-a')).allowed);
    assert.ok(mayClaim([both], of(['east'], 'team-a')).allowed);
    assert.ok(!mayClaim([east], claim('foo.example.test', 'team-a')).allowed, 'it names no namespaces');
  });

  test('nobody calls a namespace by another name', () => {
    const labels = { 'kubernetes.io/metadata.name': 'team-a' };
    assert.ok(!mayClaim([teamA], claim('foo.a.example.test', 'team-b', labels)).allowed);
  });

  test('a further policy for a zone only ever allows more, and one for another zone changes nothing', () => {
    const domain = fc.constantFrom('example.test', 'a.example.test', 'b.a.example.test');
    const some = fc.record({
      zone: domain,
      team: fc.constantFrom('team-a', 'team-b'),
      wildcards: fc.boolean(),
    });
    const make = ({ zone, team, wildcards }: { zone: string; team: string; wildcards: boolean }) =>
      policy(team, { zone, wildcards, namespaces: inNamespace(team) });
    const name = fc.constantFrom('foo.example.test', 'foo.a.example.test', '*.a.example.test', 'x.test');
    fc.assert(
      fc.property(fc.array(some, { minLength: 1, maxLength: 4 }), some, name, (given, more, claimed) => {
        const before = given.map(make);
        const one = claim(claimed, 'team-a');
        const was = mayClaim(before, one);
        const now = mayClaim([...before, make(more)], one);
        if (was.allowed && was.by) assert.ok(now.allowed);
        if (!claimed.endsWith(more.zone)) assert.deepEqual(now, was);
      }),
    );
  });
});
