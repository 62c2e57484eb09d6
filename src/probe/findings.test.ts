import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { findingsOf } from './findings.ts';
import { isReachable } from './probed.ts';
import type { ProbedAddress, ProbedCluster, ProbedEndpoint } from './probed.ts';

const fine = (address: string): ProbedAddress => ({ address, passed: [{ step: 'connect', ms: 1 }] });
const at = (
  host: string,
  addresses: ProbedAddress[],
  more: Partial<ProbedEndpoint> = {},
): ProbedEndpoint => ({
  host,
  port: 9092,
  resolveMs: 1,
  addresses,
  ...more,
});
const cluster = (bootstrap: ProbedEndpoint[], brokers: ProbedEndpoint[], leftOut = 0): ProbedCluster => ({
  clusterId: 'x',
  bootstrap,
  brokers,
  leftOut,
});
const textOf = (probed: ProbedCluster) =>
  findingsOf(probed).map(({ where, problem }) => `${where}: ${problem}`);

suite('what a probe finds', () => {
  test('nothing, where all is well', () => {
    const brokers = [at('b-1.example.com', [fine('192.0.2.1')]), at('b-2.example.com', [fine('192.0.2.2')])];
    assert.deepEqual(findingsOf(cluster([at('b.example.com', [fine('192.0.2.1')])], brokers)), []);
  });

  test('names without an address, and connections that end, each with what to do', () => {
    const failed = { step: 'tls', problem: 'unable to verify the first certificate' } as const;
    const probed = cluster(
      [at('b.example.com', [fine('192.0.2.1'), { address: '2001:db8::1', passed: [], failed }])],
      [
        at('b-1.example.com', [], { nodeId: 1, unresolved: 'NXDOMAIN' }),
        at('b-2.example.com', []),
        at('2001:db8::9', [{ address: '2001:db8::9', passed: [], failed }]),
      ],
    );
    assert.deepEqual(textOf(probed), [
      'b.example.com:9092 (2001:db8::1): tls: unable to verify the first certificate',
      'b-1.example.com:9092: NXDOMAIN',
      'b-2.example.com:9092: the name has no address',
      '[2001:db8::9]:9092: tls: unable to verify the first certificate',
    ]);
    for (const { hint } of findingsOf(probed)) assert.match(hint, /\w.*\.$/);
    assert.deepEqual([...probed.bootstrap, ...probed.brokers].map(isReachable), [false, false, false, false]);
  });

  test('brokers that are told by an address of another network than the one that clients began at', () => {
    const brokers = [
      '10.1.2.3',
      '172.31.0.1',
      '192.168.9.9',
      '100.64.0.1',
      '127.0.0.1',
      'fd00::1',
      '::1',
    ].map((address) => at(address, [fine(address)]));
    const outside = cluster([at('b.example.com', [fine('192.0.2.1')])], brokers);
    assert.equal(findingsOf(outside).length, brokers.length);
    assert.match(textOf(outside)[0]!, /^10\.1\.2\.3:9092: clients that begin at a public address are told/);
    // Who begins inside may be sent to an address inside, and so is nobody whose beginning did not work.
    assert.deepEqual(findingsOf(cluster([at('kafka', [fine('10.0.0.9')])], brokers)), []);
    const unresolved = cluster([at('b.example.com', [], { unresolved: 'no' })], brokers);
    assert.deepEqual(textOf(unresolved), ['b.example.com:9092: no']);
  });

  test('brokers that were not probed are not passed over in silence', () => {
    assert.match(textOf(cluster([at('b', [fine('192.0.2.1')])], [], 7))[0]!, /7 brokers more/);
  });
});
