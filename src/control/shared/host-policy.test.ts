import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { AnyObject } from '../../kube/object.ts';
import { mayClaim, namespaceOf, policiesSeen, readNamePolicies } from './name-policy.ts';
import { createHostPolicy } from './host-policy.ts';

const NODE = '$(nodeId)';

const policy = (spec: object, name = 'policy'): AnyObject => ({
  apiVersion: 'isthmus.dev/v1alpha1',
  kind: 'NamePolicy',
  metadata: { name },
  spec,
});

function hostPolicy(...objects: AnyObject[]) {
  const { policies: namePolicies, unreadable: unreadablePolicies } = readNamePolicies(objects);
  return createHostPolicy('one', {
    namePolicies,
    unreadablePolicies,
    namespaceLabels: {},
    grantsBeside: [],
  });
}

const hosts = (brokers: string, bootstrap = 'boot.elsewhere') => ({
  ingress: 'in',
  bootstrap,
  brokers,
  count: 4,
});
const everywhere = { namespaces: {} };

suite('host names by policy', () => {
  test('a domain that has one node id in it is not that of all brokers', () => {
    const one = hostPolicy(policy({ zone: 'example.test', domains: ['0.example.test'], ...everywhere }));
    assert.equal(one.faultOf(hosts(`${NODE}.example.test`), false)?.reason, 'HostNameNotAllowed');
    assert.equal(one.faultOf(hosts(`b-${NODE}.0.example.test`), false), undefined);
  });

  test('a closed zone that has one node id in it is part of what a pattern claims', () => {
    const zone = hostPolicy(policy({ zone: '17.example.test' }));
    const fault = zone.faultOf(hosts(`${NODE}.example.test`), false);
    assert.match(fault?.message ?? '', /^the host name 17\.example\.test is in the zone 17\.example\.test/);
    assert.equal(zone.faultOf(hosts(`b-${NODE}.example.test`), false), undefined);
    assert.ok(hostPolicy(policy({ zone: 'b117.test' })).faultOf(hosts(`b1${NODE}.test`), false));
  });

  test('a pattern may be had just where all its names may be', () => {
    const label = fc.constantFrom('0', '1', '12', 'b', 'b1', 'b12');
    const domain = fc
      .array(label, { minLength: 1, maxLength: 3 })
      .map((labels) => [...labels, 't'].join('.'));
    const before = fc.constantFrom('', 'b', 'b1', 'b.', '1.', 'B');
    const after = fc.constantFrom('.t', '.0.t', '.b1.t', '2.t');
    const some = fc.array(fc.record({ zone: domain, isWide: fc.boolean() }), { maxLength: 3 });
    fc.assert(
      fc.property(some, before, after, (zones, start, end) => {
        const objects = zones.map(({ zone, isWide }, at) =>
          policy({ zone, ...(isWide && everywhere) }, `p${at}`),
        );
        const isFine = hostPolicy(...objects).faultOf(hosts(start + NODE + end), false) === undefined;
        const { policies } = readNamePolicies(objects);
        const claimant = { namespace: namespaceOf('one', {}) };
        const names = Array.from({ length: 150 }, (_, id) => `${start}${id}${end}`.toLowerCase());
        assert.equal(
          isFine,
          names.every((name) => mayClaim(policies, { name, claimant }).allowed),
        );
      }),
    );
  });

  test('where a policy cannot be read its zone is closed to all but those who were granted their names', () => {
    const broken = policy({ zone: 'example.test', namespaces: { matchLabels: 1 } }, 'broken');
    const inside = hosts(`${NODE}.example.test`, 'boot.example.test');
    const closed = hostPolicy(broken);
    assert.equal(closed.faultOf(inside, true), undefined);
    assert.match(
      closed.faultOf(inside, false)?.message ?? '',
      /^the host name boot.example.test is granted to nobody new for as long as NamePolicy "broken" cannot be read: spec\.namespaces/,
    );
    assert.equal(closed.faultOf(hosts(`${NODE}.other.test`), false), undefined);
    const beside = policy({ zone: 'example.test', ...everywhere });
    assert.equal(hostPolicy(broken, beside).faultOf(inside, false), undefined, 'another one allows it');
    const nowhere = hostPolicy(policy({ zone: 7 }));
    assert.ok(nowhere.faultOf(hosts(`${NODE}.other.test`), false), 'nobody knows what it was to close');
  });

  test('policies that cannot be read close every zone to who is new, and keep what was granted', () => {
    const seen = policiesSeen([policy({ zone: 'example.test', ...everywhere })], true);
    const unread = createHostPolicy('one', { ...seen, namespaceLabels: {}, grantsBeside: [] });
    const elsewhere = hosts(`${NODE}.elsewhere`);
    assert.match(unread.faultOf(elsewhere, false)?.message ?? '', /cannot read NamePolicies/);
    assert.equal(unread.faultOf(elsewhere, true), undefined);
    assert.equal(policiesSeen([], false).unreadablePolicies.length, 0);
  });
});
