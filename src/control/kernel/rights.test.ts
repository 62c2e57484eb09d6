import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { rightsOf, rulesOf } from './rights.ts';
import { builtIn, core } from './watches.ts';
import type { View, WatchTable } from './watches.ts';

interface Views {
  read: View;
  made: View;
  same: View;
  told: View;
  touched: View;
}

const TABLE: WatchTable<Views> = {
  read: { kind: core('Secret', 'secrets') },
  made: { kind: builtIn('apps', 'Deployment', 'deployments'), owned: true },
  same: { kind: core('Secret', 'secrets'), owned: true, labelSelector: 'mine' },
  told: { kind: builtIn('example.com', 'Thing', 'things'), writesStatus: true },
  touched: { kind: { ...core('Node', 'nodes'), scope: 'Cluster' }, verbs: ['patch'] },
};

const OWN = ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'];

suite('rights', () => {
  test('come from what a row says, and from nothing else', () => {
    assert.deepEqual(rulesOf(rightsOf(TABLE)), [
      { apiGroups: [''], resources: ['secrets'], verbs: OWN },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: OWN },
      { apiGroups: ['example.com'], resources: ['things'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['example.com'], resources: ['things/status'], verbs: ['patch'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch', 'patch'] },
    ]);
  });

  test('say which kinds are in no namespace', () => {
    const clusterScoped = rightsOf(TABLE).filter(({ scope }) => scope === 'Cluster');
    assert.deepEqual(
      clusterScoped.map(({ resource }) => resource),
      ['nodes'],
    );
  });
});
