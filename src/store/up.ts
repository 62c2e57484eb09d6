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
import type { Proxy } from '../proxy/workers/proxy.ts';
import { EMBEDDED } from '../resources/common/names.ts';
import { locateFaults } from './analyze.ts';
import { isFree } from './embedded/ports.ts';
import { startEmbeddedKafka } from './embedded-kafka.ts';
import type { EmbeddedKafka } from './embedded-kafka.ts';
import type { Problem } from './folder.ts';
import { heldIn } from './held.ts';
import type { Held } from './held.ts';
import { createLocalNames, localNames } from './local-names.ts';
import type { LocalNames } from './local-names.ts';
import { planLocally } from './local-plan.ts';
import type { Listing, LocalPlan } from './local-plan.ts';
import { proxyChecks } from './proxy-checks.ts';
import { readResources } from './resources.ts';
import type { FolderResources } from './resources.ts';
import { watchFolder } from './watch-folder.ts';

export interface UpOptions {
  folder: string;
  log: Log;
  /** The Kafka to use where resources ask for an embedded one, as HOST:PORT; one is started if left out. */
  kafka?: string | undefined;
  /** Where the ports of clusterIP ingresses begin, whatever the resources say. */
  port?: number | undefined;
  /** Where names are answered for, if there are any. */
  dnsPort?: number | undefined;
  /** Told after each reading of the folder what is served now and what is wrong. */
  onChange: (state: UpState) => void;
  /** Told what takes long. */
  onProgress: (line: string) => void;
}

export interface UpState {
  listings: Listing[];
  problems: Problem[];
  /** What goes on as it was last good, because of these problems. */
  held: Held[];
  /** The Kafka that was started or named, if any resource asked for one; one that was named has no tools here. */
  kafka: { bootstrap: string; libs?: string } | undefined;
}

/** What was read of the folder last, and what it was found to mean. */
export interface Served {
  resources: FolderResources;
  plan: LocalPlan;
  held: readonly Held[];
  /** Undefined while the folder can be read. */
  unreadable?: string | undefined;
}

export interface Up {
  served(): Served;
  readonly proxy: Pick<Proxy, 'status' | 'snapshots' | 'certificates' | 'tap'>;
  readonly names: Pick<LocalNames, 'endpoint' | 'zones' | 'sources' | 'explain'>;
  stop(): Promise<void>;
}

/** Beside the ports of the examples, which begin at 9082. */
export const DNS_PORT = 9053;

/**
 * Serves a folder until it is stopped. Mistakes in files are reported; the rest is served all the same, and what was served before goes
 * on as it was.
 */
