import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { readAnswer } from './pod-client.ts';

const SERVED = { isLoad: false, isOut: false, isTarget: false };

suite('what pods answer', () => {
  test('which brokers they know, as far as that can be used', () => {
    const virtualClusters = [
      { name: 'a', nodeIds: [7, 0, 1, 'x', -1, 1.5, 1] },
      { name: 'b', nodeIds: Array.from({ length: 5000 }, (_, i) => i * 2) },
      { name: 'c', nodeIds: 7 },
      { nodeIds: [1] },
    ];
    const { nodeIds } = readAnswer({ virtualClusters })!;
    assert.deepEqual([...nodeIds!.keys()], ['a', 'b']);
    assert.deepEqual(nodeIds!.get('a'), [
      { start: 0, end: 1 },
      { start: 7, end: 7 },
    ]);
    assert.equal(nodeIds!.get('b')!.length, 1024);
  });

  test('the configuration, and what is wrong with each virtual cluster', () => {
    const virtualClusters = [
      { name: 'well', targetReachable: true, problems: [] },
      { name: 'new', problems: [] },
      { name: 'ill', targetReachable: false, problems: ['a', 'b'] },
      { name: 'odd', targetReachable: true, problems: ['port 1 is taken'] },
      { name: 'old', loaded: false, targetReachable: true, problems: ['filters: no'] },
      {
        name: 'keyless',
        targetReachable: true,
        problems: [],
        filterProblems: [
          { reason: 'KeyServiceUnavailable', message: 'k' },
          { reason: 'New', message: 'n' },
          7,
          {},
        ],
      },
      { name: 'newer', problems: [], filterProblems: [{ reason: 'New', message: 'n' }] },
      { name: 'both', problems: ['a'], filterProblems: [{ reason: 'FilterProblem', message: 'f' }] },
      { name: 'out', loaded: false, outOfService: true, targetReachable: true, problems: ['hung'] },
    ];
    assert.deepEqual(readAnswer({ hash: 'h', error: 'e', virtualClusters }), {
      hash: 'h',
      error: 'e',
      problems: new Map([
        ['ill', { isLoad: false, isOut: false, isTarget: true, message: 'a; b' }],
        ['odd', { isLoad: false, isOut: false, isTarget: false, message: 'port 1 is taken' }],
        ['old', { isLoad: true, isOut: false, isTarget: false, message: 'filters: no' }],
        ['keyless', { ...SERVED, ofFilter: 'KeyServiceUnavailable', message: 'k; n' }],
        ['newer', { ...SERVED, ofFilter: 'FilterProblem', message: 'n' }],
        ['both', { ...SERVED, message: 'a' }],
        ['out', { isLoad: true, isOut: true, isTarget: false, message: 'hung' }],
      ]),
    });
  });

  test('whatever the answer, no more is taken than fits into a status', () => {
    const long = fc.string({ minLength: 0, maxLength: 5000, size: 'max' });
    const odd = fc.oneof(fc.anything(), long);
    const cluster = fc.record(
      {
        name: odd,
        targetReachable: odd,
        problems: fc.oneof(odd, fc.array(long)),
        filterProblems: fc.oneof(odd, fc.array(fc.oneof(odd, fc.record({ reason: odd, message: odd })))),
      },
      { requiredKeys: [] },
    );
    const answer = fc.record(
      { hash: odd, error: odd, virtualClusters: fc.oneof(odd, fc.array(fc.oneof(odd, cluster))) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(answer, fc.anything()), (value) => {
        const { hash = '', error = '', problems = new Map() } = readAnswer(value) ?? {};
        assert.ok(hash.length <= 128 && error.length <= 2048 && problems.size <= 1000);
        for (const { message } of problems.values()) assert.ok(message.length <= 512);
      }),
      { numRuns: 200 },
    );
    const many = Array.from({ length: 5000 }, (_, i) => ({ name: `c${i}`, targetReachable: false }));
    assert.equal(readAnswer({ virtualClusters: many })?.problems?.size, 1000);
  });
});
