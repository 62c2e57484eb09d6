/**
 * Clusters for all suites of a test file: they take most of a minute to start. Each suite undoes what it does to the network and keeps
 * to names of its own, so that one that fails leaves the next a place to work in.
 */
import { after, before } from 'node:test';
import { startClusters } from '../support/clusters/clusters.ts';
import type { Clusters, ClustersOptions } from '../support/clusters/clusters.ts';

/** Starts them before the first test and stops them after the last; returns how tests get at them. */
export function sharedClusters(count: number, options: ClustersOptions): () => Clusters {
  let clusters: Clusters | undefined;
  before(async () => {
    clusters = await startClusters(count, options);
  });
  after(() => clusters?.stopAll());
  return () => {
    if (!clusters) throw new Error('the clusters did not start');
    return clusters;
  };
}
