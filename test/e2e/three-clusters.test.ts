/** All tests that need three clusters, on the same three. */
import { testSharedServices } from './discover/clusters.ts';
import { sharedClusters } from './shared-clusters.ts';
import { testThreeClusters } from './testbed/three-clusters.ts';

const site = sharedClusters(3, { names: ['alpha', 'beta', 'gamma'], routed: true, images: ['isthmus'] });

testThreeClusters(site);
testSharedServices(site);
