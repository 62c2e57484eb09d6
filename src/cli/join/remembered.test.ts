import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { joinedKubeconfig, joinedSecret } from '../../control/join/secret.ts';
import type { SecretOptions } from '../../control/join/secret.ts';
import { rememberedFlags } from './remembered.ts';

const server = 'https://east.example.com:6443';
const kubeconfig = joinedKubeconfig(
  { server, tls: { insecure: false } },
  { cluster: 'east', token: 'a.b.c', namespace: 'kafka' },
);
const OPTIONS: SecretOptions = {
  cluster: 'east',
  clusterUid: 'uid',
  namespace: 'isthmus-system',
  roads: ['stretch'],
  kafkaNamespaces: ['kafka', 'other'],
  reach: undefined,
  account: { namespace: 'isthmus-system', name: 'isthmus-joined-1', lifetimeSeconds: 3600 },
  kubeconfig,
};

suite('what an earlier join was told', () => {
  test('is in the Secret', () => {
    assert.deepEqual(rememberedFlags(joinedSecret(OPTIONS)), {
      roads: ['stretch'],
      kafkaNamespaces: ['kafka', 'other'],
      server,
      tokenLifetime: 3600,
    });
    const other = joinedSecret({ ...OPTIONS, roads: ['discover'], reach: 'nodes', account: undefined });
    assert.deepEqual(rememberedFlags(other), {
      roads: ['discover'],
      server,
      reach: 'nodes',
      longLived: true,
    });
  });

  test('is nothing where there is none, or none that can be read', () => {
    assert.deepEqual(rememberedFlags(undefined), {});
    assert.deepEqual(rememberedFlags({ ...joinedSecret(OPTIONS), data: {} }), {});
  });
});
