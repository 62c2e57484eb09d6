import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { serviceKey } from '../config/own-filters.ts';
import type { ProxyConfig, VirtualClusterConfig } from '../config/model.ts';
import { blamed, retained, serviceable } from './out-of-service.ts';
import type { Blame, OutOfService } from './out-of-service.ts';

const MINUTE = 60_000;
const NONE: OutOfService = new Map();
const NOW = Date.parse('2026-01-01T00:00:00Z');

function cluster(name: string, setting = 1): VirtualClusterConfig {
  const bootstrapServers = [{ host: 'broker', port: 9092 }];
  const target = { bootstrapServers, selection: 'round-robin' as const, tls: undefined };
  const filters = [{ name: 'guard', type: 'module:guard', config: { setting } }];
  return { name, target, gateways: [], filters, drainTimeoutMs: 1000 };
}
const config = (...virtualClusters: VirtualClusterConfig[]) => ({ virtualClusters }) as ProxyConfig;
const blame = (of: VirtualClusterConfig, how: Blame['how'] = 'hung'): Blame => ({
  owner: { service: serviceKey(of), filter: 'guard' },
  how,
});
const served = (all: ProxyConfig, state: OutOfService, now: number) =>
  serviceable(all, state, now).config.virtualClusters.map(({ name }) => name);

const [bad, good] = [cluster('bad'), cluster('good')];
const both = config(bad, good);

suite('out of service', () => {
  test('whose filter has hung is served no more, the others are, and it is said why', () => {
    const { config: next, problems } = serviceable(both, blamed(NONE, blame(bad), NOW), NOW);
    assert.deepEqual(next.virtualClusters, [good]);
    const [{ cluster: name, stage, problem } = assert.fail()] = problems;
    assert.deepEqual([name, stage, problems.length], ['bad', 'serve', 1]);
    assert.match(problem, /out of service: the filter "guard" computed without an end.*2026-01-01T00:10:00/);
    assert.deepEqual(serviceable(both, NONE, NOW), { config: both, problems: [] });
  });

  test('it comes back with its own change, not with that of another, nor with certificates alone', () => {
    const state = blamed(NONE, blame(bad), NOW);
    assert.deepEqual(served(config(cluster('bad', 2), good), state, NOW), ['bad', 'good']);
    const other = config(bad, cluster('good', 2), cluster('new'));
    assert.deepEqual(served(other, retained(state, other), NOW), ['good', 'new']);
    const keys = (certificate: string) => ({
      name: 'tls',
      bindAddress: undefined,
      routing: { by: 'sni' },
      tls: { keys: [{ certificate }] },
    });
    const secure = (certificate: string) =>
      ({ ...bad, gateways: [keys(certificate)] }) as unknown as VirtualClusterConfig;
    assert.deepEqual(served(config(secure('2')), blamed(NONE, blame(secure('1')), NOW), NOW), []);
    assert.equal(retained(state, config(cluster('bad', 2))).size, 0);
  });

  test('it is tried again after a time that doubles up to a day, and begins anew after a good hour', () => {
    let state = NONE;
    let now = NOW;
    const minutes: number[] = [];
    for (let i = 0; i < 10; i++) {
      state = blamed(state, blame(bad), now);
      const { until } = state.get(serviceKey(bad))!;
      assert.deepEqual(served(both, state, until - 1), ['good']);
      assert.deepEqual(served(both, state, until), ['bad', 'good']);
      minutes.push((until - now) / MINUTE);
      now = until + MINUTE;
    }
    assert.deepEqual(minutes, [10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440]);
    state = blamed(state, blame(bad), now + 60 * MINUTE);
    assert.deepEqual(served(both, state, now + 70 * MINUTE), ['bad', 'good']);
  });

  test('a second worker that hangs at the same time makes it no longer', () => {
    const state = blamed(NONE, blame(bad), NOW);
    assert.equal(blamed(state, blame(bad), NOW + MINUTE), state);
  });

  test('who has ended a process is out of service at the second time within an hour', () => {
    const once = blamed(NONE, blame(bad, 'ended'), NOW);
    assert.deepEqual(served(both, once, NOW), ['bad', 'good']);
    const late = blamed(once, blame(bad, 'ended'), NOW + 61 * MINUTE);
    assert.deepEqual(served(both, late, NOW + 61 * MINUTE), ['bad', 'good']);
    const twice = blamed(once, blame(bad, 'ended'), NOW + MINUTE);
    assert.deepEqual(served(both, twice, NOW + MINUTE), ['good']);
    assert.match(serviceable(both, twice, NOW + MINUTE).problems[0]!.problem, /"guard" ended a process/);
  });

  test('whatever is blamed, nobody else is out of service, and nobody for longer than a day', () => {
    const event = fc.record({
      who: fc.constantFrom('a', 'b', 'c'),
      how: fc.constantFrom<Blame['how']>('hung', 'ended'),
      afterMs: fc.nat({ max: 100 * MINUTE }),
    });
    const all = config(...['a', 'b', 'c', 'd'].map((name) => cluster(name)));
    fc.assert(
      fc.property(fc.array(event), (events) => {
        let state = NONE;
        let now = NOW;
        const guilty = new Set<string>();
        for (const { who, how, afterMs } of events) {
          now += afterMs;
          guilty.add(who);
          state = blamed(state, blame(cluster(who), how), now);
          const names = served(all, state, now);
          assert.ok(['a', 'b', 'c', 'd'].every((name) => guilty.has(name) || names.includes(name)));
          if (how === 'hung') assert.ok(!names.includes(who));
        }
        assert.equal(served(all, state, now + 1441 * MINUTE).length, 4);
      }),
    );
  });
});
