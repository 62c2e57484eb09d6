/** What one wants to read after a test has failed, beyond the components' own logs. */
import { link, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { startLoop } from './api.ts';
import type { Loop } from './api.ts';
import type { Cluster } from './cluster.ts';

/**
 * Keeps the logs of pods, which kubelet removes with the pod: a second name of each file, in `pod-logs`, outlives the
 * first and shows what is written under it.
 */
export function keepPodLogs(nodeLogs: readonly string[]): Loop {
  const kept = new Set<string>();
  return startLoop(async () => {
    for (const folder of nodeLogs) {
      const entries = await readdir(join(folder, 'pods'), { withFileTypes: true, recursive: true }).catch(
        () => [],
      );
      for (const entry of entries.filter((each) => each.isFile())) {
        const from = join(entry.parentPath, entry.name);
        if (kept.has(from)) continue;
        const to = join(folder, 'pod-logs', relative(join(folder, 'pods'), from).replaceAll('/', '_'));
        await mkdir(dirname(to), { recursive: true });
        // Gone before it was seen: then nobody can have written much to it.
        await link(from, to).catch(() => {});
        kept.add(from);
      }
    }
  });
}

/** Writes down which pods there are and what happened to them. */
export async function writeState(cluster: Cluster, logs: string): Promise<void> {
  const everywhere = ['--all-namespaces', '--output=wide', '--request-timeout=5s'];
  const answers = await Promise.all([
    cluster.tryKubectl(['get', 'nodes,pods,services', ...everywhere]),
    cluster.tryKubectl(['get', 'events', '--sort-by=.metadata.creationTimestamp', ...everywhere]),
  ]);
  const text = answers.map(({ stdout, stderr }) => `${stdout}${stderr}`).join('\n');
  await writeFile(join(logs, cluster.name, 'state.txt'), text);
}
