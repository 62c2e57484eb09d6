/** The embedded default: a folder of resources, served on this machine and followed while it changes. */
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { proxyConfig } from '../control/proxy/config/document.ts';
import type { ServedCluster } from '../control/proxy/config/document.ts';
import { NOTHING_ALLOCATED } from '../control/proxy/ports/ports.ts';
import type { Allocation } from '../control/proxy/ports/ports.ts';
import { IsthmusError, messageOf } from '../ops/errors.ts';
import type { Log } from '../ops/log.ts';
import { createMetrics } from '../ops/metrics.ts';
import { checkUsable } from '../proxy/check.ts';
import { checkProxyConfig } from '../proxy/config/load.ts';
import { createProxy } from '../proxy/proxy.ts';
import { EMBEDDED } from '../resources/common/names.ts';
import { locateFaults } from './analyze.ts';
import { startEmbeddedKafka } from './embedded-kafka.ts';
import type { EmbeddedKafka } from './embedded-kafka.ts';
import type { Problem } from './folder.ts';
import { planLocally } from './local-plan.ts';
import type { Listing } from './local-plan.ts';
import { readResources } from './resources.ts';
import { watchFolder } from './watch-folder.ts';

export interface UpOptions {
  folder: string;
  log: Log;
  /** Told after each reading of the folder what is served now and what is wrong. */
  onChange: (state: UpState) => void;
  /** Told what takes long. */
  onProgress: (line: string) => void;
}

export interface UpState {
  listings: Listing[];
  problems: Problem[];
  /** The Kafka that was started, if any resource asked for one. */
  kafka: Pick<EmbeddedKafka, 'bootstrap' | 'libs'> | undefined;
}

export interface Up {
  stop(): Promise<void>;
}

/** Serves a folder until it is stopped. Mistakes in files are reported, and the rest is served all the same. */
export async function startUp(options: UpOptions): Promise<Up> {
  const { folder, log, onChange, onProgress } = options;
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new IsthmusError('USAGE', `there is no folder ${folder}`);
  const state = join(folder, '.isthmus');
  const proxy = createProxy({ log, metrics: createMetrics(), workers: 1 });
  let allocation = readAllocation(state);
  let kafka: EmbeddedKafka | undefined;

  async function follow(): Promise<void> {
    const resources = readResources(folder);
    const plan = planLocally(resources.snapshot, allocation, Date.now());
    // Persisted before anything listens, so that the ports are the same after the next start.
    if (JSON.stringify(plan.allocation) !== JSON.stringify(allocation))
      writeAllocation(state, plan.allocation);
    ({ allocation } = plan);
    if (plan.clusters.some(({ target }) => target.bootstrapServers === EMBEDDED)) {
      kafka ??= await startEmbeddedKafka({ directory: join(state, 'kafka'), onProgress });
    }
    const { usable, faults } = await sift(plan.clusters.map((cluster) => withEmbedded(cluster, kafka)));
    const config = checkProxyConfig(proxyConfig(usable, { workers: 1 }), folder).config;
    await proxy.apply({ config, hash: '', certificates: await checkUsable(config, folder) });
    const served = new Set(usable.map(({ cluster }) => cluster.metadata.name));
    const unbound = (proxy.status()?.virtualClusters ?? []).flatMap(({ name, problems }) =>
      problems.map((message) => ({
        reason: 'NotSupported' as const,
        path: [],
        virtualCluster: name,
        message,
      })),
    );
    onChange({
      listings: plan.listings.filter(({ virtualCluster }) => served.has(virtualCluster)),
      problems: [...resources.problems, ...locateFaults([...plan.faults, ...faults, ...unbound], resources)],
      kafka,
    });
  }

  let following = follow();
  const watch = watchFolder(folder, () => {
    following = following.then(follow).catch((error: unknown) => {
      log.error(
        { problem: messageOf(error) },
        'the folder could not be read; what was served before still is',
      );
    });
  });
  async function stop(): Promise<void> {
    watch.close();
    await following.catch(() => {});
    await proxy.close(5000);
    await kafka?.stop();
  }
  try {
    await following;
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

type ClusterFault = Parameters<typeof locateFaults>[0][number];

/** Each virtual cluster is tried for itself, so that a filter with a bad config or a broken key takes no other down. */
async function sift(clusters: ServedCluster[]): Promise<{ usable: ServedCluster[]; faults: ClusterFault[] }> {
  const usable: ServedCluster[] = [];
  const faults: ClusterFault[] = [];
  for (const cluster of clusters) {
    const { name } = cluster.cluster.metadata;
    try {
      const { config } = checkProxyConfig(proxyConfig([cluster], {}), name);
      await checkUsable(config, name);
      usable.push(cluster);
    } catch (error) {
      faults.push({
        reason: 'InvalidReferencedResource',
        path: ['spec'],
        virtualCluster: name,
        message: messageOf(error),
      });
    }
  }
  return { usable, faults };
}

function withEmbedded(cluster: ServedCluster, kafka: EmbeddedKafka | undefined): ServedCluster {
  if (cluster.target.bootstrapServers !== EMBEDDED || !kafka) return cluster;
  return { ...cluster, target: { ...cluster.target, bootstrapServers: kafka.bootstrap } };
}

const ALLOCATION_FILE = 'ports.json';

/** Which ports belong to whom, as it was written down the last time. */
export function readAllocation(state: string): Allocation {
  const file = join(state, ALLOCATION_FILE);
  if (!existsSync(file)) return NOTHING_ALLOCATED;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Allocation;
  } catch (cause) {
    const advice = 'remove it, and ports are given out anew';
    throw new IsthmusError('CONFIG_UNREADABLE', `${file} (${messageOf(cause)}; ${advice})`, { cause });
  }
}

/** Whole or not at all: half a file would keep the next start from happening. */
export function writeAllocation(state: string, allocation: Allocation): void {
  const file = join(state, ALLOCATION_FILE);
  try {
    mkdirSync(state, { recursive: true });
    writeFileSync(`${file}.new`, `${JSON.stringify(allocation, null, 2)}\n`);
    renameSync(`${file}.new`, file);
  } catch (cause) {
    throw new IsthmusError('CONFIG_UNREADABLE', `${file} cannot be written (${messageOf(cause)})`, { cause });
  }
}
