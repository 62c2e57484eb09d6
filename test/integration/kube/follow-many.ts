/** A process that keeps a cache of ConfigMaps and tells how much memory it takes. Run by scale.test.ts with --expose-gc. */
import { setTimeout as delay } from 'node:timers/promises';
import { createCache, trimManagedFields } from '../../../src/kube/cache/cache.ts';
import { createClient } from '../../../src/kube/http/client.ts';
import { loadConnection } from '../../../src/kube/http/kubeconfig.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { CONFIG_MAP, NAMESPACE, log } from './harness.ts';

const [kubeconfig = '', mode = ''] = process.argv.slice(2);
const client = createClient(loadConnection({ file: kubeconfig }));
let peak = 0;

async function megabytes(): Promise<{ rss: number; heap: number; peak: number }> {
  // Freed pages go back to the system only after a while.
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await delay(50);
  }
  const { rss, heapUsed } = process.memoryUsage();
  return { rss: rss / 2 ** 20, heap: heapUsed / 2 ** 20, peak: peak / 2 ** 20 };
}

await client.read('/version');
await client.resource(CONFIG_MAP);
const before = await megabytes();
const sampler = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5);
const trim = mode === 'trim' ? trimManagedFields<KubeObject>() : undefined;
const started = performance.now();
// Not those that the server itself keeps in other namespaces, and changes when it likes.
const selection = { type: CONFIG_MAP, namespace: NAMESPACE, trim };
const cache = createCache<KubeObject>(selection, { client: () => client, log });
let told = 0;
await cache.synced;
const syncedMs = performance.now() - started;
const synced = await megabytes();
cache.subscribe(() => (told += 1));
const there = told;
process.stdout.write(`${JSON.stringify({ size: cache.size, before, synced, syncedMs })}\n`);

// Each change that the parent makes is told; it says how many to expect.
for await (const line of process.stdin) {
  const wanted = there + Number(String(line));
  await waitFor('all changes', async () => told >= wanted, { timeoutMs: 300_000 });
  peak = Math.max(peak, process.memoryUsage.rss());
  process.stdout.write(
    `${JSON.stringify({ size: cache.size, told: told - there, after: await megabytes() })}\n`,
  );
  break;
}
clearInterval(sampler);
process.stdout.write(`${JSON.stringify({ counts: client.counts, lists: cache.lists })}\n`);
await cache.stop();
await client.close(0);
