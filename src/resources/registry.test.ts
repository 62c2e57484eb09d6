import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { crdName } from './crd.ts';
import { ROADS } from './kind.ts';
import { FOREIGN_PROJECTS, KINDS, findKind, kindsToInstall } from './registry.ts';

suite('registry', () => {
  test('finds a kind by any of its versions, and nothing else', () => {
    for (const kind of KINDS) {
      for (const version of kind.versions)
        assert.equal(findKind(`${kind.group}/${version}`, kind.kind), kind);
    }
    assert.equal(findKind('kafka.strimzi.io/v1alpha1', 'Kafka'), undefined);
  });

  test('no two kinds claim one name', () => {
    const names = KINDS.map(crdName);
    assert.equal(new Set(names).size, names.length);
    const shortNames = KINDS.filter(({ install }) => install === 'default').flatMap(
      (kind) => kind.shortNames,
    );
    assert.equal(new Set(shortNames).size, shortNames.length);
  });

  test('installs ours only, unless asked for those of other projects', () => {
    const kinds = (...args: Parameters<typeof kindsToInstall>) =>
      kindsToInstall(...args).map(({ kind }) => kind);
    assert.deepEqual(kinds(['expose', 'stretch']), ['NamePolicy', 'KafkaAnchor', 'RedpandaAnchor']);
    assert.deepEqual(kinds(['discover']), ['NamePolicy']);
    assert.deepEqual(kinds(['proxy', 'discover']), [
      'KafkaProxy',
      'KafkaProxyIngress',
      'VirtualKafkaCluster',
      'KafkaClusterRef',
      'KafkaProtocolFilter',
      'NamePolicy',
    ]);
    assert.deepEqual(kinds(['discover'], FOREIGN_PROJECTS), [
      'NamePolicy',
      'DNSEndpoint',
      'ServiceExport',
      'ServiceImport',
    ]);
    assert.deepEqual(kinds(['stretch'], ['strimzi']), [
      'KafkaAnchor',
      'Kafka',
      'KafkaNodePool',
      'StrimziPodSet',
      'KafkaTopic',
      'KafkaUser',
    ]);
    assert.ok(!kinds(['proxy'], FOREIGN_PROJECTS).includes('Gateway'));
  });

  test('every kind that may be installed on request is of a project that can be asked for', () => {
    const asked = kindsToInstall(ROADS, FOREIGN_PROJECTS);
    assert.deepEqual(
      KINDS.filter((kind) => kind.install !== 'never' && !asked.includes(kind)),
      [],
    );
  });
});
