import type { Log } from '../../ops/log.ts';
import type { Metrics, Snapshot } from '../../ops/metrics.ts';
import type { TapBatch } from '../cluster/tap.ts';
import type { Address, Problem, ProxyConfig } from '../config/model.ts';
import { createDataPlane } from './data-plane.ts';
import { createKnownBrokers } from './known-brokers.ts';
import type { PoolHealth } from './supervision.ts';
import { createTicketKeys, rotateTicketKeys } from './ticket-keys.ts';

/** The processes that carry connections: this one, or several workers that it supervises. */
export interface WorkerPool {
  /** Changes over to a configuration; resolves when all have. */
  apply(config: ProxyConfig): Promise<void>;
  /** What each process has counted, and everything that is wrong. */
  report(): Promise<PoolReport>;
  /** Takes in where brokers of a cluster are. */
  learn(cluster: string, nodes: [number, Address][]): void;
  /** Ids of the brokers of a cluster, as any connection has shown them. */
  nodes(cluster: string): number[];
  /** Whether requests are shown. */
  tap(on: boolean): void;
  drain(timeoutMs: number): Promise<void>;
  /** Whether anybody carries connections. */
  health(): PoolHealth;
  pids(): number[];
}

export interface PoolReport {
  snapshots: Snapshot[];
  problems: Problem[];
}

/** A pool of one, in this process. */
export function createLocalPool(
  log: Log,
  metrics: Metrics,
  onTapped: (batch: TapBatch) => void = () => {},
): WorkerPool {
  const brokers = createKnownBrokers();
  const plane = createDataPlane({
    log,
    metrics,
    shared: false,
    ticketKeys: createTicketKeys(),
    share: (cluster, nodes) => brokers.learn(cluster, nodes),
    forget: (cluster, node, address) => brokers.forget(cluster, node, address),
    onTapped,
  });
  const stopRotating = rotateTicketKeys((keys) => plane.setTicketKeys(keys));
  return {
    apply(config) {
      brokers.retain(config);
      return plane.apply(config);
    },
    report: async () => ({ snapshots: [], problems: plane.problems() }), // its metrics are the caller's
    learn: (cluster, nodes) => plane.learn(cluster, nodes),
    nodes: (cluster) => brokers.nodes(cluster),
    tap: (on) => plane.tap(on),
    drain(timeoutMs) {
      stopRotating();
      return plane.drain(timeoutMs);
    },
    // One that stands still answers nobody who asks.
    health: () => ({ serving: 1, problems: [] }),
    pids: () => [process.pid],
  };
}
