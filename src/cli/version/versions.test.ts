import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { imageRows as rowsOf } from './versions.ts';
import type { ImageRow, Workload } from './versions.ts';

const workload = (
  component: string,
  version: string | undefined,
  more: Partial<Workload> = {},
): Workload => ({
  namespace: component === 'proxy' ? 'team-a' : 'isthmus-system',
  name: `isthmus-${component}`,
  component,
  image: 'isthmus:latest',
  version,
  roads: component === 'operator' ? ['proxy'] : [],
  watchNamespaces: [],
  isPaused: false,
  isStuck: false,
  pods: [],
  ...more,
});

const imageRows = (all: readonly Workload[], command: string) =>
  rowsOf({ workloads: all, all, isWhole: true }, command);
const verdicts = (rows: readonly ImageRow[]) => rows.map(({ name, supported }) => `${name} ${supported}`);

suite('versions of images in a cluster', () => {
  test('one version for all is well', () => {
    const all = ['operator', 'console', 'dns', 'proxy'].map((component) => workload(component, '1.2.0'));
    for (const row of imageRows(all, '1.2.0')) assert.deepEqual([row.supported, row.why], ['yes', undefined]);
  });

  test('what this command has not installed is not supported, older or newer', () => {
    for (const command of ['1.1.0', '1.3.0']) {
      const [operator, dns] = imageRows([workload('operator', '1.2.0'), workload('dns', command)], command);
      assert.equal(operator?.supported, 'no');
      assert.equal(operator.why, `it is of 1.2.0, and this command of ${command}`);
      assert.equal(dns?.supported, 'yes');
    }
  });

  test('a proxy goes with the operator that serves its namespace', () => {
    const operators = [
      workload('operator', '1.1.0', { watchNamespaces: ['team-a'] }),
      workload('operator', '1.2.0', { watchNamespaces: ['team-b'] }),
      workload('operator', '1.3.0', { roads: ['pod-sets'] }),
    ];
    const proxy = (version: string) => imageRows([...operators, workload('proxy', version)], '1.2.0').at(-1);
    assert.equal(proxy('1.1.0')?.supported, 'yes');
    assert.equal(proxy('1.2.0')?.why, 'it is of 1.2.0, and its operator of 1.1.0');
  });

  test('a proxy without an operator of a known version is compared with this command', () => {
    for (const others of [[], [workload('operator', undefined)]]) {
      const rows = imageRows([...others, workload('proxy', '1.1.0')], '1.2.0');
      assert.equal(rows.at(-1)?.why, 'it is of 1.1.0, and this command of 1.2.0');
    }
  });

  test('an operator in another namespace counts where one may look, and where not nobody guesses', () => {
    const [operator, proxy] = [workload('operator', '1.1.0'), workload('proxy', '1.1.0')];
    const ask = (all: readonly Workload[], isWhole: boolean) =>
      rowsOf({ workloads: [proxy], all, isWhole }, '1.2.0');
    assert.deepEqual(verdicts(ask([operator, proxy], true)), ['isthmus-proxy yes']);
    assert.deepEqual(verdicts(ask([proxy], false)), ['isthmus-proxy unknown']);
    assert.deepEqual(verdicts(ask([proxy], true)), ['isthmus-proxy no']);
  });

  test('where nobody has said the version, the tag does not say it either', () => {
    const [row] = imageRows([workload('proxy', undefined, { image: 'isthmus:1.2.0' })], '1.2.0');
    assert.deepEqual([row?.version, row?.supported], ['unknown', 'unknown']);
  });

  test('pods that are still to be replaced are rows of their own', () => {
    const pods = [
      { name: 'old', image: 'isthmus:latest', version: '1.1.0' },
      { name: 'older', image: 'isthmus:1.0', version: undefined },
      { name: 'new', image: 'isthmus:latest', version: '1.2.0' },
    ];
    const rows = (more: Partial<Workload>) =>
      imageRows([workload('operator', '1.2.0', { pods, ...more })], '1.2.0');
    assert.deepEqual(verdicts(rows({})), ['isthmus-operator yes', 'old rolling', 'older rolling']);
    assert.match(rows({ isPaused: true, isStuck: true })[1]?.why ?? '', /isthmus-operator is paused/);
    assert.deepEqual(verdicts(rows({ isStuck: true })), ['isthmus-operator yes', 'old no', 'older no']);
  });

  test('whatever runs: each workload has a row, a reason unless it is well, and no unknown version is called good or bad', () => {
    const version = fc.constantFrom('1.0.0', '1.1.0', undefined);
    const one = fc.record({
      component: fc.constantFrom('operator', 'console', 'dns', 'proxy'),
      version,
      watchNamespaces: fc.constantFrom([], ['team-a'], ['team-b']),
    });
    fc.assert(
      fc.property(fc.array(one), (drawn) => {
        const all = drawn.map(({ component, ...more }) => workload(component, more.version, more));
        const rows = imageRows(all, '1.1.0');
        assert.equal(rows.length, all.length);
        for (const row of rows) {
          assert.equal(row.supported === 'unknown', row.version === 'unknown');
          assert.equal(row.supported === 'yes', row.why === undefined);
        }
      }),
    );
  });
});
