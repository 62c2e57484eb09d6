import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem, VirtualClusterConfig } from '../config/model.ts';
import { whyNotReady } from './readiness.ts';
import type { Outlook } from './readiness.ts';

const current = (...names: string[]): Outlook['current'] => ({
  config: { workers: 1, virtualClusters: names.map((name) => ({ name }) as VirtualClusterConfig) } as never,
  rejected: [],
});
const problem = (cluster: string, stage: Problem['stage']): Problem => ({ cluster, problem: 'why', stage });
const outlook = (change: Partial<Outlook> = {}): Outlook => ({
  current: current('a', 'b'),
  targets: new Map([['a', undefined]]),
  problems: [],
  everReady: false,
  ...change,
});

test('ready is a proxy with all ports and one target, and later one that is not lost for all', () => {
  const problems = [problem('b', 'listen')];
  const targets = new Map([
    ['a', 'refused'],
    ['b', undefined],
  ]);
  const cases: [Partial<Outlook>, string | undefined][] = [
    [{}, undefined],
    [{ current: undefined }, 'no configuration is in effect yet'],
    [{ current: current() }, undefined],
    [{ current: { ...current()!, rejected: [problem('a', 'load')] } }, 'no virtual cluster can be loaded'],
    [{ targets: new Map() }, 'no target has been looked at yet'],
    [{ targets: new Map([['a', 'refused']]) }, 'no target can be reached'],
    [{ targets: new Map([['a', 'refused']]), everReady: true }, 'no target can be reached'],
    [{ targets }, undefined],
    [{ problems }, 'b: why'],
    [{ problems, everReady: true }, undefined],
    [{ problems: [problem('b', 'load')] }, undefined],
  ];
  for (const [change, why] of cases) assert.equal(whyNotReady(outlook(change)), why, JSON.stringify(change));
});

test('a virtual cluster that is out of service makes nobody ready, and takes nobody off the network', () => {
  const out = (...names: string[]) => names.map((name) => problem(name, 'serve'));
  const both = new Map([
    ['a', undefined],
    ['b', undefined],
  ]);
  for (const everReady of [false, true]) {
    const asked = (change: Partial<Outlook>) => whyNotReady(outlook({ everReady, ...change }));
    assert.equal(asked({ problems: out('a'), targets: both }), undefined);
    assert.equal(asked({ problems: out('a', 'b'), targets: both }), 'no virtual cluster can be served');
    // The target of one that is not served helps no one.
    const broken = new Map([
      ['a', undefined],
      ['b', 'refused'],
    ]);
    assert.equal(asked({ problems: out('a'), targets: broken }), 'no target can be reached');
    assert.equal(asked({ problems: out('b'), targets: broken }), undefined);
    assert.equal(
      asked({ problems: out('a'), targets: new Map([['a', undefined]]) }),
      'no target has been looked at yet',
    );
  }
});
