/** A console over a large world, in a process of its own: 1,000 virtual clusters at work and 100 brokers. Prints its address. */
import { serveConsole } from '../../src/console/server.ts';
import { createLog } from '../../src/ops/log.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { createStats } from '../../src/proxy/cluster/stats.ts';
import { apiOf } from '../../src/kafka/apis.ts';
import { sourceOf, worldOf } from '../../test/support/console/world.ts';

const CLUSTERS = 1000;
const APIS = (['Produce', 'Fetch', 'Metadata'] as const).map((name) => apiOf(name).key);

const world = worldOf({ clusters: CLUSTERS, brokers: 100, isBroken: (index) => index % 100 === 0 });
const metrics = createMetrics();
const stats = createStats(metrics);
const clusters = world.clusters.map(({ name }) => stats.cluster(name));

/** A tenth of them at a time. */
function work(): void {
  for (const cluster of clusters) {
    if (Math.random() > 0.1) continue;
    cluster.bytesFromClients.value += 10_000;
    for (const api of APIS) {
      cluster.api(api).requests.value += 10;
      cluster.api(api).latency.observe(Math.random() / 50);
    }
  }
}

const source = { ...sourceOf(() => world), snapshots: async () => [await metrics.snapshot()] };
setInterval(work, 1000);
work();
const console_ = await serveConsole({ source, log: createLog('error'), port: 0 });
process.stdout.write(`${console_.url}\n`);
