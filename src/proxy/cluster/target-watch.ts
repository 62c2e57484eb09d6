import type { Log } from '../../ops/log.ts';
import type { Address, ProxyConfig, TargetConfig } from '../config/model.ts';
import { fetchNodes } from './fetch-nodes.ts';
import { canonical, targetKey } from '../config/canonical.ts';

/** Checks periodically whether each virtual cluster's target can be reached. */
export interface TargetWatch {
  set(config: ProxyConfig): void;
  /** By virtual cluster: undefined is "reachable", a sentence says why not. Those not checked yet are missing. */
  results(): ReadonlyMap<string, string | undefined>;
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
  let closed = false;

  function watch(cluster: string, target: TargetConfig, timeoutMs: number): Watched {
    let timer: NodeJS.Timeout | undefined;
    let ask = true;
    let stopped = false;
    const key = targetKey({ name: cluster, target });
    const check = async (): Promise<void> => {
      const fetched = await fetchNodes(target, ask, timeoutMs);
      if (stopped) return;
      const why = 'unreachable' in fetched ? fetched.unreachable : undefined;
      if ('silent' in fetched) ask = false;
      if ('nodes' in fetched) onNodes(key, fetched.nodes);
      report(cluster, why);
      timer = setTimeout(() => void check(), why === undefined ? HEALTHY_INTERVAL_MS : UNHEALTHY_INTERVAL_MS);
      timer.unref();
    };
    void check();
    const stop = () => {
      stopped = true;
      clearTimeout(timer);
      results.delete(cluster);
    };
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
      }
      for (const [name, target] of wanted)
        if (!watched.has(name)) watched.set(name, watch(name, target, limits.connectTimeoutMs));
    },
    results: () => results,
    close() {
      closed = true;
      for (const { stop } of watched.values()) stop();
    },
  };
}
