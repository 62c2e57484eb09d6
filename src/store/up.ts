/** The embedded default: a folder of resources, served on this machine and followed while it changes. */
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createChecker } from '../control/proxy/config/checks.ts';
import type { ConfigRejections } from '../control/proxy/config/checks.ts';
import { NOTHING_ALLOCATED } from '../control/proxy/ports/ports.ts';
import type { Allocation } from '../control/proxy/ports/ports.ts';
import type { ProxySnapshot } from '../control/proxy/snapshot.ts';
import { IsthmusError, messageOf } from '../ops/errors.ts';
import type { Log } from '../ops/log.ts';
import { createMetrics } from '../ops/metrics.ts';
import { loadDocument } from '../proxy/config/load.ts';
import { createProxy } from '../proxy/workers/proxy.ts';
import { EMBEDDED } from '../resources/common/names.ts';
import { locateFaults } from './analyze.ts';
import { startEmbeddedKafka } from './embedded-kafka.ts';
import type { EmbeddedKafka } from './embedded-kafka.ts';
import type { Problem } from './folder.ts';
import { planLocally } from './local-plan.ts';
import type { Listing, LocalPlan } from './local-plan.ts';
import { proxyChecks } from './proxy-checks.ts';
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
  const checker = createChecker(proxyChecks);
  let allocation = readAllocation(state);
  let kafka: EmbeddedKafka | undefined;
  let drainMs = 0;

  /** Plans until the proxy's own checks find nothing more; who asks for an embedded Kafka gets the address of one. */
  async function plan(snapshot: ProxySnapshot): Promise<LocalPlan> {
    let checked: ConfigRejections | undefined;
    for (;;) {
      const next = planLocally(withEmbedded(snapshot, kafka), allocation, Date.now(), checked);
      const isMissing = next.clusters.some(({ target }) => target.bootstrapServers === EMBEDDED);
      if (isMissing) kafka = await startEmbeddedKafka({ directory: join(state, 'kafka'), onProgress });
      const rejected = isMissing ? checked : await checker.config(next.config, checked);
      if (!isMissing && !rejected) return next;
      checked = rejected;
    }
  }

  async function follow(): Promise<void> {
    const resources = readResources(folder);
    const planned = await plan(resources.snapshot);
    // Persisted before anything listens, so that the ports are the same after the next start.
    if (JSON.stringify(planned.allocation) !== JSON.stringify(allocation))
      writeAllocation(state, planned.allocation);
    ({ allocation } = planned);
    const loaded = await loadDocument(JSON.parse(planned.config.text), folder);
    await proxy.apply({ ...loaded, hash: '' });
    drainMs = loaded.config.shutdownTimeoutMs;
    const unbound = (proxy.status()?.virtualClusters ?? []).flatMap(({ name, problems }) =>
      problems.map((message) => ({
        reason: 'NotSupported' as const,
        path: [],
        kind: 'VirtualKafkaCluster' as const,
        name,
        message,
      })),
    );
    onChange({
      listings: planned.listings,
      problems: [...resources.problems, ...locateFaults([...planned.faults, ...unbound], resources)],
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
    await proxy.close(drainMs);
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

function withEmbedded(snapshot: ProxySnapshot, kafka: EmbeddedKafka | undefined): ProxySnapshot {
  if (!kafka) return snapshot;
  const clusterRefs = snapshot.clusterRefs.map((ref) =>
    ref.spec.bootstrap === EMBEDDED ? { ...ref, spec: { ...ref.spec, bootstrap: kafka.bootstrap } } : ref,
  );
  return { ...snapshot, clusterRefs };
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
