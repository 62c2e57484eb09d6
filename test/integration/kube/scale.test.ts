/** 10,000 objects, listed and watched: every one of them, with bounded memory and hardly a request. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, before, suite, test } from 'node:test';
import { createClient } from '../../../src/kube/http/client.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import { startOwnControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { CONFIG_MAP, clientOf, configMap, connect } from './harness.ts';

const OBJECTS = 10_000;
const CHANGES = 1000;
const WORKERS = 50;

let plane: ControlPlane;
let admin: Client;
before(async () => {
  plane = await startOwnControlPlane(); // nobody wants it after this
  admin = clientOf(plane.kubeconfigText);
});
after(async () => {
  await admin?.close();
  await plane?.stop();
});

/** About 1 KB, as most ConfigMaps. */
const dataOf = (i: number) => ({ 'config.yaml': `${i} ${'x'.repeat(1000)}` });
const nameOf = (i: number) => `config-${i}`;

async function inParallel(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < count; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
}

interface Memory {
  rss: number;
  heap: number;
  peak: number;
}

/** Starts a process that follows, and speaks with it line by line. */
function startFollower(mode: 'trim' | 'whole') {
  const script = `${import.meta.dirname}/follow-many.ts`;
  const args = ['--expose-gc', script, plane.kubeconfig, mode];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    assert.ok(!done, 'the follower ended early');
    return JSON.parse(value) as Record<string, never>;
  };
  return {
    next,
    expect: (changes: number) => child.stdin.end(String(changes)),
    kill: () => child.kill('SIGKILL'),
  };
}

const round = (memory: Memory) =>
  Object.fromEntries(Object.entries(memory).map(([name, mb]) => [name, Math.round(mb)]));

suite('10,000 objects', { timeout: 800_000 }, () => {
  test('are made', async () => {
    await inParallel(OBJECTS, (i) => admin.create(configMap(nameOf(i), dataOf(i))));
    assert.ok(admin.counts.create >= OBJECTS); // more if the server has asked to repeat some
  });

  test('are listed in pages, each once', async () => {
    const names = new Set<string>();
    let pages = 0;
    for await (const page of admin.listPages(CONFIG_MAP, { namespace: 'default' })) {
      pages += 1;
      for (const { metadata, kind } of page.items) {
        assert.equal(kind, 'ConfigMap');
        names.add(metadata.name);
      }
    }
    assert.equal(pages, Math.ceil(OBJECTS / 500));
    assert.equal(names.size, OBJECTS);
  });

  test('are listed in smaller pages by who may read no more than a little at once', async () => {
    const frugal = createClient(connect(plane.kubeconfigText), { maxResponseBytes: 300_000 });
    const { items } = await frugal.list(CONFIG_MAP, { namespace: 'default', resourceVersion: '0' });
    assert.equal(items.length, OBJECTS);
    assert.ok(frugal.counts.list > OBJECTS / 100);
    await frugal.close();
  });

  for (const mode of ['trim', 'whole'] as const) {
    test(`are followed, ${mode}`, async (t) => {
      const follower = startFollower(mode);
      t.after(() => follower.kill());
      const { size, before, synced, syncedMs } = await follower.next();
      assert.ok(size! >= OBJECTS);
      follower.expect(CHANGES);
      await inParallel(CHANGES, (i) =>
        admin.mergePatch(CONFIG_MAP, { namespace: 'default', name: nameOf(i) }, { data: { changed: mode } }),
      );
      const { after, told } = await follower.next();
      assert.equal(told, CHANGES, 'each change is told once');
      const { counts, lists } = (await follower.next()) as unknown as {
        counts: Client['counts'];
        lists: number;
      };
      assert.equal(lists, 1);
      // One of each; a few more if the server was too busy to begin a watch, or we to keep up with one.
      assert.ok(counts.list + counts.watch <= 8, JSON.stringify(counts));

      const [start, full, end] = [before, synced, after] as unknown as Memory[];
      const grownMb = end!.rss - start!.rss;
      t.diagnostic(
        `${mode}: before ${JSON.stringify(round(start!))} MB, synced in ${Math.round(Number(syncedMs))} ms ` +
          `${JSON.stringify(round(full!))} MB, after ${CHANGES} changes ${JSON.stringify(round(end!))} MB`,
      );
      assert.ok(grownMb < 200, `grew by ${Math.round(grownMb)} MB`);
      assert.ok(end!.heap - start!.heap < 60, `the heap grew by ${Math.round(end!.heap - start!.heap)} MB`);
    });
  }
});
