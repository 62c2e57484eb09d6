import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Manifest } from '../install/objects.ts';
import type { PolicyRule } from '../kernel/rights.ts';
import { joinManifests, JOINED_BY_LABEL } from './manifests.ts';
import type { JoinOptions } from './manifests.ts';

const OPTIONS: JoinOptions = {
  joinedBy: '1a2b3c4d',
  namespace: 'isthmus-system',
  roads: ['stretch', 'discover'],
  kafkaNamespaces: ['kafka', 'other'],
  reach: 'pods',
  isLongLived: false,
  podSetImage: 'isthmus:1',
  readsNodes: true,
};

const rulesIn = (manifests: readonly Manifest[], kind: string) =>
  manifests.filter((one) => one.kind === kind).flatMap((one) => one['rules'] as PolicyRule[]);

suite('what a join makes in the other cluster', () => {
  test('all of it says who has made it, and nothing is there twice', () => {
    const manifests = joinManifests(OPTIONS);
    for (const { metadata } of manifests) assert.equal(metadata.labels?.[JOINED_BY_LABEL], '1a2b3c4d');
    const names = manifests.map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`,
    );
    assert.deepEqual(names, [...new Set(names)]);
    assert.ok(!names.some((name) => name.startsWith('Namespace')));
  });

  test('for stretched Kafkas nothing may be written outside of their namespaces, and no Secret read', () => {
    const manifests = joinManifests({ ...OPTIONS, roads: ['stretch'] });
    const everywhere = rulesIn(manifests, 'ClusterRole');
    assert.ok(everywhere.length > 0);
    for (const { apiGroups, resources, verbs } of everywhere)
      assert.deepEqual([apiGroups, resources, verbs], [[''], ['nodes'], ['list', 'watch']]);
    const roles = manifests.filter(({ kind }) => kind === 'Role');
    const places = (some: Manifest[]) => [...new Set(some.map(({ metadata }) => metadata.namespace))];
    assert.deepEqual(places(roles), ['kafka', 'other', 'isthmus-system']);
    const withSecrets = roles.filter((role) =>
      rulesIn([role], 'Role').some(({ resources }) => resources.includes('secrets')),
    );
    assert.deepEqual(places(withSecrets), ['kafka', 'other']);
  });

  test('to look from there pods may be made in a namespace of our own, and nothing else be done', () => {
    const manifests = joinManifests({ ...OPTIONS, roads: ['probe'], podSetImage: undefined });
    assert.deepEqual(rulesIn(manifests, 'ClusterRole'), []);
    const roles = manifests.filter(({ kind }) => kind === 'Role');
    assert.deepEqual([...new Set(roles.map(({ metadata }) => metadata.namespace))], ['isthmus-system']);
    const [looking, renewing, ...more] = rulesIn(manifests, 'Role');
    assert.deepEqual(looking, { apiGroups: [''], resources: ['pods'], verbs: ['get', 'create', 'delete'] });
    assert.deepEqual([renewing?.resources, more], [['serviceaccounts/token'], []]);
  });

  test('for discovery nothing is written at all but its own token', () => {
    const manifests = joinManifests({ ...OPTIONS, roads: ['discover'], podSetImage: undefined });
    assert.ok(rulesIn(manifests, 'ClusterRole').length > 0);
    for (const rule of rulesIn(manifests, 'ClusterRole')) assert.deepEqual(rule.verbs, ['list', 'watch']);
    const [rule, ...more] = rulesIn(manifests, 'Role');
    assert.deepEqual(more, []);
    assert.deepEqual(rule?.resourceNames, ['isthmus-joined-1a2b3c4d']);
    const byNodes = rulesIn(
      joinManifests({ ...OPTIONS, roads: ['discover'], podSetImage: undefined, reach: 'nodes' }),
      'ClusterRole',
    );
    assert.ok(byNodes.some(({ resources }) => resources.includes('nodes')));
  });

  test('no rule has a star', () => {
    const manifests = joinManifests(OPTIONS);
    for (const { apiGroups, resources, verbs } of [
      ...rulesIn(manifests, 'Role'),
      ...rulesIn(manifests, 'ClusterRole'),
    ])
      assert.ok(![...apiGroups, ...resources, ...verbs].some((word) => word.includes('*')));
  });

  test('a token that never ends needs no right to renew it', () => {
    const manifests = joinManifests({
      ...OPTIONS,
      roads: ['discover'],
      podSetImage: undefined,
      isLongLived: true,
    });
    assert.deepEqual(rulesIn(manifests, 'Role'), []);
    const secret = manifests.find(({ kind }) => kind === 'Secret');
    assert.equal(secret?.['type'], 'kubernetes.io/service-account-token');
    assert.deepEqual(secret?.metadata.annotations, {
      'kubernetes.io/service-account.name': 'isthmus-joined-1a2b3c4d',
    });
  });
});
