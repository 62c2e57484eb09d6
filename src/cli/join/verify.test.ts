import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { rulesOf } from '../../control/kernel/rights.ts';
import { renewalRule } from '../../control/join/needs.ts';
import { judgeJoined, neededRights } from './verify.ts';
import type { JoinedFacts } from './verify.ts';

const needs = neededRights({
  roads: ['stretch', 'discover'],
  reach: 'pods',
  kafkaNamespaces: ['kafka'],
  home: 'isthmus-system',
  isRenewed: true,
});
/** As the server says it: the right to renew is for one name. */
const exact = new Map(
  [...needs].map(([place, rights]) => [
    place,
    rulesOf(rights).map((rule) =>
      rule.resources.includes('serviceaccounts/token') ? renewalRule('joined') : rule,
    ),
  ]),
);
const GOOD: JoinedFacts = {
  cluster: 'east',
  server: 'https://east.example.com:6443',
  isVerified: true,
  version: { value: 'v1.36.0' },
  clockOffMs: 0,
  rules: { value: exact },
  needs,
  kinds: new Map([['KafkaAnchor', true]]),
  overlaps: [],
  operator: { reachable: true },
};

const codesOf = (facts: Partial<JoinedFacts>) =>
  judgeJoined({ ...GOOD, ...facts }).checks.flatMap(({ code, result }) =>
    code ? [`${result} ${code}`] : [],
  );

suite('what a join is worth', () => {
  test('with exactly what is used, nothing is wrong', () => {
    assert.deepEqual(codesOf({}), []);
  });

  test('a server that does not answer makes the rest moot', () => {
    assert.deepEqual(codesOf({ version: { problem: 'no route' } }), ['error JoinedClusterUnreachable']);
  });

  test('each right too few or too many is named with its namespace', () => {
    const less = new Map(exact).set('kafka', []);
    const { checks } = judgeJoined({ ...GOOD, rules: { value: less } });
    assert.ok(
      checks.some(({ code, error = '' }) => code === 'JoinedRightsMissing' && error.includes(' in kafka')),
    );
    const star = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
    const more = new Map(exact).set('default', [...exact.get('default')!, star]);
    assert.deepEqual(codesOf({ rules: { value: more } }), ['warning JoinedRightsTooBroad']);
  });

  test('what else may be wrong', () => {
    assert.deepEqual(codesOf({ isVerified: false }), ['warning JoinedServerNotVerified']);
    for (const server of ['https://127.0.0.1:6443', 'https://localhost:1', 'https://[::1]:1'])
      assert.deepEqual(codesOf({ server }), ['warning JoinedServerIsLocal']);
    assert.deepEqual(codesOf({ clockOffMs: 90_000 }), ['warning JoinedClockDiffers']);
    assert.deepEqual(codesOf({ kinds: new Map([['KafkaAnchor', false]]) }), ['error JoinedKindMissing']);
    assert.deepEqual(codesOf({ rules: { problem: 'forbidden' } }), ['warning CannotLook']);
    assert.deepEqual(codesOf({ overlaps: ['a here, b there'] }), ['warning PodNetworksOverlap']);
    assert.deepEqual(codesOf({ operator: 'silent' }), ['warning OperatorSaysNothing']);
    assert.deepEqual(codesOf({ operator: { reachable: false, problem: 'no route' } }), [
      'error OperatorCannotReach',
    ]);
    assert.deepEqual(codesOf({ operator: undefined }), []);
  });
});
