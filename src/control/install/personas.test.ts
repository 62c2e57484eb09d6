import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ROADS } from '../../resources/kind.ts';
import { kindsToInstall } from '../../resources/registry.ts';
import { ADMIN_KINDS, DEVELOPER_KINDS, OPERATOR_KINDS, personaManifests } from './personas.ts';

suite('personas', () => {
  test('every kind of ours, and of the clusters that we run, is somebody’s', () => {
    const names = [...ADMIN_KINDS, ...DEVELOPER_KINDS, ...OPERATOR_KINDS].map(({ kind }) => kind);
    assert.deepEqual(
      names.toSorted(),
      kindsToInstall(ROADS, ['strimzi', 'redpanda'])
        .map(({ kind }) => kind)
        .toSorted(),
    );
  });

  const rulesOf = (persona: string) =>
    personaManifests().find(({ metadata }) => metadata.name === persona)!['rules'] as {
      apiGroups: string[];
      resources: string[];
      verbs: string[];
    }[];

  test('who administers the clusters sets free what anchors keep, and nobody writes one', () => {
    const read = ['get', 'list', 'watch'];
    const verbsOf = (persona: string, kind: string) =>
      rulesOf(persona).flatMap(({ resources, verbs }) => (resources.includes(kind) ? verbs : []));
    for (const anchor of ['kafkaanchors', 'redpandaanchors']) {
      assert.deepEqual(verbsOf('isthmus-admin', anchor), [...read, 'delete']);
      for (const persona of ['isthmus-viewer', 'isthmus-developer'])
        assert.deepEqual(verbsOf(persona, anchor), read);
    }
    assert.deepEqual(verbsOf('isthmus-admin', 'strimzipodsets'), read);
  });

  test('who administers the proxies also says which Redpanda clusters there are', () => {
    const verbsOf = (persona: string) =>
      rulesOf(persona).flatMap(({ apiGroups, verbs }) =>
        apiGroups.includes('redpanda.vectorized.io') ? verbs : [],
      );
    assert.ok(verbsOf('isthmus-admin').includes('create'));
    assert.deepEqual(verbsOf('isthmus-developer'), ['get', 'list', 'watch']);
  });

  test('no rule has a wildcard, a status, or anything but kinds that we serve', () => {
    for (const { rules } of personaManifests()) {
      for (const { apiGroups, resources, verbs } of rules as Record<string, string[]>[]) {
        assert.ok(
          apiGroups!.every((group) =>
            /^((filter\.)?kroxylicious\.io|isthmus\.dev|(kafka|core)\.strimzi\.io|redpanda\.vectorized\.io)$/.test(
              group,
            ),
          ),
        );
        assert.doesNotMatch([...resources!, ...verbs!].join(), /\*|\/status/);
      }
    }
  });
});
