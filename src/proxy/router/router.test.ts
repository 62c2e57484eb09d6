import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { provideModules } from '../../../test/support/filter-modules.ts';
import { createMetrics } from '../../ops/metrics.ts';
import { createPeerBus } from '../cluster/peers.ts';
import { createStats } from '../cluster/stats.ts';
import { Tap } from '../cluster/tap.ts';
import { targetKey } from '../config/canonical.ts';
import type { Address, PortRouting, ProxyConfig, VirtualClusterConfig } from '../config/model.ts';
import { ProcessBudget } from '../net/byte-budget.ts';
import { createRouter } from './router.ts';

const log = pino({ level: 'silent' });

function router(shared: string[] = []) {
  const metrics = createMetrics();
  const deps = {
    log,
    metrics,
    stats: createStats(metrics),
    tap: new Tap(),
    memory: new ProcessBudget(),
    lookUp: async () => undefined,
    share: (key: string) => void shared.push(key),
    forget() {},
    peers: createPeerBus(() => {}),
  };
  return createRouter(deps, Buffer.alloc(48));
}

function cluster(port: number, filters: VirtualClusterConfig['filters'] = []): VirtualClusterConfig {
  const bootstrapServers = [{ host: 'broker', port }];
  const target = { bootstrapServers, selection: 'round-robin' as const, tls: undefined };
  return { name: 'c', target, gateways: [], filters, drainTimeoutMs: 1000 };
}

const config = (...virtualClusters: VirtualClusterConfig[]) => ({ virtualClusters }) as ProxyConfig;

const modules = new Map<string, string>();
provideModules(modules);

/** A filter of the user's own; `code` has `calls`, which stays from one to the next. */
function own(code: string) {
  const name = `filter-${modules.size}`;
  const source = `
    let calls = 0;
    const safeParse = (data) => ({ success: true, data });
    export const filter = { config: { safeParse }, create() { calls++; ${code} } };`;
  modules.set(name, `data:text/javascript,${encodeURIComponent(source)}`);
  return { name: 'own', config: {}, type: `module:${name}` };
}

test('a virtual cluster that could not be started is tried again at the next change', async () => {
  const running = router();
  const wanted = cluster(1, [
    own('if (calls === 1) throw new Error("not yet"); return { connect: () => ({}) };'),
  ]);
  const first = await running.change(config(wanted));
  assert.match(first.problems[0]!.problem, /not yet/);
  assert.deepEqual(running.configs(), []);
  const second = await running.change(config(wanted));
  assert.deepEqual(second.problems, []);
  assert.deepEqual(running.configs(), [wanted]);
});

test('a new version that cannot be started, or whose certificates cannot be used, leaves the running one as it is', async () => {
  const running = router();
  const good = cluster(1);
  const rules = { minVersion: undefined, maxVersion: undefined, ciphers: undefined };
  const keys = [{ certificate: 'none', privateKey: 'none', passphrase: undefined }];
  const tls = { keys, trust: undefined, clientAuth: 'none' as const, rules };
  const routing = { by: 'port', bootstrap: { host: 'h', port: 1 } } as PortRouting;
  const gateways = [{ name: 'g', bindAddress: undefined, routing, tls: undefined }];
  await running.change(config(good, { ...good, name: 'd', gateways }));
  const next = [
    cluster(2, [own('throw new Error("no");')]),
    { ...good, name: 'd', gateways: [{ ...gateways[0]!, tls }] },
    { ...good, name: 'e' },
  ];
  const { problems } = await running.change(config(...next));
  assert.deepEqual(
    problems.map((one) => [one.cluster, one.stage]),
    [
      ['c', 'load'],
      ['d', 'load'],
    ],
  );
  assert.deepEqual(running.configs(), [good, { ...good, name: 'd', gateways }, next[2]]);
});

test('what is learned of a target of before leads nobody there', async () => {
  const shared: string[] = [];
  const running = router(shared);
  await running.change(config(cluster(1)));
  await running.change(config(cluster(2)));
  const address: Address = { host: 'old broker', port: 1 };
  running.learn(targetKey(cluster(1)), [[7, address]]);
  assert.deepEqual(shared, [], 'another worker still had the old target');
  running.learn(targetKey(cluster(2)), [[7, { host: 'new broker', port: 2 }]]);
  assert.deepEqual(shared, [targetKey(cluster(2))]);
});

test('a filter that fails to close harms neither the sweep nor the other filters', async () => {
  const running = router();
  const closed =
    'return { connect: () => ({}), close() { globalThis.closedFilters = (globalThis.closedFilters ?? 0) + 1; } };';
  const fails = 'return { connect: () => ({}), async close() { throw new Error("no"); } };';
  const throws = 'return { connect: () => ({}), close() { throw new Error("no"); } };';
  await running.change(config(cluster(1, [own(throws), own(fails), own(closed)])));
  await running.change(config());
  running.sweep(performance.now());
  await running.close();
  assert.equal((globalThis as { closedFilters?: number }).closedFilters, 1);
});

test('filters made before one that cannot be made are closed', async () => {
  const running = router();
  const closed = 'return { connect: () => ({}), close() { globalThis.closedEarly = true; } };';
  await running.change(config(cluster(1, [own(closed), own('throw new Error("no");')])));
  assert.equal((globalThis as { closedEarly?: boolean }).closedEarly, true);
});
