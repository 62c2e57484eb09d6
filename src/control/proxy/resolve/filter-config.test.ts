import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterConfig } from './resolve.ts';

const long = 'x'.repeat(100_000);
const secrets = [
  { kind: 'Secret' as const, metadata: { name: 'long', namespace: 'a' }, data: { key: long } },
];

test('a short config that asks for a long value many times is refused, and not written out', () => {
  const ask = (times: number) => {
    const config = { list: Array<string>(times).fill('${secret:long:key}') };
    const modules = [{ name: 'own', secretFields: ['list.*'] }];
    return filterConfig({ metadata: { namespace: 'a' }, spec: { type: 'module:own', config } }, modules, {
      secrets,
      configMaps: [],
    });
  };
  assert.deepEqual(ask(2), { value: { list: [long, long] }, faults: [] });
  const { value, faults } = ask(3);
  assert.deepEqual(value, { list: Array<string>(3).fill('${secret:long:key}') });
  assert.deepEqual(
    faults.map(({ reason }) => reason),
    ['ConfigTooLarge'],
  );
});
