import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyObject } from '../../kube/object.ts';
import { namePolicy } from '../../resources/isthmus/name-policy.ts';
import { read } from '../kernel/read.ts';
import { createHostIndex } from './host-index.ts';
import { addPublished } from './published-names.ts';

const dnsEndpoint = (namespace: string, ...names: unknown[]): AnyObject => ({
  apiVersion: 'externaldns.k8s.io/v1alpha1',
  kind: 'DNSEndpoint',
  metadata: { name: 'x', namespace },
  spec: { endpoints: names.map((dnsName) => ({ dnsName, recordType: 'A', targets: ['192.0.2.1'] })) },
});

const OPEN = { namePolicies: [], unreadablePolicies: [] };

test('names of records are taken, also where they are among those that a pattern stands for', () => {
  const index = addPublished(
    createHostIndex(),
    [dnsEndpoint('sales', '7.Kafka.test', 'a.test')],
    OPEN,
    () => ({}),
  );
  assert.match(index.find('$(nodeId).kafka.test')?.holder ?? '', /DNSEndpoint "x" in namespace "sales"/);
  assert.equal(index.find('a.test')?.host, 'a.test');
  assert.equal(index.find('b.test'), undefined);
});

test('what was granted comes before them, and what was not comes after', () => {
  const rank = addPublished(createHostIndex(), [dnsEndpoint('sales', 'a.test')], OPEN, () => ({})).find(
    'a.test',
  )!.rank;
  assert.ok('0 9999-12-31T00:00:00Z n/a' < rank && rank < '1 1970-01-01T00:00:00Z');
});

test('a namespace that may not have a name does not keep it from others by writing it down', () => {
  const policy = read(namePolicy, {
    apiVersion: 'isthmus.dev/v1alpha1',
    kind: 'NamePolicy',
    metadata: { name: 'p' },
    spec: { zone: 'test', namespaces: { matchLabels: { team: 'a' } } },
  } as AnyObject).resource!;
  const policies = { namePolicies: [policy], unreadablePolicies: [] };
  const labelsOf = (namespace: string) => ({ team: namespace });
  const taken = (namespace: string) =>
    addPublished(createHostIndex(), [dnsEndpoint(namespace, 'k.test')], policies, labelsOf).find('k.test');
  assert.equal(taken('b'), undefined);
  assert.ok(taken('a'));
});

test('an object that nobody could mean takes nothing', () => {
  const some = [null, 7, {}, { dnsName: 7 }, { dnsName: null }];
  const broken = [
    undefined,
    null,
    {},
    { endpoints: 'x' },
    { endpoints: [...some, { dnsName: 'good.test' }] },
  ];
  const objects = broken.map((spec) => ({ ...dnsEndpoint('n'), spec }));
  const index = addPublished(createHostIndex(), objects, OPEN, () => ({}));
  for (const name of ['7', '$(nodeId)', 'x', 'null', 'undefined', ''])
    assert.equal(index.find(name), undefined, name);
  assert.ok(index.find('good.test'), 'and keeps nothing from what stands beside it');
});
