import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { inspect } from 'node:util';
import { pino } from 'pino';
import { provideModules } from '../../../test/support/filter-modules.ts';
import { createMetrics } from '../../ops/metrics.ts';
import { createOutbound } from '../net/target-policy.ts';
import { checkFilter, createFilter } from './registry.ts';
import { ALONE } from '../../../test/support/alone.ts';

const sourceOf = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
const parsed = 'safeParse: (data) => ({ success: true, data })';

provideModules(
  new Map([
    ['throws', sourceOf('throw new Error("at load")')],
    ['hangs', sourceOf('await new Promise(() => {})')],
    ['empty', sourceOf('export const x = 1')],
    [
      'quotes',
      sourceOf(`export const filter = {
        config: { safeParse: ({ a }) => ({ success: false, error: { issues: [{ path: ['a'], code: 'custom', message: 'not ' + a }] } }) },
        create() {} };`),
    ],
    [
      'throws-in-schema',
      sourceOf(`export const filter = {
        config: { safeParse({ a }) { throw new SyntaxError(a + ' is not JSON'); } }, create() {} };`),
    ],
    [
      'answers-nothing',
      sourceOf(`export const filter = {
        config: { safeParse: ({ a }) => ({ get error() { throw a; } }) }, create() {} };`),
    ],
    [
      'fails',
      sourceOf(
        `export const filter = { config: { ${parsed} }, create({ a }) { throw new TypeError('not ' + a); } };`,
      ),
    ],
  ]),
);

const setting = {
  virtualCluster: 'c',
  name: 'own',
  log: pino({ level: 'silent' }),
  metrics: createMetrics(),
  outbound: createOutbound(),
  peers: ALONE,
};
const make = (module: string, secretFields?: string[]) =>
  createFilter({ type: `module:${module}`, config: { a: 'canary' }, secretFields }, setting);

suite('filters of a user’s own', () => {
  test('one that cannot be loaded says which module, and why', async () => {
    await assert.rejects(make('throws'), /the module throws cannot be loaded: at load/);
    await assert.rejects(make('not-installed'), /the module not-installed cannot be loaded: .*not-installed/);
    await assert.rejects(make('empty'), /the module empty exports no "filter"/);
  });

  test('one that never ends loading is given up, once for all who use it', async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] });
    const [one, two] = [make('hangs'), checkFilter({ type: 'module:hangs', config: {} }, 'config')];
    await new Promise((resolve) => setImmediate(resolve));
    context.mock.timers.tick(5000);
    await assert.rejects(one, /the module hangs cannot be loaded: it took longer/);
    await assert.rejects(two, /the module hangs cannot be loaded: it took longer/);
  });

  test('what its schema says is not repeated, only where', async () => {
    await assert.rejects(make('quotes'), (error: Error) => {
      assert.match(error.message, /a: is not what the filter takes/);
      assert.doesNotMatch(error.message, /canary/);
      return true;
    });
  });

  test('what its schema throws is not repeated, only of what kind it is', async () => {
    for (const [module, kind] of [
      ['throws-in-schema', /the schema could not check the configuration \(SyntaxError\)/],
      ['answers-nothing', /the schema could not check the configuration \(string\)/],
    ] as const)
      for (const work of [
        make(module),
        checkFilter({ type: `module:${module}`, config: { a: 'canary' } }, 'own'),
      ])
        await assert.rejects(work, (error: Error) => {
          assert.match(error.message, kind);
          assert.doesNotMatch(inspect(error), /canary/);
          return true;
        });
  });

  test('what it throws is repeated only where it has no secrets', async () => {
    await assert.rejects(make('fails', ['b']), /not canary/);
    await assert.rejects(make('fails', ['a']), (error: Error) => {
      assert.match(error.message, /could not be made \(TypeError\)/);
      assert.doesNotMatch(inspect(error.message), /canary/);
      return true;
    });
  });
});
