/** The examples of filters, as they stand in deploy/examples, in front of a real broker. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { createLog } from '../../../src/ops/log.ts';
import type { Log } from '../../../src/ops/log.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import type { Metrics } from '../../../src/ops/metrics.ts';
import { checkProxyConfig } from '../../../src/proxy/config/load.ts';
import { createLocalPool } from '../../../src/proxy/workers/worker-pool.ts';
import { reservePorts } from '../../../src/store/embedded/ports.ts';

const EXAMPLES = resolve(import.meta.dirname, '../../../deploy/examples/filters');

interface Definition {
  name: string;
  type: string;
  config: Record<string, unknown>;
}

interface Example {
  filterDefinitions: Definition[];
  virtualClusters: Record<string, unknown>[];
}

export interface Running extends AsyncDisposable {
  /** By virtual cluster. */
  bootstrap: Record<string, string>;
  metrics: Metrics;
}

export interface Changes {
  /** Replaces parts of the first filter's config. */
  config?: object;
  /** How its gateways speak TLS; their host is then called localhost. */
  tls?: object;
  log?: Log;
}

/** Runs an example, in this process, with the broker 1 behind all its virtual clusters, and ports that are free. */
export async function startExample(
  name: string,
  upstream: string,
  { config = {}, tls, log = createLog('error') }: Changes = {},
): Promise<Running> {
  const example = parse(readFileSync(resolve(EXAMPLES, `${name}.yaml`), 'utf8')) as Example;
  Object.assign(example.filterDefinitions[0]!.config, config);
  const ports = await reservePorts(2 * example.virtualClusters.length);
  const host = tls ? 'localhost' : '127.0.0.1';
  const bootstrap: Record<string, string> = {};
  for (const [i, cluster] of example.virtualClusters.entries()) {
    const [first = 0, second = 0] = ports.numbers.slice(2 * i);
    bootstrap[cluster['name'] as string] = `${host}:${first}`;
    const portIdentifiesNode = {
      bootstrapAddress: `${host}:${first}`,
      nodeStartPort: second,
      nodeIdRanges: [{ start: 1, end: 1 }],
    };
    Object.assign(cluster, {
      targetCluster: { bootstrapServers: upstream },
      gateways: [{ name: 'local', portIdentifiesNode, ...(tls && { tls }) }],
    });
  }
  const metrics = createMetrics();
  const pool = createLocalPool(log, metrics);
  await pool.apply(checkProxyConfig(example, name).config);
  return {
    bootstrap,
    metrics,
    async [Symbol.asyncDispose]() {
      await pool.drain(1000);
      await ports.release();
    },
  };
}
