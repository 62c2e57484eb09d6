import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterWith } from '../../../../test/support/brokers/models.ts';
import type { Exposure } from '../model/cluster.ts';
import { networkPolicy } from './services.ts';

const OPERATOR = { namespace: 'isthmus', labels: { app: 'isthmus' } };
const PEER = { podSelector: { matchLabels: { app: 'shop' } } };

const EXPOSURE: Exposure = {
  by: 'hostport',
  strategy: 'reserve',
  addressType: undefined,
  port: 30_001,
  hostPattern: undefined,
  allowedSources: [],
};

function sourcesOf(
  tls: boolean,
  networkPolicyPeers: object[] | undefined,
  exposure?: Exposure,
): object[] | undefined {
  const listener = {
    name: 'tls',
    port: 9093,
    tls,
    authentication: 'none',
    networkPolicyPeers,
    alternativeNames: [],
    exposure,
  } as const;
  const { spec } = networkPolicy(clusterWith({ listeners: [listener] }), OPERATOR, []) as unknown as {
    spec: { ingress: { ports: { port: number }[]; from?: object[] }[] };
  };
  return spec.ingress.find(({ ports }) => ports[0]?.port === 9093)?.from;
}

test('the operator gets through to listeners whose certificates it looks at, and nobody else is let in or kept out', () => {
  const operator = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'isthmus' } },
    podSelector: { matchLabels: OPERATOR.labels },
  };
  assert.deepEqual(sourcesOf(true, [PEER]), [PEER, operator]);
  assert.deepEqual(sourcesOf(false, [PEER]), [PEER]);
  assert.deepEqual(sourcesOf(false, [PEER], EXPOSURE), [PEER, operator], 'which it probes');
  assert.equal(sourcesOf(true, undefined), undefined);
  assert.deepEqual(sourcesOf(true, []), [], 'which is everybody');
});