export async function startUp(options: UpOptions): Promise<Up> {
  const { folder, log, onChange, onProgress } = options;
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new IsthmusError('USAGE', `there is no folder ${folder}`);
  const state = join(folder, '.isthmus');
  const proxy = createProxy({ log, metrics: createMetrics(), workers: 1 });
  const checker = createChecker(proxyChecks);
  const names = createLocalNames(options.dnsPort ?? DNS_PORT, { log, metrics: createMetrics });
  let served: Served | undefined;
  const portsFile = options.port === undefined ? ALLOCATION_FILE : `ports-${options.port}.json`;
  let allocation = readAllocation(state, portsFile);
  let kafka: EmbeddedKafka | undefined = options.kafka === undefined ? undefined : namedKafka(options.kafka);
  let drainMs = 0;
  let hasListened = false;

  /** Plans until the proxy's own checks find nothing more; who asks for an embedded Kafka gets the address of one. */
  async function plan(snapshot: ProxySnapshot): Promise<LocalPlan> {
    const parts = served?.plan.config.parts;
    let checked: ConfigRejections | undefined;
    for (;;) {
      const next = planLocally(withEmbedded(snapshot, kafka), Date.now(), { allocation, parts, checked });
      const isMissing = next.clusters.some(({ target }) => target.bootstrapServers === EMBEDDED);
      if (isMissing) kafka = await startEmbeddedKafka({ directory: join(state, 'kafka'), onProgress });
      const rejected = isMissing ? checked : await checker.config(next.config, checked);
      if (!isMissing && !rejected) return next;
      checked = rejected;
    }
  }

  async function follow(): Promise<void> {
    const resources = readResources(folder, served?.resources);
    const snapshot = withPort(resources.snapshot, options.port);
    // Before anything is started that takes long: later on, the proxy says by itself what it cannot listen on.
    if (!hasListened) await refuseTakenPorts(planLocally(snapshot, Date.now(), { allocation }).allocation);
    hasListened = true;
    const planned = await plan(snapshot);
    // Persisted before anything listens, so that the ports are the same after the next start.
    if (JSON.stringify(planned.allocation) !== JSON.stringify(allocation))
      writeAllocation(state, planned.allocation, portsFile);
    ({ allocation } = planned);
    const loaded = await loadDocument(JSON.parse(planned.config.text), folder);
    await proxy.apply({ ...loaded, hash: '' });
    drainMs = loaded.config.shutdownTimeoutMs;
    await names.set(namesIn(resources, planned));
    const held = heldIn(resources, planned.evaluated, served?.held ?? [], Date.now());
    served = { resources, plan: planned, held };
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
      held,
      kafka,
    });
  }

  let following = follow();
  const watch = watchFolder(folder, () => {
    following = following.then(follow).catch((error: unknown) => {
      if (served) served = { ...served, unreadable: messageOf(error) };
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
    await names.close();
    await kafka?.stop();
  }
  try {
    await following;
  } catch (error) {
    await stop();
    throw error;
  }
  return { served: () => served!, proxy, names, stop };
}

function namesIn({ written }: FolderResources, { clusters, evaluated }: LocalPlan) {
  const namespaces = new Map(
    evaluated.map(({ cluster: { metadata } }) => [metadata.name, metadata.namespace]),
  );
  const placed = clusters.map((one) => ({ ...one, namespace: namespaces.get(one.name) ?? '' }));
  const endpoints = written.flatMap(({ object }) => (object.kind === 'DNSEndpoint' ? [object] : []));
  return localNames(placed, endpoints);
}

function withEmbedded(snapshot: ProxySnapshot, kafka: EmbeddedKafka | undefined): ProxySnapshot {
  if (!kafka) return snapshot;
  const clusterRefs = snapshot.clusterRefs.map((ref) =>
    ref.spec.bootstrap === EMBEDDED ? { ...ref, spec: { ...ref.spec, bootstrap: kafka.bootstrap } } : ref,
  );
  return { ...snapshot, clusterRefs };
}

/** A Kafka that somebody else runs. */
const namedKafka = (bootstrap: string): EmbeddedKafka => ({ bootstrap, stop: async () => {} });

function withPort(snapshot: ProxySnapshot, port: number | undefined): ProxySnapshot {
  if (port === undefined) return snapshot;
  const ingresses = snapshot.ingresses.map((ingress) => {
    const { clusterIP } = ingress.spec;
    return clusterIP ? { ...ingress, spec: { ...ingress.spec, clusterIP: { ...clusterIP, port } } } : ingress;
  });
  return { ...snapshot, ingresses };
}

/** Ports that were given out and that another program has. */
async function refuseTakenPorts({ held }: Allocation): Promise<void> {
  const wanted = Object.values(held).flatMap(({ start, nodes }) => [
    start,
    ...nodes.flatMap((range) =>
      Array.from({ length: range.end - range.start + 1 }, (_, index) => start + 1 + range.offset + index),
    ),
  ]);
  const taken: number[] = [];
  for (const port of wanted.slice(0, MAX_PROBED)) if (!(await isFree(port))) taken.push(port);
  if (taken.length === 0) return;
  const [which, them] = taken.length === 1 ? ['port', 'it'] : ['ports', 'them'];
  const message = `another program has ${which} ${taken.join(', ')} of 127.0.0.1; stop ${them}, or choose where ports begin with --port`;
  throw new IsthmusError('LISTEN_FAILED', message);
}

/** A folder with more is no first try, and is not kept waiting. */
const MAX_PROBED = 256;

const ALLOCATION_FILE = 'ports.json';

/** Which ports belong to whom, as it was written down the last time. */
export function readAllocation(state: string, name = ALLOCATION_FILE): Allocation {
  const file = join(state, name);
  if (!existsSync(file)) return NOTHING_ALLOCATED;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Allocation;
  } catch (cause) {
    const advice = 'remove it, and ports are given out anew';
    throw new IsthmusError('CONFIG_UNREADABLE', `${file} (${messageOf(cause)}; ${advice})`, { cause });
  }
}

/** Whole or not at all: half a file would keep the next start from happening. */
export function writeAllocation(state: string, allocation: Allocation, name = ALLOCATION_FILE): void {
  const file = join(state, name);
  try {
    mkdirSync(state, { recursive: true });
    writeFileSync(`${file}.new`, `${JSON.stringify(allocation, null, 2)}\n`);
    renameSync(`${file}.new`, file);
  } catch (cause) {
    throw new IsthmusError('CONFIG_UNREADABLE', `${file} cannot be written (${messageOf(cause)})`, { cause });
  }
}
