/** A test that never ends by itself: `leftovers.test.ts` kills it. Prints the name of its run once a pod runs. */
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startClusters } from '../../support/clusters/clusters.ts';

const { list } = await startClusters(1);
process.stdout.write(`${basename(list[0]?.kubeconfig.replace(/\/[^/]*$/, '') ?? '')}\n`);
await delay(600_000);
