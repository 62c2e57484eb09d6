import type { Log } from '../../ops/log.ts';
import { canonical, targetKey } from '../config/canonical.ts';
import type { Address, ProxyConfig, TargetConfig } from '../config/model.ts';
import { fetchNodes } from './fetch-nodes.ts';
import type { Fetched } from './fetch-nodes.ts';

/** Checks periodically whether each virtual cluster's target can be reached. */
export interface TargetWatch {
  set(config: ProxyConfig): void;
  /** By virtual cluster: undefined is "reachable", a sentence says why not. Those not checked yet are missing. */
  results(): ReadonlyMap<string, string | undefined>;
  /** Ids of all brokers that a virtual cluster's target has now; undefined where it does not say. */
  nodes(cluster: string): number[] | undefined;
  close(): void;
}

const HEALTHY_INTERVAL_MS = 10_000;
const UNHEALTHY_INTERVAL_MS = 2000;

interface Watched {
  target: string;
  stop: () => void;
}

/** Tells what it learns about brokers on the way; a target that wants a login is only connected to. */
export function createTargetWatch(
  log: Log,
  onNodes: (cluster: string, nodes: [number, Address][]) => void,
): TargetWatch {
  const watched = new Map<string, Watched>();
  const results = new Map<string, string | undefined>();
  const nodes = new Map<string, number[]>();
  let closed = false;

  function watch(cluster: string, target: TargetConfig, timeoutMs: number): Watched {
    const key = targetKey({ name: cluster, target });
    const stop = checkPeriodically(target, timeoutMs, (fetched) => {
      if ('nodes' in fetched) {
        onNodes(key, fetched.nodes);
        nodes.set(
          cluster,
          fetched.nodes.map(([node]) => node),
        );
      }
      report(cluster, 'unreachable' in fetched ? fetched.unreachable : undefined);
    });
    return { target: canonical(target), stop };
  }

  function report(cluster: string, why: string | undefined): void {
    if (why !== undefined && results.get(cluster) === undefined)
      log.warn({ virtualCluster: cluster, why }, 'target cluster unreachable');
    else if (why === undefined && results.get(cluster) !== undefined)
      log.info({ virtualCluster: cluster }, 'target cluster reachable again');
    results.set(cluster, why);
  }

  return {
    set({ virtualClusters, limits }) {
      if (closed) return; // a reload that was under way when the proxy was stopped
      const wanted = new Map(virtualClusters.map(({ name, target }) => [name, target]));
      for (const [name, { target, stop }] of watched) {
        const now = wanted.get(name);
        if (now && canonical(now) === target) continue;
        stop();
        watched.delete(name);
        results.delete(name);
        nodes.delete(name);
      }
      for (const [name, target] of wanted)
        if (!watched.has(name)) watched.set(name, watch(name, target, limits.connectTimeoutMs));
    },
    results: () => results,
    nodes: (cluster) => nodes.get(cluster),
    close() {
      closed = true;
      for (const { stop } of watched.values()) stop();
      results.clear();
    },
  };
}

/** Asks a target again and again, more often while it cannot be reached; the result stops it. */
function checkPeriodically(
  target: TargetConfig,
  timeoutMs: number,
  onResult: (fetched: Fetched) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let ask = true;
  let stopped = false;
  const check = async (): Promise<void> => {
    const fetched = await fetchNodes(target, ask, timeoutMs);
    if (stopped) return;
    if ('silent' in fetched) ask = false;
    onResult(fetched);
    const interval = 'unreachable' in fetched ? UNHEALTHY_INTERVAL_MS : HEALTHY_INTERVAL_MS;
    timer = setTimeout(() => void check(), interval);
    timer.unref();
  };
  void check();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
