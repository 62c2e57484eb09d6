/** All small tests that need one cluster with one node, on the same one. */
import { testDelegation } from './discover/delegation.ts';
import { sharedClusters } from './shared-clusters.ts';
import { testAddons } from './testbed/addons.ts';

const site = sharedClusters(1, { images: ['isthmus'] });

testDelegation(site);
testAddons(site);
