/** One of several replicas works; the others stand by. */
import { hostname } from 'node:os';
import type { Cluster } from '../../kube/cluster.ts';
import { runElection } from '../../kube/controller/lease.ts';
import type { Election } from '../../kube/controller/lease.ts';
import type { Log } from '../../ops/log.ts';

/** Something that is done until the signal is aborted. */
export type Work = (signal: AbortSignal) => Promise<void>;

export interface LeaderOptions {
  /** Where the Lease is. */
  cluster: Cluster;
  namespace: string;
  /** The name of the Lease. */
  name: string;
  /** Who this is among the replicas; the host's name if left out. */
  identity?: string | undefined;
  /** What the leader does, all at once. */
  work: readonly Work[];
  log: Log;
}

/** Takes part in the election, and works while it leads. */
export function workAsLeader({ cluster, work, identity = hostname(), ...options }: LeaderOptions): Election {
  const client = () => cluster.client;
  return runElection({ ...options, client, identity, lead: (signal) => together(work, signal) });
}

/** All of it or nothing: when one part ends, the others end too, and the whole begins anew. */
async function together(work: readonly Work[], signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const ends = await Promise.allSettled(work.map((part) => part(either).finally(() => over.abort())));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}
