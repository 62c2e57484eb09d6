import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { amountOf } from '../../../resources/common/quantity.ts';
import { fitsInPlaceOf } from './quota.ts';

const refusal = (requested: string, used: string, limited: string) =>
  `pods "events-dual-1" is forbidden: exceeded quota: small, requested: ${requested}, used: ${used}, limited: ${limited}`;

const container = (cpu: string, memory: string) => ({
  resources: { requests: { cpu, memory }, limits: { memory } },
});
const FORMER = { containers: [container('500m', '1Gi')], initContainers: [container('250m', '64Mi')] };

suite('quotas that a new pod would exceed', () => {
  test('have room for it where the former one had as much', () => {
    for (const [requested, used, limited] of [
      ['pods=1', 'pods=3', 'pods=3'],
      ['requests.cpu=500m', 'requests.cpu=1500m', 'requests.cpu=1500m'],
      ['cpu=600m', 'cpu=2', 'cpu=2100m'],
      ['limits.memory=1Gi,pods=1', 'limits.memory=3Gi,pods=3', 'limits.memory=3Gi,pods=3'],
      ['requests.memory=1Gi', 'requests.memory=3145728Ki', 'requests.memory=3221225472'],
    ] as const)
      assert.ok(fitsInPlaceOf(FORMER, refusal(requested, used, limited)), requested);
  });

  test('have none for more than that', () => {
    for (const [requested, used, limited] of [
      ['pods=1', 'pods=4', 'pods=3'],
      ['requests.cpu=2', 'requests.cpu=1500m', 'requests.cpu=2'],
      ['limits.memory=2Gi,pods=1', 'limits.memory=3Gi,pods=3', 'limits.memory=3Gi,pods=3'],
      ['requests.ephemeral-storage=1Gi', 'requests.ephemeral-storage=1Gi', 'requests.ephemeral-storage=1Gi'],
    ] as const)
      assert.ok(!fitsInPlaceOf(FORMER, refusal(requested, used, limited)), requested);
  });

  test('count init containers, those that go on running, and what the runtime takes', () => {
    const spec = {
      containers: [container('100m', '1Mi')],
      initContainers: [container('300m', '1Mi'), { ...container('50m', '1Mi'), restartPolicy: 'Always' }],
      overhead: { cpu: '10m' },
    };
    const asked = (cpu: string) => refusal(`requests.cpu=${cpu}`, 'requests.cpu=1', 'requests.cpu=1');
    assert.ok(fitsInPlaceOf(spec, asked('310m')));
    assert.ok(!fitsInPlaceOf(spec, asked('311m')));
  });

  test('that cannot be read, and other refusals, are what they say', () => {
    const other = 'violates PodSecurity "baseline:latest": hostPort';
    for (const message of [other, 'exceeded quota: small', refusal('pods=x', 'pods=1', 'pods=1'), ''])
      assert.ok(!fitsInPlaceOf(FORMER, message), message);
  });

  test('amounts as Kubernetes writes them', () => {
    const written = ['2', '250m', '1.5', '1Gi', '1k', '3e2', '12E', '500u', 7];
    assert.deepEqual(written.map(amountOf), [2, 0.25, 1.5, 2 ** 30, 1000, 300, 12e18, 0.0005, 7]);
    assert.deepEqual(['', 'x', '1x', '-1', '1 Gi'].map(amountOf), [undefined, undefined, undefined, undefined, undefined]); // prettier-ignore
  });
});
