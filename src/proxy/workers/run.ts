import { resolve } from 'node:path';
import { messageOf } from '../../ops/errors.ts';
import { createHealth } from '../../ops/health.ts';
import type { Log } from '../../ops/log.ts';
import { serveManagement } from '../../ops/management.ts';
import type { ManagementServer } from '../../ops/management.ts';
import { createMetrics } from '../../ops/metrics.ts';
import { canonical } from '../config/canonical.ts';
import { loadProxyConfig } from '../config/load.ts';
import type { ProxyConfig } from '../config/model.ts';
import { hasOwnFilters } from '../config/own-filters.ts';
import { watchFiles } from '../config/watch-files.ts';
import { createProxy } from './proxy.ts';
import type { GoodConfig, Proxy, ProxyStatus } from './proxy.ts';

/** A proxy that runs from a file. */
export interface RunningProxy {
  /** Where /livez, /readyz, /metrics, /config and /tap are; undefined if the configuration has no management. */
  readonly managementPort: number | undefined;
  status(): ProxyStatus | undefined;
  /** The processes that carry connections. */
  pids(): number[];
  /** Stops listening, lets requests under way finish, and resolves when all is closed. */
  close(): Promise<void>;
}

/** Fixed at the start, as the number of workers is. */
const isSupervised = ({ workers, virtualClusters }: ProxyConfig) =>
  workers > 1 || virtualClusters.some(hasOwnFilters);

type Good = GoodConfig & { warnings: string[] };

/** Runs the proxy from a configuration file, and follows its changes. Throws if the file is not good at the start. */
export async function runProxy(configFile: string, { log }: { log: Log }): Promise<RunningProxy> {
  const running = Promise.withResolvers<(() => Promise<void>) | undefined>();
  let working: Promise<unknown> = running.promise;
  // From before the first reading on, so that no change is missed.
  let closed = false;
  const again = () => {
    working = working.then(async () => {
      if (!closed) await (await running.promise)?.();
    });
  };
  const watch = watchFiles([resolve(configFile)], again);
  const load = async () => {
    const good = await loadProxyConfig(configFile, watch);
    if (good.leftUntried) again(); // when this has been applied
    return good;
  };
  try {
    const good = await load();
    const metrics = createMetrics();
    const { workers } = good.config;
    const proxy = createProxy({ log, metrics, workers, supervised: isSupervised(good.config) });
    const management = await manage(good.config, proxy);
    report(undefined, good, log);
    await proxy.apply(good);
    const reloads = metrics.counter(
      'isthmus_proxy_reloads_total',
      'Changes of the configuration, by their outcome',
    );
    const follower = followConfig(load, proxy, good.config, log);
    running.resolve(async () => {
      reloads.of({ outcome: await follower.follow() }).value += 1;
    });
    log.info(
      { workers: good.config.workers, managementPort: management?.port, hash: good.hash },
      'proxy started',
    );
    return {
      managementPort: management?.port,
      status: () => proxy.status(),
      pids: () => proxy.pids(),
      async close() {
        closed = true;
        watch.close();
        await proxy.close(follower.config().shutdownTimeoutMs);
        await management?.close();
      },
    };
  } catch (error) {
    watch.close();
    running.resolve(undefined);
    throw error;
  }
}

async function manage({ management }: ProxyConfig, proxy: Proxy): Promise<ManagementServer | undefined> {
  const health = createHealth();
  health.live('workers', () => proxy.notLive());
  health.ready('proxy', () => proxy.notReady());
  return (
    management &&
    serveManagement({
      ...management,
      health,
      metrics: () => proxy.metricsText(),
      config: () => proxy.status() ?? {},
      tap: (send) => proxy.tap((batch) => send(JSON.stringify(batch))),
    })
  );
}

interface Follower {
  /** What was applied last. */
  config(): ProxyConfig;
  follow(): Promise<'applied' | 'unchanged' | 'partial' | 'refused'>;
}

/** Loads the configuration again and applies it; one that means nothing as a whole changes nothing. */
function followConfig(load: () => Promise<Good>, proxy: Proxy, first: ProxyConfig, log: Log): Follower {
  let config = first;
  const follow: Follower['follow'] = async () => {
    try {
      const good = await load();
      report(config, good, log);
      const same = canonical(config) === canonical(good.config);
      await proxy.apply(good);
      config = good.config;
      if (good.rejected.length > 0) return 'partial';
      return same ? 'unchanged' : 'applied';
    } catch (error) {
      proxy.refuse(messageOf(error));
      log.error({ why: messageOf(error) }, 'new configuration rejected, keeping the old one');
      return 'refused';
    }
  };
  return { config: () => config, follow };
}

/** Says what of a configuration cannot be used, or has no effect, or not yet. */
function report(before: ProxyConfig | undefined, { config, rejected, warnings }: Good, log: Log): void {
  for (const { cluster, problem } of rejected)
    log.error({ virtualCluster: cluster, why: problem }, 'virtual cluster cannot be loaded');
  for (const warning of warnings) log.warn({ warning }, 'configuration setting has no effect');
  for (const key of ['workers', 'management'] as const)
    if (before && canonical(before[key] ?? null) !== canonical(config[key] ?? null))
      log.warn({ key }, 'configuration change takes effect after a restart');
  if (before && !isSupervised(before) && config.virtualClusters.some(hasOwnFilters))
    log.warn('a filter of your own that does not end is noticed only after a restart of the proxy');
}
