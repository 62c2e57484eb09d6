import { randomBytes } from 'node:crypto';
import type { Log } from '../ops/log.ts';
import type { Metrics, Snapshot } from '../ops/metrics.ts';
import type { Address, ProxyConfig } from './config/model.ts';
import { createDataPlane } from './data-plane.ts';
import type { Problem } from './data-plane.ts';

/** Those who carry the connections: this process, or several workers that it looks after. */
export interface Crew {
  /** Changes over to a configuration; resolves when all have. */
  apply(config: ProxyConfig): Promise<void>;
  /** What each process has counted, and everything that is wrong. */
  report(): Promise<CrewReport>;
  /** Takes in where nodes of a cluster are. */
  learn(cluster: string, nodes: [number, Address][]): void;
  drain(timeoutMs: number): Promise<void>;
  /** The processes at work. */
  pids(): number[];
}

export interface CrewReport {
  snapshots: Snapshot[];
  problems: Problem[];
}

/** A crew of one, in this process. */
export function createLocalCrew(log: Log, metrics: Metrics): Crew {
  const plane = createDataPlane({ log, metrics, shared: false, ticketKeys: randomBytes(48) });
  return {
    apply: (config) => plane.apply(config),
    report: async () => ({ snapshots: [], problems: plane.problems() }), // its metrics are the caller's
    learn: (cluster, nodes) => plane.learn(cluster, nodes),
    drain: (timeoutMs) => plane.drain(timeoutMs),
    pids: () => [process.pid],
  };
}
