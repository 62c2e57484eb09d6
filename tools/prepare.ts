/** Installs what tests need into the cache, at the lowest priority: `node tools/run.mjs tools/prepare.ts testbed|clusters`. */
import { setPriority } from 'node:os';
import { ensureDnsTools } from '../test/integration/dns/tools.ts';
import { ensureClusters } from '../test/support/clusters/clusters.ts';
import { IMAGES } from '../test/support/images/images.ts';
import type { ImageName } from '../test/support/images/images.ts';
import { ensureCoreDns } from '../test/support/install/coredns.ts';
import { ensureHelm } from '../test/support/install/helm.ts';
import { FORMER_KAFKA_VERSION, KAFKA_VERSION } from '../test/support/install/kafka.ts';
import { ensureKroxylicious } from '../test/support/install/kroxylicious.ts';
import { ensureOpenShiftDnsCrd } from '../test/support/install/openshift-dns.ts';
import { ensureStrimziCrds } from '../test/support/install/strimzi.ts';
import { ensureTestbed } from '../test/support/install/testbed.ts';
import { ensurePodImages } from '../test/support/pods/images.ts';

/** In the order in which a run comes to need them. */
const STAGES: Record<string, readonly (() => Promise<unknown>)[]> = {
  testbed: [
    ensureTestbed,
    ensureDnsTools,
    ensureCoreDns,
    () => ensurePodImages({ kafkaVersions: [KAFKA_VERSION, FORMER_KAFKA_VERSION] }),
    ensureKroxylicious,
    ensureOpenShiftDnsCrd,
    () => ensureStrimziCrds(),
    () => ensureStrimziCrds('1.2.0'),
    ensureHelm,
  ],
  clusters: [() => ensureClusters(['isthmus', 'kafka', ...(Object.keys(IMAGES) as ImageName[])])],
};

setPriority(19);
const stages = [...STAGES['testbed']!, ...(process.argv[2] === 'clusters' ? STAGES['clusters']! : [])];
for (const stage of stages)
  await stage().catch((error: unknown) => {
    process.stderr.write(`isthmus: ${String(error)}\n`);
    process.exitCode = 1; // the others may still be made
  });
