/** What a pod that probes from another cluster is given, and what is taken from it. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { probePodState } from '../../control/shared/probe-pod.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { ProbedCluster } from '../../probe/probed.ts';
import { packReport, unpackReport } from './report.ts';
import { vantagePod, vantageSecret } from './vantage.ts';
import type { Vantage } from './vantage.ts';

const VANTAGE: Vantage = {
  name: 'isthmus-probe-1',
  namespace: 'n',
  image: 'i',
  bootstrap: [{ host: 'a.example.com', port: 9092 }, { host: '2001:db8::1', port: 9093 }], // prettier-ignore
  flags: { timeout: 5, output: 'table', fromNamespace: 'n', saslMechanism: 'PLAIN', user: 'alice' },
  files: { password: 'secret words', 'ca.crt': 'pem' },
};

suite('a probe from another cluster', () => {
  test('is the same command in a confined pod, and what is secret is in a Secret that goes with it', () => {
    const pod = vantagePod(VANTAGE) as AnyObject & { spec: { containers: { args: string[] }[] } };
    assert.deepEqual(pod.spec.containers[0]!.args, [
      'probe',
      '--ca=/etc/isthmus-probe/ca.crt',
      '--sasl-mechanism=PLAIN',
      '--user=alice',
      '--password-file=/etc/isthmus-probe/password',
      '--timeout=5',
      '--report-file=/dev/termination-log',
      '--',
      'a.example.com:9092,[2001:db8::1]:9093',
    ]);
    const text = JSON.stringify(pod);
    assert.doesNotMatch(text, /secret words/);
    assert.match(
      text,
      /"runAsNonRoot":true.*"automountServiceAccountToken":false.*"readOnlyRootFilesystem":true/,
    );
    const made = { ...pod, metadata: { ...pod.metadata, uid: 'u' } };
    const secret = vantageSecret(VANTAGE, made)!;
    assert.deepEqual(secret.metadata.ownerReferences?.map(({ kind, uid }) => [kind, uid]), [['Pod', 'u']]); // prettier-ignore
    assert.equal((secret['data'] as Record<string, string>)['password'], btoa('secret words'));
    assert.equal(vantageSecret({ ...VANTAGE, files: {} }, made), undefined);
    assert.doesNotMatch(JSON.stringify(vantagePod({ ...VANTAGE, files: {} })), /volumes/);
  });

  test('is over when its container has ended, and says why it is not', () => {
    const state = (status: object) => probePodState({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status }); // prettier-ignore
    const terminated = { exitCode: 1, message: 'm' };
    assert.deepEqual(state({ containerStatuses: [{ state: { terminated } }] }), { isOver: true, message: 'm', code: 1 }); // prettier-ignore
    const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
    assert.deepEqual(state({ containerStatuses: [{ state: { waiting } }] }), { isOver: false, why: 'ImagePullBackOff: no such image' }); // prettier-ignore
    assert.equal(state({ phase: 'Failed', reason: 'DeadlineExceeded' }).isOver, true);
    assert.equal(probePodState(undefined).isOver, true);
  });
});

const clusterOf = (brokers: number, failing: readonly number[] = []): ProbedCluster => ({
  clusterId: 'x',
  bootstrap: [],
  brokers: Array.from({ length: brokers }, (_, nodeId) => ({
    host: `${nodeId}.${(nodeId * 2_654_435_761) % 1_000_003}.example.com`,
    port: 30_000,
    nodeId,
    resolveMs: 1.234_567,
    addresses: [
      {
        address: `192.0.2.${nodeId % 256}`,
        passed: [{ step: 'connect', ms: 0.123_456 * nodeId }],
        ...(failing.includes(nodeId) && { failed: { step: 'tls', problem: 'no trust' } as const }),
      },
    ],
  })),
  leftOut: 0,
});

suite('what a pod says of a probe', () => {
  test('is what it found, with times to a tenth', () => {
    const found = unpackReport(packReport(clusterOf(3, [1])))!;
    assert.equal(found.brokers[1]!.addresses[0]!.failed?.problem, 'no trust');
    assert.deepEqual(
      [found.brokers[2]!.resolveMs, found.brokers[2]!.addresses[0]!.passed[0]!.ms],
      [1.2, 0.2],
    );
  });

  test('fits into a status whatever the size of the cluster: who is not reached comes first, and others are counted', () => {
    const failing = [700, 900];
    const text = packReport(clusterOf(1000, failing));
    assert.ok(text.length <= 4096);
    const found = unpackReport(text)!;
    assert.deepEqual(found.brokers.slice(0, 2).map(({ nodeId }) => nodeId), failing); // prettier-ignore
    assert.equal(found.brokers.length + found.leftOut, 1000);
  });

  test('is nothing where it is anything else', () => {
    fc.assert(fc.property(fc.string({ maxLength: 5000 }), (text) => unpackReport(text) === undefined));
    const huge = packReport({ ...clusterOf(0), clusterId: 'a'.repeat(2_000_000) });
    assert.equal(unpackReport(huge), undefined);
  });
});
